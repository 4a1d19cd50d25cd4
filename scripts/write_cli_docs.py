"""Write docs/cli.md from the real `--help` of every command. `--check` only says whether it is up to date."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

COMMANDS = (
    "",
    "ingest",
    "embed",
    "index",
    "update",
    "remove",
    "related",
    "search",
    "info",
    "doctor",
    "export",
    "export related",
    "demo",
)
TARGET = Path(__file__).parent.parent / "docs" / "cli.md"
INTRODUCTION = """# Command line

Made from the real `--help` by `python scripts/write_cli_docs.py`; a test fails where this page is out of date.

Results go to stdout, everything else to stderr. `--json` gives JSON on stdout and errors as
`{"error": {"code", "message", "hint"}}` on stderr. Ids are taken in every form that people paste. Exit codes:

| code | means |
|---|---|
| 0 | done |
| 1 | error |
| 2 | the command was called wrongly |
| 3 | the paper has no list here: not an id, not yet issued, never ingested, withdrawn, or without abstract |
| 4 | the index is missing, stale, damaged, or of another encoder |
| 5 | network |
| 130 | Ctrl-C |
"""


def page() -> str:
    """The whole document."""
    return "\n".join([INTRODUCTION, *map(_section, COMMANDS)])


def _section(command: str) -> str:
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    call = [sys.executable, "-m", "recsys", *command.split(), "--help"]
    shown = subprocess.run(call, capture_output=True, text=True, check=True, env=environment).stdout
    trimmed = "\n".join(line.rstrip() for line in shown.strip().splitlines())
    return f"## `{f'recsys {command}'.strip()}`\n\n```\n{trimmed}\n```\n"


def main() -> int:
    """Write the page, or check it."""
    if "--check" in sys.argv[1:]:
        return 0 if TARGET.read_text() == page() else 1
    TARGET.write_text(page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
