"""The promise: reading a stored list imports nothing heavy."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from recsys.sample import EXAMPLE

HEAVY = ("torch", "transformers", "sentence_transformers", "pandas", "faiss", "numpy", "rich", "pydantic", "filelock")
SCRIPT = f"""
import json, sys
sys.argv = ["recsys", *json.loads(sys.argv[1])]
from recsys.cli import main
try:
    main()
except SystemExit as end:
    code = end.code
loaded = [name for name in {HEAVY} if name in sys.modules]
print(json.dumps([code or 0, loaded]), file=sys.stderr)
"""


@pytest.mark.parametrize(
    "arguments",
    ["related ID", "related ID --json", "info", "search ID", "--help", "related --help"],
)
def test_reading_loads_nothing_heavy(sample_index: Path, arguments: str) -> None:
    words = arguments.replace("ID", EXAMPLE).split()
    index = [] if "--help" in words else ["--index", str(sample_index)]
    child = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps([*words, *index])], capture_output=True, text=True, check=True
    )
    code, loaded = json.loads(child.stderr.splitlines()[-1])
    assert code == 0
    assert child.stdout
    assert set(loaded) <= {"pydantic"}, "typer itself may load pydantic; nothing else"


def test_import_recsys_loads_nothing_heavy() -> None:
    script = f"import recsys, sys; print([name for name in {HEAVY} if name in sys.modules])"
    child = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert child.stdout == "[]\n"
