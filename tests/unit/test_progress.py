from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from recsys.sample import papers_file

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")


def on_a_terminal(arguments: list[str], **environment: str) -> tuple[str, str]:
    """(stdout of a pipe, what a terminal on stderr saw) of a command."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "recsys", *arguments],
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
        env={**os.environ, "COLUMNS": "100", **environment},
    ) as child:
        os.close(theirs)
        seen = b""
        try:
            while chunk := os.read(ours, 4096):
                seen += chunk
        except OSError:
            pass
        assert child.stdout is not None
        stdout = child.stdout.read()
    os.close(ours)
    assert child.returncode == 0
    return stdout, seen.decode()


def test_a_bar_is_drawn_on_a_terminal_and_only_there(tmp_path: Path) -> None:
    index = str(tmp_path / "index")
    stdout, seen = on_a_terminal(["ingest", str(papers_file()), "--index", index], TERM="xterm")
    assert stdout.startswith("read 292 = stored 292")
    assert "ingesting" in seen
    stdout, seen = on_a_terminal(["embed", "--encoder", "hashing", "--index", index], TERM="xterm")
    assert "encoding" in seen
    assert "encoded 288" in stdout
    stdout, seen = on_a_terminal(["index", "--index", index], TERM="dumb")
    assert (stdout.startswith("lists of 288"), seen) == (True, "")


def test_colour_on_a_terminal_unless_refused(sample_index: Path) -> None:
    from recsys.sample import EXAMPLE

    command = [sys.executable, "-m", "recsys", "related", EXAMPLE, "--index", str(sample_index)]
    for refused in ("", "1"):
        ours, theirs = pty.openpty()
        environment = {**os.environ, "TERM": "xterm", "NO_COLOR": refused}
        child = subprocess.Popen(command, stdout=theirs, env=environment)
        os.close(theirs)
        seen = b""
        try:
            while chunk := os.read(ours, 4096):
                seen += chunk
        except OSError:
            pass
        child.wait()
        os.close(ours)
        assert (b"\x1b[2m" in seen) == (not refused)
