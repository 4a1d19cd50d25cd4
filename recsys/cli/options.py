"""Options that several commands share: one name, one help text, one meaning."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from recsys import registry
from recsys.config import INDEX_VARIABLE

_JSON = "recsys.json"


def _remember_json(ctx: typer.Context, wanted: bool) -> bool:
    ctx.meta[_JSON] = wanted
    return wanted


def wants_json(ctx: Any) -> bool:  # noqa: ANN401 - Typer's context
    """Whether the command that ran was given `--json`, so that its errors are JSON too."""
    return bool(ctx.meta.get(_JSON, False))


Ids = Annotated[list[str], typer.Argument(metavar="ID...", help="arXiv ids, links or DOIs; `-` reads them from stdin.")]
Index = Annotated[Path, typer.Option("--index", envvar=INDEX_VARIABLE, help="Index folder.", metavar="DIR")]
Json = Annotated[
    bool,
    typer.Option("--json", callback=_remember_json, help="Write JSON on stdout, and errors as JSON on stderr."),
]
Count = Annotated[int, typer.Option("-k", "--top-k", min=1, max=1000, help="Papers in a list.")]
Wait = Annotated[bool, typer.Option("--wait", help="Wait for another writer to end, instead of refusing.")]
NoFold = Annotated[bool, typer.Option("--no-fold", help="Show duplicates and superseded copies on their own.")]
Format = Annotated[
    str | None,
    typer.Option("--format", help=f"One of: {', '.join(registry.EXPORTERS)}. [default: text, or by -o's suffix]"),
]
Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="FILE", help="Write there, replacing it at once; `-` is stdout."),
]
Plain = Annotated[bool, typer.Option("--plain", help="Text: snippets alone.")]
Encoder = Annotated[
    str,
    typer.Option(
        "--encoder",
        help=f"{', '.join(name for name in registry.ENCODERS if name != 'sentence-transformers')}; or a folder or"
        " hub id of a sentence-transformers model. [default: the index's own, at first minilm]",
    ),
]
Device = Annotated[str, typer.Option("--device", help="auto, cpu, cuda, cuda:N or mps.")]
Backend = Annotated[str, typer.Option("--backend", help=f"auto, {', '.join(registry.BACKENDS)}; computes the model.")]
Precision = Annotated[
    str,
    typer.Option(
        "--precision",
        help="fp32, bf16, fp16, int8; auto: the fastest that gives the same neighbours on your own texts.",
    ),
]
BatchTokens = Annotated[
    int, typer.Option("--batch-tokens", min=0, help="Tokens of a forward pass; 0: what is fastest on the device.")
]
MaxLength = Annotated[
    int, typer.Option("--max-length", min=0, help="Tokens kept of each text; 0: the index's or encoder's own.")
]
AllowDownload = Annotated[bool, typer.Option("--allow-download", help="Let a hub id be fetched.")]
ReplaceVectors = Annotated[
    bool, typer.Option("--replace-vectors", help="Drop another encoder's vectors and lists, encode all again.")
]
Kind = Annotated[
    str, typer.Option("--search", help=f"auto, {', '.join(registry.KINDS)}; auto is exact up to 300,000 papers.")
]
Kept = Annotated[int, typer.Option("--keep", min=1, max=1000, help="Neighbours kept of each paper.")]
