"""Is a paper withdrawn? Told by what its comments and abstract say, where the source has no flag.

Papers *about* withdrawal (of drugs, of money, of arXiv papers) say the same words, so each rule wants the words beside a word for
the paper itself.
"""

from __future__ import annotations

import re

_PAPER = r"(?:papers?|articles?|manuscripts?|submissions?|preprints?|works?|eprints?|e-prints?|drafts?|versions?)"
_GONE = r"(?:withdrawn|retracted|removed)"

_COMMENT = re.compile(
    rf"""^\W*(?:{_GONE}|withdrawal|retraction)\b(?!\s+(?:from|of)\s+(?:the\s+)?\w+\s+(?:market|data))
    |\b(?:this|the|our)\s+{_PAPER}\b[^.;]{{0,60}}?\b(?:is|was|has|have|had|been|being|to\s+be)\s+(?:\w+\s+){{0,3}}?(?:withdrawn|retracted)\b
    |\b{_PAPER}\s+(?:(?:is|was|has\s+been|temporarily|now|hereby)\s+){{0,3}}(?:withdrawn|retracted)\b
    |\b(?:withdrawn|retracted|removed)\s+by\s+(?:the\s+|its\s+)?(?:authors?|arxiv|submitter|first\s+author|administrators?)
    |\b(?:we|i|authors?)\s+(?:have\s+|hereby\s+|would\s+like\s+to\s+|wish\s+to\s+|has\s+)*(?:withdraws?|withdrew|withdrawn|retracts?|retracted)\b
    |\bremoved\s+for\s+copyright\s+reasons
    |:\s*withdrawn\b""",
    re.IGNORECASE | re.VERBOSE,
)
_ABSTRACT = re.compile(
    rf"""^\W*(?:(?:this|the|our|abstract:)\s+)?{_PAPER}(?:\s+and\s+abstract)?\b[^.]{{0,60}}?\b(?:withdrawn|retracted)\b
    |^\W*(?:withdrawn|retracted)\b[\s.;,(]
    |^\W*{_GONE}\s*$
    |^\W*(?:withdrawn|retracted)\s+by\b
    |^\W*(?:the\s+)?authors?\s+(?:has|have)\s+withdrawn\b
    |\bthis\s+{_PAPER}\s+(?:has\s+been|is|was)\s+(?:\w+\s+)?withdrawn\b""",
    re.IGNORECASE | re.VERBOSE,
)
_OTHERS = re.compile(r"\bwithdrawn\s+(?:papers?|articles?|from\s+arxiv|drugs?|submissions?)\b", re.IGNORECASE)


def says_withdrawn(comments: str, abstract: str) -> bool:
    """Whether the comments or the abstract say that this paper is withdrawn."""
    if "ithdr" not in comments and "etract" not in comments and "emoved" not in comments:
        return "ithdr" in abstract[:400] and _says_so(_ABSTRACT, abstract[:400])
    return _says_so(_COMMENT, comments[:2000]) or _says_so(_ABSTRACT, abstract[:400])


def _says_so(pattern: re.Pattern[str], text: str) -> bool:
    return pattern.search(text) is not None and not _OTHERS.match(text)
