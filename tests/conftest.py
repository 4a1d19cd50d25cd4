from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("RECSYS_SHARED", ROOT.parent / "shared"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real arXiv data that lies beside the repository on developers' machines and in CI."""
    data = SHARED / "data"
    if not data.is_dir():
        pytest.skip(f"REAL DATA ABSENT: no {data}; set RECSYS_SHARED to run this test", allow_module_level=False)
    return data
