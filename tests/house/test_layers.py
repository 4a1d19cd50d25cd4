"""The design, held to: import direction, no rings, short functions, no code in data, one list of each name."""

from __future__ import annotations

import ast
import graphlib
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import recsys
from recsys import registry

PACKAGE = Path(recsys.__file__).parent
ROOMS = ("sources", "encoders", "search", "exporters")
LAYERS = [
    {"errors", "arxiv_id", "taxonomy", "text", "paper", "cards", "files", "registry", "sample"},
    {"store", "vectors", "gathering"},
    set(ROOMS),
    {"neighbors", "recall", "allpairs", "works", "nearest", "related"},
    {"config", "pipeline", "info", "library", "batch"},
    {"doctor"},
    {"cli", "", "__main__"},
]
FORBIDDEN = {"pickle", "joblib", "dill", "marshal", "shelve", "requests", "urllib.request", "http.client"}
LAZY = {
    "torch",
    "faiss",
    "pandas",
    "numpy",
    "transformers",
    "sentence_transformers",
    "pyarrow",
    "openvino",
    "threadpoolctl",
    "scipy",
    "safetensors",
    "tokenizers",
    "rich",
    "pylatexenc",
    "psutil",
    "rapidfuzz",
    "filelock",
}
MODULES = {
    path.relative_to(PACKAGE.parent).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
TREES = {name: ast.parse(path.read_text()) for name, path in MODULES.items()}


def part(module: str) -> str:
    """`recsys.store.schema` -> `store`; `recsys` -> ``."""
    return module.removeprefix("recsys").lstrip(".").partition(".")[0]


def layer(module: str) -> int:
    (found,) = [place for place, names in enumerate(LAYERS) if part(module) in names]
    return found


def imports(module: str) -> Iterator[str]:
    """Modules that it imports, inside functions too, but not for type checking only."""
    for node in ast.walk(TREES[module]):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative import"
            assert node.module is not None
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def own(module: str) -> set[str]:
    """The recsys modules among its imports."""
    found = set()
    for name in imports(module):
        while name.startswith("recsys") and name not in MODULES:
            name = name.rpartition(".")[0]
        if name.startswith("recsys") and name != module:
            found.add(name)
    return found


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_down(module: str) -> None:
    for imported in own(module) - {"recsys"}:
        assert layer(imported) <= layer(module), f"{module} imports {imported}"
        if part(module) in ROOMS and part(imported) in ROOMS:
            assert part(module) == part(imported), f"{module} knows another room: {imported}"


def test_no_rings() -> None:
    order = graphlib.TopologicalSorter({module: own(module) - {"recsys"} for module in MODULES if module != "recsys"})
    order.prepare()


@pytest.mark.parametrize("module", MODULES)
def test_nothing_unsafe_is_imported(module: str) -> None:
    for name in imports(module):
        assert not any(name == bad or name.startswith(f"{bad}.") for bad in FORBIDDEN), name


@pytest.mark.parametrize("module", MODULES)
def test_heavy_libraries_are_imported_where_they_are_used(module: str) -> None:
    for node in TREES[module].body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            heavy = {name.partition(".")[0] for name in names} & LAZY
            assert not heavy or module in _run_only_with_them(), f"{module} imports {heavy} when it is loaded"


def _run_only_with_them() -> set[str]:
    """Modules that the registry loads by name, and what only they use: loading them is asking for the library."""
    loaded = {target.partition(":")[0] for room in (registry.ENCODERS, registry.SEARCH) for target in room.values()}
    return loaded | {"recsys.neighbors", "recsys.search.checks", "recsys.search.faiss_index", "recsys.vectors"}


@pytest.mark.parametrize("module", MODULES)
def test_functions_are_short(module: str) -> None:
    for node in ast.walk(TREES[module]):
        if isinstance(node, ast.FunctionDef):
            docstring = ast.get_docstring(node, clean=False) or ""
            assert node.end_lineno is not None
            assert node.end_lineno - node.lineno - docstring.count("\n") < 50, f"{module}.{node.name}"


@pytest.mark.parametrize("room", ["SOURCES", "ENCODERS", "SEARCH", "EXPORTERS"])
def test_registered_names_load(room: str) -> None:
    names = getattr(registry, room)
    for name in names:
        assert isinstance(registry.load(names, name), type)
    with pytest.raises(KeyError, match="no 'absent'; there is:"):
        registry.load(names, "absent")


def test_public_names_exist_and_are_declared_once() -> None:
    assert sorted(recsys.__all__) == sorted({*recsys._WHERE, "__version__"})
    assert recsys.open is recsys.Library
    assert recsys.__version__[0].isdigit()
    for name in recsys.__all__:
        assert getattr(recsys, name)
    with pytest.raises(AttributeError, match="absent"):
        recsys.absent  # noqa: B018


def test_what_is_imported_is_declared() -> None:
    """Every third-party library that the package imports is a dependency or an extra of the project."""
    project = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text())["project"]
    lines = project["dependencies"] + [line for extra in project["optional-dependencies"].values() for line in extra]
    declared = {re.split(r"[<>=\[ ]", line)[0].lower().replace("-", "_") for line in lines} | {"faiss"}
    outside = {name.partition(".")[0] for module in MODULES for name in imports(module)}
    outside -= {"recsys", "_typeshed", *sys.stdlib_module_names}
    assert outside <= declared, outside - declared
