"""Checks of the papers' texts: what the source or the encoder cut."""

from __future__ import annotations

from collections.abc import Iterator

from recsys.doctor.case import Case
from recsys.doctor.findings import Finding, of_papers
from recsys.encoders.loading import load_reader
from recsys.errors import FingerprintMismatch, RecsysError
from recsys.text.tex import embedding_text

_CUT_MARKS = ("…", "...", "[...]")
_FULL_LENGTH = 900
"""Characters from which an abstract that ends in mid-sentence was likely cut: sources cut at 1,000 and more."""

_ENDS = '.!?)]}"”’$*:;'
_BATCH = 1000


def truncated(case: Case) -> Iterator[Finding]:
    """Abstracts that stop in mid-sentence at some length, or end in dots."""
    query = f"SELECT paper_id, abstract FROM papers WHERE withdrawn = 0 AND length(abstract) >= {_FULL_LENGTH}"
    cut = [paper_id for paper_id, abstract in case.connection.execute(query) if _is_cut(abstract)]
    yield from of_papers(
        "abstract-cut", "abstracts seem to be cut by their source", sorted(cut), "ingest a fuller source", wrong=False
    )


def _is_cut(abstract: str) -> bool:
    end = abstract.rstrip()
    return end.endswith(_CUT_MARKS) or end[-1:] not in _ENDS


def beyond_the_limit(case: Case) -> Iterator[Finding]:
    """Papers whose text is longer than the encoder reads (deep: every text is tokenised)."""
    if not case.deep or case.fingerprint is None:
        return
    made_by = case.fingerprint
    try:
        encoder = load_reader(made_by)
    except FingerprintMismatch as error:
        yield Finding("encoder-other", True, error.message, case.command("update --replace-vectors"))
        return
    except RecsysError as error:
        yield Finding("encoder-absent", False, error.message, error.hint)
        return
    cut: list[str] = []
    rows = case.listable.rows.tolist()
    for start in range(0, len(rows), _BATCH):
        papers = case.corpus.papers_at(rows[start : start + _BATCH])
        texts = [embedding_text(p.title, p.abstract, made_by.separator) for p in papers.values()]
        lengths = encoder.lengths(texts)
        pairs = zip(papers.values(), lengths, strict=True)
        cut += [paper.paper_id for paper, length in pairs if length > made_by.max_length]
    what = f"papers are longer than the {made_by.max_length} tokens that the encoder reads"
    yield from of_papers("text-long", what, sorted(cut), "", wrong=False)
