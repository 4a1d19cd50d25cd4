"""recsys: a local, embedding-based related-papers recommender for arXiv.

    import recsys

    recsys.ingest(["papers.jsonl.gz"], "indexes/mine")
    recsys.update("indexes/mine")
    with recsys.open("indexes/mine") as library:
        print(library.related("2306.00802"))

Every name below is imported when it is first used, so that `import recsys` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recsys.batch import ExportReport as ExportReport
    from recsys.batch import export as export
    from recsys.build.embed import EmbedReport as EmbedReport
    from recsys.build.embed import embed as embed
    from recsys.build.index import IndexReport as IndexReport
    from recsys.build.index import index as index
    from recsys.build.ingest import IngestReport as IngestReport
    from recsys.build.ingest import ingest as ingest
    from recsys.build.update import UpdateReport as UpdateReport
    from recsys.build.update import update as update
    from recsys.cards import Card as Card
    from recsys.cards import RelatedList as RelatedList
    from recsys.cards import SearchResults as SearchResults
    from recsys.errors import RecsysError as RecsysError
    from recsys.library import IndexInfo as IndexInfo
    from recsys.library import Library as Library
    from recsys.library import Library as open  # noqa: F401 - `recsys.open` reads like `gzip.open`
    from recsys.paper import Paper as Paper

    __version__: str

_WHERE = {
    "Card": "recsys.cards",
    "EmbedReport": "recsys.build.embed",
    "ExportReport": "recsys.batch",
    "IndexInfo": "recsys.library",
    "IndexReport": "recsys.build.index",
    "IngestReport": "recsys.build.ingest",
    "Library": "recsys.library",
    "Paper": "recsys.paper",
    "RecsysError": "recsys.errors",
    "RelatedList": "recsys.cards",
    "SearchResults": "recsys.cards",
    "UpdateReport": "recsys.build.update",
    "embed": "recsys.build.embed",
    "export": "recsys.batch",
    "index": "recsys.build.index",
    "ingest": "recsys.build.ingest",
    "open": "recsys.library",
    "update": "recsys.build.update",
}

__all__ = [*sorted(_WHERE), "__version__"]


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("recsys-arxiv")
    if name not in _WHERE:
        raise AttributeError(f"module 'recsys' has no attribute {name!r}")
    attribute = "Library" if name == "open" else name
    return getattr(import_module(_WHERE[name]), attribute)
