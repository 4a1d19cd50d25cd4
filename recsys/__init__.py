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
    from recsys.cards import Card as Card
    from recsys.cards import RelatedList as RelatedList
    from recsys.cards import SearchResults as SearchResults
    from recsys.doctor.examination import Examination as Examination
    from recsys.doctor.examination import examine as examine
    from recsys.doctor.findings import Finding as Finding
    from recsys.doctor.repairing import repair as repair
    from recsys.errors import RecsysError as RecsysError
    from recsys.info import IndexInfo as IndexInfo
    from recsys.library import Library as Library
    from recsys.library import Library as open  # noqa: F401 - `recsys.open` reads like `gzip.open`
    from recsys.paper import Paper as Paper
    from recsys.pipeline.embed import EmbedReport as EmbedReport
    from recsys.pipeline.embed import embed as embed
    from recsys.pipeline.index import IndexReport as IndexReport
    from recsys.pipeline.index import index as index
    from recsys.pipeline.ingest import IngestReport as IngestReport
    from recsys.pipeline.ingest import ingest as ingest
    from recsys.pipeline.remove import RemoveReport as RemoveReport
    from recsys.pipeline.remove import remove as remove
    from recsys.pipeline.update import UpdateReport as UpdateReport
    from recsys.pipeline.update import update as update

    __version__: str

_WHERE = {
    "Card": "recsys.cards",
    "EmbedReport": "recsys.pipeline.embed",
    "ExportReport": "recsys.batch",
    "Examination": "recsys.doctor.examination",
    "Finding": "recsys.doctor.findings",
    "IndexInfo": "recsys.info",
    "IndexReport": "recsys.pipeline.index",
    "IngestReport": "recsys.pipeline.ingest",
    "Library": "recsys.library",
    "Paper": "recsys.paper",
    "RecsysError": "recsys.errors",
    "RelatedList": "recsys.cards",
    "RemoveReport": "recsys.pipeline.remove",
    "SearchResults": "recsys.cards",
    "UpdateReport": "recsys.pipeline.update",
    "embed": "recsys.pipeline.embed",
    "examine": "recsys.doctor.examination",
    "export": "recsys.batch",
    "index": "recsys.pipeline.index",
    "ingest": "recsys.pipeline.ingest",
    "open": "recsys.library",
    "repair": "recsys.doctor.repairing",
    "remove": "recsys.pipeline.remove",
    "update": "recsys.pipeline.update",
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
