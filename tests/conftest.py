from __future__ import annotations

import os
import shutil
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


OFFLINE = ROOT / "tests" / "offline"
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(OFFLINE), os.environ.get("PYTHONPATH", ""))))
os.environ.pop("RECSYS_INDEX", None)


@pytest.fixture(scope="session")
def sample_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample corpus, embedded by the hashing encoder and indexed. Tests only read it."""
    import recsys
    from recsys.sample import papers_file

    folder = tmp_path_factory.mktemp("sample") / "index"
    recsys.ingest([papers_file()], folder)
    recsys.embed(folder, encoder="hashing")
    recsys.index(folder)
    return folder


@pytest.fixture
def fresh_index(sample_index: Path, tmp_path: Path) -> Path:
    """A copy of `sample_index` that a test may change."""
    return Path(shutil.copytree(sample_index, tmp_path / "index"))
