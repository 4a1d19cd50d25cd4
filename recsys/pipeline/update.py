"""Update: embed what is new, then rebuild the lists. The nightly "rebuild after ingest".

Embedding runs in a child process: torch and faiss each bring an OpenMP runtime, and on macOS the two in one
process can abort it; and a process that only makes lists starts without the seconds that torch takes to import.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Unpack

from recsys import errors
from recsys.encoders.base import EncoderOptions, Fingerprint
from recsys.pipeline.embed import EmbedReport, embed
from recsys.pipeline.index import IndexReport, K, index
from recsys.pipeline.progress import Progress, Silent


@dataclass(frozen=True, slots=True)
class UpdateReport:
    """What an update did: `embedded`, then `indexed`."""

    embedded: EmbedReport
    indexed: IndexReport

    def __str__(self) -> str:
        return f"{self.embedded}\n{self.indexed}"


def update(
    index_folder: str | Path,
    *,
    replace_vectors: bool = False,
    kind: str = "auto",
    k: int = K,
    rebuild: bool = False,
    wait: bool = False,
    progress: Progress | None = None,
    **options: Unpack[EncoderOptions],
) -> UpdateReport:
    """Embed new and changed texts in a child process, then bring every list up to date and publish.

    Between the two another writer may have its turn; the second part waits for it. Errors, and arguments but
    `rebuild` (compute every list from scratch), are those of `embed` and `index`.
    """
    progress = progress or Silent()
    asked = {"index": str(index_folder), "replace_vectors": replace_vectors, "wait": wait, **options}
    embedded = _embed_in_child(asked, progress)
    device = options.get("device", "auto")
    indexed = index(index_folder, kind=kind, k=k, incremental=not rebuild, device=device, wait=True, progress=progress)
    return UpdateReport(embedded, indexed)


def _embed_in_child(options: dict[str, Any], progress: Progress) -> EmbedReport:
    """Run `embed(**options)` in a fresh interpreter, passing its progress on."""
    command = [sys.executable, "-m", "recsys.pipeline.update"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        try:
            return _follow(child, options, progress)
        except BaseException:
            child.terminate()
            raise


def _follow(child: subprocess.Popen[str], options: dict[str, Any], progress: Progress) -> EmbedReport:
    assert child.stdin is not None
    assert child.stdout is not None
    with child.stdin:
        child.stdin.write(json.dumps(options))
    for line in child.stdout:
        message = json.loads(line)
        if "report" in message:
            return _report(message["report"])
        _pass_on(message, progress)
    raise errors.RecsysError("the embedding process ended without a word", "recsys embed")


def _pass_on(message: dict[str, Any], progress: Progress) -> None:
    if "error" in message:
        raise errors.from_dict(message["error"])
    if "start" in message:
        progress.start(*message["start"])
    else:
        progress.advance(message["advance"])


def _report(fields: dict[str, Any]) -> EmbedReport:
    fingerprint = Fingerprint(**fields.pop("fingerprint"))
    bad, tried = tuple(fields["quarantined"]), tuple(fields["tried"])
    return EmbedReport(fields["encoded"], fields["reused"], bad, fingerprint, tried)


class _ToParent:
    """Progress as JSON lines."""

    def start(self, what: str, total: int | None) -> None:
        """Tell the parent that a stage begins."""
        _say({"start": [what, total]})

    def advance(self, steps: int) -> None:
        """Tell the parent of steps done."""
        _say({"advance": steps})


def _say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def _child() -> None:
    """The child: options as JSON on stdin; progress, then a report or an error, as JSON lines on stdout."""
    logging.basicConfig(format="recsys: %(message)s")
    request = sys.stdin.read()
    try:
        if request:  # nothing comes from a parent that was killed before it could ask
            _answer(json.loads(request))
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # the parent is gone: what was embedded stays, the next run goes on from there
        os._exit(1)


def _answer(options: dict[str, Any]) -> None:
    try:
        report = embed(options.pop("index"), **options, progress=_ToParent())
        _say({"report": asdict(report)})
    except errors.RecsysError as error:
        _say({"error": error.to_dict()})
    except OSError as error:
        _say({"error": errors.refused(error).to_dict()})


if __name__ == "__main__":
    _child()
