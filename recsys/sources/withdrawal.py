"""Is a paper withdrawn? Told by what its comments and abstract say, where the source has no flag.

arXiv asks who withdraws a paper to say so in the comments, in their own words ("we decided to withdraw this paper"). So
in comments the word counts unless it is about something else: a conference, an earlier version, a claim, a drug. In
abstracts it counts only beside a word for the paper itself.
"""

from __future__ import annotations

import re

_PAPER = r"(?:papers?|articles?|manuscripts?|submissions?|preprints?|works?|e-?prints?|drafts?|versions?|documents?)"
_WITHDRAW = r"withdr(?:aw(?:n|s|ing|al)?|ew)"

_COMMENT = re.compile(
    rf"""\b{_WITHDRAW}\b
    |\b{_PAPER}\s+(?:is|was|has\s+been|have\s+been|hereby)\s+(?:\w+\s+)?retracted\b
    |\bretract(?:s|ed|ing)?\s+(?:this|the|our|my)\s+{_PAPER}\b
    |^\W*retracted\b
    |\bremoved\s+by\s+(?:the\s+)?arxiv
    |\bremoved\s+for\s+copyright\s+reasons""",
    re.IGNORECASE | re.VERBOSE,
)
_ABOUT_SOMETHING_ELSE = re.compile(
    rf"""\b{_WITHDRAW}\s+from\s+(?:the\s+|its\s+|our\s+)?(?!arxiv|circulation|public|the\b|this\b)[\w-]+
    |\b{_WITHDRAW}\s+before\s+presentation
    |\b{_WITHDRAW}\s+(?:the\s+)?(?:previous|earlier|old|first|original|v[0-9])\s*version
    |\bwithdrawn\s+(?:preprint\s+)?(?:arxiv|hep-|math|astro-ph|cond-mat|\d{{4}}\.\d)
    |\b(?:arxiv\s*:?\s*)?\d{{4}}\.\d{{4,5}}(?:v\d+)?\s*\(?(?:is|was|now)?\s*withdrawn\)?
    |\b(?:theorem|lemma|proposition|corollary|section|conjecture|proof)\b[^.;]{{0,40}}\b{_WITHDRAW}
    |\bwithdrawn\s+(?:papers?|articles?|submissions?|drugs?|preprints?)\b
    |\b(?:claims?|measures?|additions?|requests?|statements?|results?)\s+(?:\w+\s+)?(?:is|are|was|were)\s+withdrawn\b
    |\b(?:drug|alcohol|opioid|nicotine|bank|cash|fund|water|groundwater|fluid|troop|glacier|deposits?\s+and)\s+{_WITHDRAW}
    |\b{_WITHDRAW}\s+(?:symptoms?|rates?|limits?|benefits?|liquidity|strateg)""",
    re.IGNORECASE | re.VERBOSE,
)
_ABSTRACT = re.compile(
    rf"""^\W*(?:(?:this|the|our)\s+)?{_PAPER}(?:\s+and\s+abstract)?\b[^.]{{0,60}}?\b(?:withdrawn|retracted)\b
    |^\W*(?:withdrawn|retracted)\b\s*(?:$|[.;,:(]|by\b|due\b|because\b)
    |^\W*(?:the\s+)?authors?\s+(?:has|have)\s+withdrawn\b
    |^\W*we\s+(?:\w+\s+){{0,4}}(?:withdraw|retract)\s+(?:this|the|our)\s+{_PAPER}\b
    |\bthis\s+{_PAPER}\s+(?:has\s+been|is|was)\s+(?:\w+\s+)?withdrawn\b""",
    re.IGNORECASE | re.VERBOSE,
)
_COMMENT_HEAD, _ABSTRACT_HEAD = 2_000, 400


def says_withdrawn(comments: str, abstract: str) -> bool:
    """Whether the comments or the abstract say that this paper is withdrawn."""
    comments, abstract = comments[:_COMMENT_HEAD], abstract[:_ABSTRACT_HEAD]
    if _mentions(comments) and _COMMENT.search(_ABOUT_SOMETHING_ELSE.sub("", comments)):
        return True
    return _mentions(abstract) and _ABSTRACT.search(abstract) is not None


def _mentions(text: str) -> bool:
    """A quick no for almost every text."""
    return "ithdr" in text or "etract" in text or "emoved" in text or "WITHDR" in text or "RETRACT" in text
