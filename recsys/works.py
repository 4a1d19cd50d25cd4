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
from recsys.store.keys import title_letters

_ID = r"(?:https?://(?:www\.)?arxiv\.org/abs/|(?:pre-?print|paper|article)s?\s+)?\[?(?:arxiv\s*:?\s*)?"
_ID += r"((?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[a-z]{2})?/\d{7})(?:v\d+)?)"
_NEAR = r"(?:[^.;()\d]{0,90}?[\s(])?"
_DECLARED = tuple(
    (re.compile(rf"\b{words}\b{_NEAR}{_ID}", re.I), reason, outward)
    for words, reason, outward in (
        (r"(?<!not )duplicates?(?: of| submissions?)?", "duplicate", True),
        (r"super[sc]eded by", "superseded", True),
        (r"replaced by", "replaced", True),
        (r"merged into", "merged", True),
        (r"(?:older|earlier|previous) version of", "superseded", True),
        (r"replacement (?:of|for)", "duplicate", True),
        (r"(?:this (?:paper|article|work) appears as|same (?:paper|article) (?:as|with|under))", "duplicate", True),
        (r"re(?:vised|newed) version of this (?:article|paper)", "superseded", True),
        (r"super[sc]edes", "superseded", False),
        (r"(?:revised|updated) version (?:of|from)", "superseded", False),
    )
)
"""What comments say of another paper, why that folds the two, and whether it is this one (or the other) that is folded.
Not among them, as they are of other works: extended, expanded, based on, split from, companion of, merged with."""

_PARTLY = re.compile(
    r"\b(?:parts?|sections?|half|results?|chapters?|theorems?|v\d+)\b[^.;]{0,40}$|\bnot\W+$|\bpartially\W+$", re.I
)
_OVERLAP = re.compile(rf"text overlap with {_ID}", re.I)
_NUMBER = re.compile(r"\b(?:[ivx]+|\d+)\b", re.I)
_REMARK = re.compile(
    r"^\W*(?:an?\s+)?(?:comments?|repl(?:y|ies)|response|erratum|addendum|corrigendum|rejoinder|discussion)\b", re.I
)
_MIN_WORDS = 20
_SAME_TITLE, _LIKE_TITLE = 55.0, 97.0
"""How alike the abstracts' words must be (percent, `rapidfuzz.fuzz.ratio`) where titles are the same, or much alike.
Fixed on the labelled pairs of tests/labels: authors do use one abstract for two papers, so titles decide."""

_MUCH_ALIKE = 85.0
"""How alike titles must be, in percent (`rapidfuzz.fuzz.token_set_ratio`)."""

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
        if not _PARTLY.search(comments[: match.start()])
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

    if one.abstract and one.text_hash == other.text_hash:
        return "same text"
    if min(len(one.abstract.split()), len(other.abstract.split())) < _MIN_WORDS:
        return ""
    if not _share_author(one, other) or _numbers(one.title) != _numbers(other.title):
        return ""
    if bool(_REMARK.match(one.title)) != bool(_REMARK.match(other.title)):
        return ""
    titles = fuzz.token_set_ratio(one.title.lower(), other.title.lower())
    wanted = _SAME_TITLE if title_letters(one.title) == title_letters(other.title) else _LIKE_TITLE
    alike = fuzz.ratio(one.abstract.split(), other.abstract.split())
    return "nearly the same text" if titles >= _MUCH_ALIKE and alike >= wanted else ""


def _share_author(one: Paper, other: Paper) -> bool:
    return bool(_surnames(one) & _surnames(other)) or not (one.authors and other.authors)


def _surnames(paper: Paper) -> set[str]:
    names = (name.partition(",")[0] if "," in name else name.rpartition(" ")[2] for name in paper.authors)
    return {"".join(filter(str.isalpha, name.lower())) for name in names} - {""}


def _numbers(title: str) -> list[str]:
    """The numbers in a title, which tell the parts of a series apart."""
    return sorted(number.lower() for number in _NUMBER.findall(title))


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
