"""Which of several records of one paper counts, whatever the order in which they came."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from recsys.paper import Paper


def newness(paper: Paper) -> tuple[Any, ...]:
    """A total order over records of one paper that all know their version, or all do not: the largest counts.

    Newest version first; at the same version the more trusted source, the later update, a withdrawal, the record with
    more fields, the longer abstract (shortened copies are about), and last the fields themselves, so that no two
    different records tie and the order of arrival never matters.
    """
    fields = (paper.title, paper.abstract, paper.authors, paper.categories, paper.published, paper.comments)
    more = (paper.doi, paper.journal_ref)
    filled = sum(map(bool, fields + more))
    order = (paper.version, paper.rank, paper.updated, paper.withdrawn, filled, len(paper.abstract))
    return (*order, *fields, *more, paper.source)


def joined(versioned: Paper | None, versionless: Paper | None) -> Paper:
    """What is known of a paper from its best record with a version and its best without.

    The latter (OAI-PMH `arXiv` and `oai_dc`) counts where it was updated later: it is of that version or of one not
    seen yet, so its version stays unknown. Fields that it lacks are taken from the other.
    """
    if versioned is None or versionless is None:
        one = versioned or versionless
        assert one is not None, "one of the two is there"
        return one
    if versionless.updated <= versioned.updated:
        return versioned
    return replace(
        versionless,
        abstract=versionless.abstract or versioned.abstract,
        authors=versionless.authors or versioned.authors,
        categories=versionless.categories or versioned.categories,
        published=versioned.published or versionless.published,
        comments=versionless.comments or versioned.comments,
        doi=versionless.doi or versioned.doi,
        journal_ref=versionless.journal_ref or versioned.journal_ref,
    )
