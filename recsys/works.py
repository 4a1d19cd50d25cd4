"""Works: what versions, duplicates and superseded copies are together. One paper of a work is listed, for all.

Papers are folded where a comment says so, or where the text itself leaves no doubt. Two records of which one has no
text are never folded on their text, nor are the parts of a series, or a comment on a paper with that paper.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from recsys import arxiv_id
from recsys.errors import InvalidArxivId
from recsys.paper import Paper
from recsys.store.corpus import Corpus, Fold

_ID = r"(?:arxiv\s*:?\s*)?(?:abs/)?((?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[a-z]{2})?/\d{7})(?:v\d+)?)"
_NEAR = r"[^.;()]{0,60}?(?:https?://(?:www\.)?arxiv\.org/abs/)?\(?"
_DECLARED = (
    (re.compile(rf"\bduplicate[sd]?\b{_NEAR}\b{_ID}", re.I), "duplicate", True),
    (re.compile(rf"\bsuper[sc]eded by\b{_NEAR}\b{_ID}", re.I), "superseded", True),
    (re.compile(rf"\breplaced by\b{_NEAR}\b{_ID}", re.I), "replaced", True),
    (re.compile(rf"\bmerged (?:in)?(?:to|with)\b{_NEAR}\b{_ID}", re.I), "merged", True),
    (re.compile(rf"\bsuper[sc]edes\b{_NEAR}\b{_ID}", re.I), "superseded", False),
)
_OVERLAP = re.compile(rf"text overlap with {_ID}", re.I)
_PART = re.compile(r"\b(?:part|paper|chapter|volume|lecture)?\s*\b([ivx]+|\d+)\b", re.I)
_REMARK = re.compile(
    r"^\W*(?:comments?|repl(?:y|ies)|response|erratum|addendum|corrigendum|rejoinder|discussion)\b", re.I
)
_MIN_WORDS = 20
_SAME_TEXT = 90.0
_COMPARED = 20
"""Papers of a group that each is compared with: a thousand of one title must not cost a million comparisons."""


class _Link(NamedTuple):
    """Rows of two papers of one work: the one to fold, the one to show where that is known, and why."""

    one: int
    other: int
    reason: str
    directed: bool


def find_folds(corpus: Corpus) -> list[Fold]:
    """Every paper that is shown as part of another, by row."""
    notes = corpus.telling_comments()
    links = [*_declared(corpus, notes), *_alike(corpus, [*corpus.alike(), *_overlaps(corpus, notes)])]
    papers = corpus.papers_at({row for link in links for row in link[:2]})
    return sorted(_folds(links, papers))


def same_work(one: Paper, other: Paper) -> bool:
    """Whether two papers are one work, as far as their titles, authors and abstracts tell."""
    return bool(_text_reason(one, other))


def _declared(corpus: Corpus, notes: list[tuple[int, str]]) -> Iterator[_Link]:
    """Links that a paper's comments declare, to papers that are there."""
    found = [
        (row, _canonical(match[1]), reason, outward)
        for row, comments in notes
        for pattern, reason, outward in _DECLARED
        for match in pattern.finditer(comments)
    ]
    rows = corpus.rows(paper_id for _, paper_id, _, _ in found)
    for row, paper_id, reason, outward in found:
        other = rows.get(paper_id, row)
        if other != row:
            yield _Link(*((row, other) if outward else (other, row)), reason, True)


def _overlaps(corpus: Corpus, notes: list[tuple[int, str]]) -> list[list[int]]:
    """Pairs of rows of which arXiv's own note says that their text overlaps."""
    found = [(row, _canonical(match[1])) for row, comments in notes for match in _OVERLAP.finditer(comments)]
    rows = corpus.rows(paper_id for _, paper_id in found)
    return [[row, rows[paper_id]] for row, paper_id in found if paper_id in rows]


def _canonical(written: str) -> str:
    try:
        return arxiv_id.parse(written).paper_id
    except InvalidArxivId:
        return ""


def _alike(corpus: Corpus, groups: Sequence[list[int]]) -> Iterator[_Link]:
    """Links between the papers of a group whose text is the same, or nearly."""
    papers = corpus.papers_at({row for group in groups for row in group})
    pairs = {pair for group in groups for pair in _pairs(group, papers)}
    for one, other in sorted(pairs):
        if reason := _text_reason(papers[one], papers[other]):
            yield _Link(one, other, reason, False)


def _pairs(group: list[int], papers: dict[int, Paper]) -> Iterator[tuple[int, int]]:
    """Pairs to compare: all of a small group; of a large one those whose abstracts are near in the alphabet."""
    ordered = sorted(group, key=lambda row: (papers[row].abstract, row))
    for place, row in enumerate(ordered):
        for other in ordered[place + 1 : place + 1 + _COMPARED]:
            yield min(row, other), max(row, other)


def _text_reason(one: Paper, other: Paper) -> str:
    """Why the texts of two papers make them one work; empty where they do not."""
    from rapidfuzz import fuzz

    if min(len(one.abstract.split()), len(other.abstract.split())) < _MIN_WORDS:
        return ""
    if one.text_hash == other.text_hash:
        return "same text"
    if not _share_author(one, other) or _series(one.title) != _series(other.title):
        return ""
    if bool(_REMARK.match(one.title)) != bool(_REMARK.match(other.title)):
        return ""
    alike = fuzz.ratio(one.abstract.split(), other.abstract.split())
    return "nearly the same text" if alike >= _SAME_TEXT else ""


def _share_author(one: Paper, other: Paper) -> bool:
    return bool(_surnames(one) & _surnames(other)) or not (one.authors and other.authors)


def _surnames(paper: Paper) -> set[str]:
    names = (name.partition(",")[0] if "," in name else name.rpartition(" ")[2] for name in paper.authors)
    return {"".join(filter(str.isalpha, name.lower())) for name in names} - {""}


def _series(title: str) -> list[str]:
    """The numbers in a title, which tell the parts of a series apart."""
    return [number.lower() for number in _PART.findall(title)]


def _folds(links: Iterable[_Link], papers: dict[int, Paper]) -> Iterator[Fold]:
    """Join links into works, choose the paper that is shown for each, and fold the others into it."""
    linked: dict[int, list[_Link]] = defaultdict(list)
    for link in links:
        linked[link.one].append(link)
        linked[link.other].append(link)
    replaced = {link.one for link in links if link.directed}
    seen: set[int] = set()
    for start in linked:
        work = _reach(start, linked) if start not in seen else set()
        seen |= work
        shown = min(work, key=lambda row: _preference(papers[row], row in replaced), default=start)
        for row in work - {shown}:
            yield Fold(row, shown, _reason(row, shown, linked[row]))


def _reach(start: int, linked: dict[int, list[_Link]]) -> set[int]:
    found, waiting = {start}, [start]
    while waiting:
        beyond = {row for link in linked[waiting.pop()] for row in link[:2]} - found
        found |= beyond
        waiting.extend(beyond)
    return found


def _preference(paper: Paper, replaced: bool) -> tuple[bool, bool, str, str]:
    """Lower is shown: one that can be recommended, that none replaces, the earliest."""
    return (not paper.recommendable, replaced, paper.published or "9999", paper.paper_id)


def _reason(row: int, shown: int, links: list[_Link]) -> str:
    """Why a paper is folded: what links it to the one shown, else to another of the work."""
    direct = [link for link in links if shown in link[:2]] or links
    return min(direct, key=lambda link: (link.one != row, not link.directed, link.reason)).reason
