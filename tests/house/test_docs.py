"""The docs say what the code does."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from recsys.cli import app
from recsys.sample import EXAMPLE, papers_file
from tests.conftest import ROOT
from tests.flow.commands import spawn


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


PYTHON = [
    (document, block)
    for document in (ROOT / "README.md", ROOT / "docs" / "python-api.md")
    for block in re.findall(r"```python\n(.*?)```", document.read_text(), re.DOTALL)
]


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which what the docs show can be done: the demo's index, and a file of papers."""
    folder = tmp_path_factory.mktemp("docs")
    (folder / "papers.jsonl.gz").write_bytes(gzip.compress(papers_file().read_bytes()))
    assert spawn("demo", "--index", folder / "indexes" / "demo").returncode == 0
    return folder


@pytest.mark.parametrize(("document", "block"), PYTHON, ids=[document.name for document, _ in PYTHON])
def test_python_in_the_docs_runs(document: Path, block: str, workplace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workplace)
    exec(compile(block.replace("2306.00802", EXAMPLE), document.name, "exec"), {})


def shell_lines(text: str) -> set[str]:
    """The `recsys ...` commands that a page shows, in blocks and in running text."""
    shown = [*re.findall(r"```sh\n(.*?)```", text, re.DOTALL), *re.findall(r"`(recsys [^`\n]+)`", text)]
    lines = (line for block in shown for line in block.splitlines())
    commands = (command.strip() for line in lines for command in line.partition("#")[0].split("&&"))
    return {command for command in commands if command.startswith("recsys ")}


SHELL = sorted(set[str]().union(*(shell_lines(document.read_text()) for document in DOCUMENTS)))


@pytest.mark.parametrize("line", SHELL)
def test_commands_in_the_docs_exist_with_their_options(line: str) -> None:
    words = [word for word in line.split("<")[0].split() if word != "..."][1:]
    command = get_command(app)
    while words and hasattr(command, "commands") and words[0] in command.commands:
        command = command.commands[words.pop(0)]
    assert not hasattr(command, "commands") or not words or words[0].startswith("-"), line
    known = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    for word in words:
        if word.startswith("-") and word != "-":
            assert word in known | {"--help", "-h"}, f"{line}: {word}"
