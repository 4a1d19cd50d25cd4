"""What is in an index, and how it was made."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from recsys.encoders.base import Fingerprint
from recsys.store.built import Built
from recsys.store.corpus import Corpus


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """What is in an index, and how it was made.

    Attributes:
        path: the folder.
        papers: all papers stored.
        recommendable: those with an abstract that are not withdrawn.
        withdrawn: withdrawn papers, kept and never recommended.
        without_abstract: papers that have none.
        folded: recommendable papers that are shown as part of another.
        rejects: records refused at ingest.
        vectors: distinct texts with a vector.
        listed: papers that have a related list.
        k: neighbours kept of each; 0 before the first build.
        encoder: its name; empty before the first embedding.
        fingerprint: the fields that the vectors depend on; empty before the first embedding.
        kind: search kind of the build; empty before the first.
        recall: share of the true 20 nearest that lists hold, measured on a sample; 1 where the search is exact.
        built: when, UTC, ISO 8601; empty before the first build.
        stale: whether papers changed since the build, or wait for a vector.
    """

    path: str
    papers: int
    recommendable: int
    withdrawn: int
    without_abstract: int
    folded: int
    rejects: int
    vectors: int
    listed: int
    k: int
    encoder: str
    fingerprint: dict[str, Any]
    kind: str
    recall: float
    built: str
    stale: bool

    @classmethod
    def read(cls, path: Path, built: Built, corpus: Corpus) -> IndexInfo:
        """Count, and compare the build with what there is; call in a snapshot. No paper is read."""
        counts, build = corpus.counts(), built.build()
        listable = counts.pop("listable")
        counts["folded"] = counts["recommendable"] - listable
        stored = built.fingerprint()
        made_by = Fingerprint.from_json(stored) if stored else None
        digest = made_by.digest if made_by else ""
        return cls(
            str(path),
            **counts,
            vectors=built.vector_count(digest),
            listed=build.papers if build else 0,
            k=build.k if build else 0,
            encoder=made_by.encoder if made_by else "",
            fingerprint=asdict(made_by) if made_by else {},
            kind=build.kind if build else "",
            recall=build.recall if build else 1.0,
            built=build.created if build else "",
            stale=build is None
            or (build.revision, build.fingerprint) != (corpus.revision, digest)
            or build.papers + len(built.quarantined(digest)) < listable,
        )

    def to_dict(self) -> dict[str, Any]:
        """The fields, with `schema_version`."""
        return {"schema_version": 1, **asdict(self)}
