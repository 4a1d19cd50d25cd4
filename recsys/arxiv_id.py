"""arXiv identifiers: any written form in, one canonical `ArxivId` out.

The canonical key is text: `YYMM.NNNN` (0704 to 1412), `YYMM.NNNNN` (from 1501), or `archive/YYMMNNN` (9107 to 0703)
without subject class. The version stands beside the key, never in it. The grammar is that of arXiv's "Understanding
the arXiv identifier" page; it is stricter than arXiv's own parser, which takes unknown archives, other scripts'
digits and path segments after the id.

An id that lost a zero somewhere (`1501.0001`, `911.1544`) could be one of several papers, so it is refused with the
candidates named, never guessed. Also refused, though arXiv's site forgives them: more than one slash
(`hep-th///9901001`) and anything after the id (`hep-th/9901001/extra`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from string import whitespace
from urllib.parse import unquote

from recsys.errors import InvalidArxivId
from recsys.taxonomy import ARCHIVES

MAX_LENGTH = 2_000
"""Longer texts, in characters, are refused unread."""

# Founded after March 2007, when ids stopped naming the archive.
_YOUNG = {"econ", "eess", "q-fin", "stat"}
_OLD = {archive: archive for archive in ARCHIVES if archive not in _YOUNG}
_ARCHIVE = {archive.replace("-", ""): archive for archive in _OLD} | _OLD
_COMMONEST = ("astro-ph", "hep-ph", "cond-mat", "hep-th", "math")

_MONTH = r"(?:0[1-9]|1[0-2])"
_CANONICAL = re.compile(
    rf"((?:(?:1[5-9]|[2-9][0-9]){_MONTH}\.(?!00000)[0-9]{{5}}"
    rf"|(?:070[4-9]|071[0-2]|(?:0[89]|1[0-4]){_MONTH})\.(?!0000)[0-9]{{4}}"
    rf"|(?:{'|'.join(_OLD)})/(?:910[7-9]|911[0-2]|(?:9[2-9]|0[0-6]){_MONTH}|070[1-3])(?!000)[0-9]{{3}}))"
    r"(?:v([1-9][0-9]{0,3}))?"
)

_INVISIBLE = dict.fromkeys([*range(0x200B, 0x2010), 0x2060, 0xFEFF])
_EDGES = whitespace + "\u00a0<>()[]{}\"'`.,;“”‘’"
_HOST = (
    r"(?:[a-z0-9-]{1,30}\.){0,2}arxiv\.org|(?:xxx|arxiv)\.lanl\.gov|ar5iv\.org|(?:www\.)?alphaxiv\.org"
    r"|huggingface\.co|hf\.co|(?:www\.)?scirate\.com|(?:dx\.|www\.)?doi\.org"
)
_ROUTE = "abs|pdf|html|format|src|e-print|ps|dvi|tb|bibtex|overview|papers|arxiv"
_FLAGS = re.IGNORECASE | re.ASCII
_LEAD = re.compile(
    rf"(?:(?:(?:https?:)?//)?(?:{_HOST})(?::[0-9]{{1,5}})?/|/)?(?:(?:{_ROUTE})/)?"
    r"(?:(?:oai:arxiv\.org:|arxiv:|doi:|10\.48550/arxiv\.)\s*){0,2}",
    _FLAGS,
)
_TAIL = (
    r"(?:v(?P<version>[0-9]{0,9}))?(?:\.pdf|\.html?|\.ps|(?:\.ps|\.tar)?\.gz)?/?"
    r"(?:\s+\[[a-z-]{2,9}(?:\.[a-z-]{2,9})?\]?(?:\s+[0-9]{1,2}\s+[a-z]{3,9}\s+[0-9]{4})?)?"
)
_DOTTED = re.compile(r"(?P<yymm>[0-9]{1,4})\.(?P<number>[0-9]{1,9})" + _TAIL, _FLAGS)
_SLASHED = re.compile(
    r"(?P<archive>[a-z]{1,10}(?:-[a-z]{1,10})?)(?:\.[a-z]{2,8}(?:-[a-z]{1,5})?)?(?:/|--)?(?P<number>[0-9]{1,20})"
    + _TAIL,
    _FLAGS,
)
_NUMBER = re.compile(r"(?P<number>[0-9]{7})" + _TAIL, _FLAGS)
_LISTING = re.compile(r"list/.*", _FLAGS | re.DOTALL)
_UPWARD = re.compile(r"(?:^|/)\.\.(?:/|$)")


@dataclass(frozen=True, slots=True)
class ArxivId:
    """One paper, or one version of it; made by `parse`, which alone checks.

    Attributes:
        paper_id: the canonical key, `2306.00802` or `math/0309136`.
        version: from 1; 0 where none was given.
    """

    paper_id: str
    version: int = 0

    def __str__(self) -> str:
        return f"{self.paper_id}v{self.version}" if self.version else self.paper_id

    @property
    def url(self) -> str:
        """The abstract page on arXiv, of this version where one was given."""
        return f"https://arxiv.org/abs/{self}"

    @property
    def file_stem(self) -> str:
        """A file name without its ending (`math--0309136v2`), which `parse` reads back."""
        return str(self).replace("/", "--")

    @property
    def year(self) -> int:
        """The year of the paper's first announcement, four digits."""
        yy = int(self._digits[:2])
        return 1900 + yy if "/" in self.paper_id and yy >= 91 else 2000 + yy

    @property
    def month(self) -> int:
        """The month of the paper's first announcement, from 1."""
        return int(self._digits[2:4])

    @property
    def sort_key(self) -> tuple[int, int, int, str, int]:
        """Year, month, scheme (0 with an archive, 1 without), archive, number: the order of announcement."""
        archive, slash, _ = self.paper_id.rpartition("/")
        return self.year, self.month, 0 if slash else 1, archive, int(self._digits[4:].lstrip("."))

    @property
    def _digits(self) -> str:
        return self.paper_id.rpartition("/")[2]


