"""Name -> class, loaded when first asked for.

A new source, encoder, search kind or exporter is one new file and one line here. Contract tests, command-line
choices and the tables in the docs are all made from these dictionaries, so no second list exists.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

SOURCES: Mapping[str, str] = {
    "arxiv-raw": "recsys.sources.oai_raw:ArxivRawSource",
    "arxiv-oai": "recsys.sources.oai_arxiv:ArxivOaiSource",
    "oai-dc": "recsys.sources.oai_dc:OaiDcSource",
    "atom": "recsys.sources.atom:AtomSource",
    "rss": "recsys.sources.rss:RssSource",
    "kaggle": "recsys.sources.kaggle:KaggleSource",
    "jsonl": "recsys.sources.jsonl:JsonlSource",
    "parquet": "recsys.sources.parquet:ParquetSource",
    "csv": "recsys.sources.csv:CsvSource",
}
"""Readers, in the order in which they look at a file; the first that recognises its content reads it."""

ENCODERS: Mapping[str, str] = {
    "minilm": "recsys.encoders.minilm:MiniLmEncoder",
    "hashing": "recsys.encoders.hashing:HashingEncoder",
    "sentence-transformers": "recsys.encoders.sentence_transformer:SentenceTransformerEncoder",
}
"""Encoder aliases; a name that is not here is a folder or hub id for the last one."""

BACKENDS: Mapping[str, str] = {
    "openvino": "recsys.encoders.backends.openvino:OpenVinoBackend",
    "torch": "recsys.encoders.backends.torch:TorchBackend",
    "numpy": "recsys.encoders.backends.numpy:NumpyBackend",
}
"""What computes a sentence-transformers model on the CPU, fastest first."""

SEARCH: Mapping[str, str] = {
    "flat": "recsys.search.flat:FlatSearch",
    "ivf": "recsys.search.ivf:IvfSearch",
    "hnsw": "recsys.search.hnsw:HnswSearch",
}
"""Search kinds."""

LISTS: Mapping[str, str] = {
    "flat": "recsys.allpairs.exact:exact_lists",
    "nndescent": "recsys.allpairs.descent:descent_lists",
}
"""Kinds of build that make every list at once and need no search file; a search beside them compares all vectors."""

KINDS = (*LISTS, *(kind for kind in SEARCH if kind not in LISTS))
"""Kinds of build: those, and those whose lists are found by a search."""

EXACT = "flat"
"""The kind of build whose lists are exact."""

EXPORTERS: Mapping[str, str] = {
    "text": "recsys.exporters.text:TextExporter",
    "json": "recsys.exporters.json:JsonExporter",
    "jsonl": "recsys.exporters.jsonl:JsonlExporter",
    "md": "recsys.exporters.markdown:MarkdownExporter",
    "csv": "recsys.exporters.csv:CsvExporter",
    "ids": "recsys.exporters.ids:IdsExporter",
    "parquet": "recsys.exporters.parquet:ParquetExporter",
}
"""Ways to write related lists."""


def load(room: Mapping[str, str], name: str) -> Any:  # noqa: ANN401 - each room's base module names the type
    """Import and return the class registered under `name`.

    Raises:
        KeyError: if the room has no such name; the message lists what it has.
    """
    try:
        module, _, attribute = room[name].partition(":")
    except KeyError:
        raise KeyError(f"no {name!r}; there is: {', '.join(room)}") from None
    return getattr(import_module(module), attribute)
