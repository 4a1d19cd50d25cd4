"""Checks of the stored related lists, and of the search file beside them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from recsys import registry
from recsys.cards import print_card
from recsys.doctor.case import Case
from recsys.doctor.findings import Finding, of_papers
from recsys.errors import IndexDamaged
from recsys.files import verified
from recsys.library import SHOWN
from recsys.recall import DEPTH, evenly, recall
from recsys.search.rescore import NEAR, true_scores
from recsys.store.built import Neighbors, unpack_neighbors
from recsys.store.cards import StoredCards

_RECALL = 0.99


def entries(case: Case) -> Iterator[Finding]:
    """Every list against its checksum, and every entry of it."""
    if case.build is None or not case.has_own_lists:
        return
    problems: dict[str, list[str]] = defaultdict(list)
    listed = dict(zip(case.listable.rows.tolist(), case.listable.text_hashes.tolist(), strict=True))
    enough = min(SHOWN, case.build.k, len(listed) - 1)
    seen: set[int] = set()
    try:
        for one in case.built.stored_lists():
            seen.add(one.row)
            neighbors = unpack_neighbors(one.neighbors)
            for problem in _problems(one.row, neighbors, listed, enough):
                problems[problem].append(case.ids.get(one.row, f"row {one.row}"))
            if one.row in listed and one.text_hash != listed[one.row]:
                problems["is of an older text"].append(case.ids[one.row])
    except IndexDamaged as error:
        yield Finding("list-damaged", True, error.message, case.command("index"))
        return
    problems["is missing"] = [case.ids[row] for row in listed if row not in seen]
    for problem, papers in sorted(problems.items()):
        code = f"list-{problem.split()[-1]}"
        yield from of_papers(code, f"papers: the list {problem}", sorted(papers), case.command("update"))


def _problems(row: int, neighbors: Neighbors, listed: dict[int, bytes], enough: int) -> Iterator[str]:
    rows, scores = neighbors
    if row not in listed:
        yield "is of a paper that is not listed"
        return
    if row in rows:
        yield "holds the paper itself"
    if len(set(rows)) < len(rows):
        yield "holds a paper twice"
    if any(other not in listed for other in rows):
        yield "holds a paper that is withdrawn, removed or folded"
    if len(rows) < enough:
        yield "is too short"
    if sorted(scores, reverse=True) != list(scores):
        yield "is out of order"


def scores(case: Case) -> Iterator[Finding]:
    """Stored scores against the vectors: of a sample of lists, or of all when deep."""
    if case.matrix is None:
        return
    n = len(case.listable)
    chosen = evenly(n, n) if case.deep else evenly(n)
    positions, stored = case.stored_lists
    true = true_scores(case.matrix[chosen], positions[chosen].clip(0), case.matrix.__getitem__)
    off = (abs(stored[chosen] - true) > NEAR) & (positions[chosen] >= 0)
    wrong = [case.listable.paper_id(place) for place in chosen[off.any(axis=1)].tolist()]
    yield from of_papers("list-scores", "lists have scores that the vectors do not give", wrong, case.command("index"))


def cards(case: Case) -> Iterator[Finding]:
    """Every stored card against the paper that it shows (deep)."""
    if not case.deep:
        return
    wrong = []
    for row, card in StoredCards(case.connection).stored():
        paper = case.corpus.paper_at(row)
        if paper is None or card != print_card(paper):
            wrong.append(case.ids.get(row, f"row {row}"))
    yield from of_papers("card-wrong", "cards are not what their papers show", wrong, case.command("index"))


def search(case: Case) -> Iterator[Finding]:
    """The search file: there and whole."""
    build = case.build
    if build is None or not build.search_file:
        return
    try:
        path = verified(case.folder / "search", build.search_file, ".faiss", "")
        if case.deep:
            registry.load(registry.SEARCH, build.kind).load(path)
    except IndexDamaged as error:
        yield Finding("search-damaged", True, error.message, case.command("doctor --repair"))


def missed(case: Case) -> Iterator[Finding]:
    """How many of the true neighbours an approximate build found."""
    build = case.build
    if build is None or build.kind == registry.EXACT or case.matrix is None:
        return
    chosen = evenly(len(case.listable))
    found = recall(case.matrix, chosen, case.stored_lists[1][chosen])
    message = f"recall@{DEPTH} of {build.kind} lists is {found:.3f} on {len(chosen):,} papers"
    bad = found < _RECALL
    yield Finding("recall", bad, message, case.command("index --search flat") if bad else "")


def hubs(case: Case) -> Iterator[Finding]:
    """How unevenly papers appear in lists: a few hubs in very many make lists alike."""
    import numpy as np

    if case.matrix is None or len(case.listable) <= SHOWN:
        return
    shown = case.stored_lists[0][:, :SHOWN]
    counts = np.bincount(shown[shown >= 0], minlength=len(case.listable))
    spread = counts.std()
    skew = float(((counts - counts.mean()) ** 3).mean() / spread**3) if spread else 0.0
    hub = int(counts.argmax())
    never = int((counts == 0).sum())
    message = (
        f"skew of appearances in lists is {skew:.1f}; {case.listable.paper_id(hub)} is in {counts[hub]:,},"
        f" {never:,} papers are in none"
    )
    yield Finding("hubness", False, message)