def parse(text: str) -> ArxivId:
    """Read an arXiv id in any form that people and programs write it.

    Args:
        text: bare, with version, prefix (`arXiv:`, `oai:arXiv.org:`, `doi:10.48550/arXiv.`), file ending or the
            side stamp of a PDF; or the address of a paper on arXiv, a mirror, ar5iv, alphaXiv, Hugging Face,
            SciRate or doi.org. Case, surrounding punctuation and invisible characters do not matter.

    Raises:
        InvalidArxivId: it is none of these, or damaged; the error names the ids that may have been meant. An id of
            a month to come is valid, since the clock may be wrong: see `not_yet_issued`.
    """
    match = _CANONICAL.fullmatch(text)
    if match is None:
        bare = _trim(text) if len(text) <= MAX_LENGTH else ""
        match = _CANONICAL.fullmatch(_respell(bare))
        if match is None:
            raise _refusal(text, bare)
    version = match[2]
    return ArxivId(match[1], int(version) if version else 0)


def not_yet_issued(paper_id: str, today: date) -> bool:
    """Whether an id belongs to a month later than the one after `today`: arXiv cannot have given it out.

    Raises:
        InvalidArxivId: as `parse`.
    """
    issued = parse(paper_id)
    return issued.year * 12 + issued.month > today.year * 12 + today.month + 1


def _trim(text: str) -> str:
    """The text without what surrounds an id: query, invisible characters, punctuation, address, prefix."""
    text = unquote(re.split("[?#]", text, maxsplit=1)[0]).translate(_INVISIBLE)
    if _UPWARD.search(text.strip()):
        return ".."
    return _LEAD.sub("", text.strip(_EDGES), count=1)


def _respell(bare: str) -> str:
    """The canonical spelling of a trimmed id, right or wrong; empty where it is of neither scheme."""
    if match := _DOTTED.fullmatch(bare):
        key = f"{match['yymm']}.{match['number']}"
    elif match := _SLASHED.fullmatch(bare):
        key = f"{_ARCHIVE.get(match['archive'].lower(), '?')}/{match['number']}"
    else:
        return ""
    return key if match["version"] is None else f"{key}v{match['version']}"


_Why = tuple[str, tuple[str, ...]]


def _refusal(text: str, bare: str) -> InvalidArxivId:
    if len(text) > MAX_LENGTH:
        return InvalidArxivId(text, f"it is longer than {MAX_LENGTH:,} characters")
    for pattern, explain in _EXPLANATIONS:
        if match := pattern.fullmatch(bare):
            return InvalidArxivId(text, *explain(match))
    empty = "it is empty" if not bare else "the forms are 2306.00802 and math/0309136"
    return InvalidArxivId(text, empty)


def _explain_listing(_: re.Match[str]) -> _Why:
    return "that is a listing, not a paper", ()


def _explain_number(match: re.Match[str]) -> _Why:
    candidates = tuple(f"{archive}/{match['number']}" for archive in _COMMONEST)
    return "an old id names its archive, as in math/0309136", _valid(candidates)


def _explain_dotted(match: re.Match[str]) -> _Why:
    """Tell damage apart by what is missing: a reader of numbers drops leading and trailing zeros."""
    yymm, number = match["yymm"].zfill(4), match["number"]
    width = 4 if yymm <= "1412" else 5
    padded = (number, number.ljust(width, "0"), number.rjust(width, "0"), number.removeprefix("0"))
    candidates = _valid(tuple(f"{yymm}.{guess}" for guess in padded))
    if fault := _month_fault(yymm):
        return fault, ()
    if yymm < "0704":
        return "ids before April 2007 name their archive, as in math/0309136", ()
    if len(match["yymm"]) < 4:
        return "the year and month are four digits, and a leading zero seems lost", candidates
    if len(number) != width:
        return f"ids of {yymm} have {width} digits after the dot, and here are {len(number)}", candidates
    return _last_fault(number), candidates


def _explain_slashed(match: re.Match[str]) -> _Why:
    archive, number = match["archive"].lower(), match["number"]
    if archive in _YOUNG:
        return f"{archive} has no ids of the old form", ()
    if archive not in _ARCHIVE:
        return f"arXiv has no archive {archive}", ()
    if len(number) != 7:
        return f"ids of the old form have 7 digits, and here are {len(number)}", ()
    if fault := _month_fault(number[:4]):
        return fault, ()
    if not _CANONICAL.fullmatch(f"math/{number[:4]}001"):
        return "ids of the old form run from July 1991 to March 2007", ()
    return _last_fault(number[4:]), _valid((f"{_ARCHIVE[archive]}/{number}",))


def _month_fault(yymm: str) -> str:
    return "" if re.fullmatch(_MONTH, yymm[2:]) else f"{yymm[2:]} is not a month"


def _last_fault(number: str) -> str:
    return "versions run from v1 to v9999" if number.strip("0") else "numbers count from 1"


def _valid(candidates: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for each in candidates if _CANONICAL.fullmatch(each)))


_EXPLANATIONS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], _Why]], ...] = (
    (_LISTING, _explain_listing),
    (_NUMBER, _explain_number),
    (_DOTTED, _explain_dotted),
    (_SLASHED, _explain_slashed),
)
