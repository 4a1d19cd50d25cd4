"""The `Paper` record: what every reader yields, the store keeps and a card shows."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from hashlib import blake2b


@dataclass(frozen=True, slots=True)
class Paper:
    """One arXiv paper at its newest known version, all text already cleaned for display (TeX kept).

    Attributes:
        paper_id: canonical id without version or subject class, e.g. `2306.00802`, `math/0309136`.
        version: the version that the text is of, from 1; 0 where the source does not say.
        title: one line.
        abstract: paragraphs separated by a newline; may be empty.
        authors: names as the source writes them, in order.
        categories: canonical categories, primary first; may be empty.
        published: `YYYY-MM-DD`, `YYYY-MM` or empty: when version 1 was submitted
            (or announced, where only that is known).
        updated: the same forms: when this version or its metadata last changed.
        comments: the authors' comments; empty where absent.
        doi: the publisher's DOI; empty where absent.
        journal_ref: empty where absent.
        withdrawn: whether the newest version is a withdrawal (kept, never recommended).
        source: the name of the reader that the record came through.
        rank: how much that source is trusted when two records have one version (higher wins).
    """

    paper_id: str
    version: int
    title: str
    abstract: str
    authors: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    published: str = ""
    updated: str = ""
    comments: str = ""
    doi: str = ""
    journal_ref: str = ""
    withdrawn: bool = False
    source: str = field(default="", compare=False)
    rank: int = field(default=0, compare=False)

    @property
    def versioned_id(self) -> str:
        """The id with its version where known: `2306.00802v2`."""
        return f"{self.paper_id}v{self.version}" if self.version else self.paper_id

    @property
    def url(self) -> str:
        """The abstract page on arXiv."""
        return f"https://arxiv.org/abs/{self.versioned_id}"

    @property
    def text_hash(self) -> bytes:
        """16 bytes (BLAKE2b) of title and abstract: the text half of a vector's key."""
        return blake2b(f"{self.title}\0{self.abstract}".encode(), digest_size=16).digest()

    @property
    def recommendable(self) -> bool:
        """Whether the paper takes part in lists: it has an abstract and is not withdrawn."""
        return bool(self.abstract) and not self.withdrawn


def to_json(paper: Paper) -> str:
    """All fields of a paper, as a JSON object."""
    return json.dumps(asdict(paper), ensure_ascii=False)


def from_json(text: str) -> Paper:
    """The inverse of `to_json`."""
    fields = json.loads(text)
    return Paper(**{**fields, "authors": tuple(fields["authors"]), "categories": tuple(fields["categories"])})
