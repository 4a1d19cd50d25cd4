"""The docs say what the code does."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from recsys.cli import app
from tests.conftest import ROOT


def commands(group: object, prefix: str = "") -> list[str]:
    found = []
    for name, command in group.commands.items():  # type: ignore[attr-defined]
        found.append(prefix + name)
        if hasattr(command, "commands"):
            found += commands(command, f"{prefix}{name} ")
    return found


def test_the_page_is_the_real_help() -> None:
    script = ROOT / "scripts" / "write_cli_docs.py"
    done = subprocess.run([sys.executable, str(script), "--check"], check=False)
    assert done.returncode == 0, "run: python scripts/write_cli_docs.py"


@pytest.mark.parametrize("command", commands(get_command(app)))
def test_every_command_is_documented(command: str) -> None:
    assert f"## `recsys {command}`" in (ROOT / "docs" / "cli.md").read_text()


DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("*/README.md")])


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", document.read_text()):
        assert (document.parent / target).exists(), f"{document.name}: {target}"
