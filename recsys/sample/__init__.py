"""The sample corpus: about 300 invented papers, so that a fresh machine does real work with no network.

None of them exists. Their ids cannot be real papers' ids: new-scheme ids have a sequence number of 90001 or more
(arXiv's busiest months stay below 40,000), old-scheme ids one of 901 or more in months when that archive had far
fewer papers. Every `comments` field says that the record is invented.
"""

from __future__ import annotations

from pathlib import Path

EXAMPLE = "2605.90145"
"""The paper whose related list `recsys demo` prints."""


def papers_file() -> Path:
    """The corpus, JSON lines."""
    return Path(__file__).with_name("papers.jsonl")
