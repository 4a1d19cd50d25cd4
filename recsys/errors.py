"""The error tree.

Every error that a user can cause or mend is one of these; anything else that escapes is a bug and keeps its
traceback. Each class carries its process exit code, and a hint that names the next command where there is one.

    RecsysError                   1   anything below
    ├── UnknownName               2   no such format, search kind, ...
    ├── UnreadableInput           1   a file that no reader can read
    ├── MissingExtra              1   an optional library is not installed
    ├── EncoderUnavailable        1   the encoder's files are absent, unsafe or not what was pinned
    ├── IndexBusy                 1   another process is writing to this index
    ├── PaperNotFound             3   no related list for this id, and why
    │   └── InvalidArxivId        3   the text is not an arXiv id
    ├── IndexUnusable             4   the index cannot answer
    │   ├── IndexMissing          4   nothing was built there yet
    │   ├── IndexStale            4   ingested or embedded, but not indexed since
    │   │   └── Republished       4   published anew while its lists were read
    │   ├── IndexDamaged          4   a file is absent or is not what was published
    │   └── FingerprintMismatch   4   vectors of another encoder or recipe
    └── NetworkError              5   a download failed
"""

from __future__ import annotations

from typing import ClassVar

_EXCERPT = 60


def excerpt(text: str, limit: int = _EXCERPT) -> str:
    """Quote foreign text for a message: escaped, on one line, cut at `limit` characters."""
    shown = text if len(text) <= limit else text[:limit] + "…"
    return ascii(shown).replace("\\u2026", "…") if not shown.isprintable() else repr(shown)


class RecsysError(Exception):
    """The root of the tree.

    Attributes:
        message: what is wrong, and where, in one line.
        hint: what to do next, a command where there is one; may be empty.
        exit_code: the exit status of a command that ends with this error.
        code: a stable word for machines (`--json` errors), made of the class name.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    @property
    def code(self) -> str:
        """The class name in snake case, as `--json` errors give it."""
        name = type(self).__name__
        return "".join(f"_{c.lower()}" if c.isupper() and i else c.lower() for i, c in enumerate(name))

    def to_dict(self) -> dict[str, str]:
        """`code`, `message` and `hint`: what `--json` errors hold and what crosses to another process."""
        return {"code": self.code, "message": self.message, "hint": self.hint}


def refused(error: OSError) -> RecsysError:
    """The error of an operation that the machine refused: where, and what it said."""
    where = f"{error.filename}: " if error.filename else ""
    return RecsysError(f"{where}{error.strerror or error}")


class UnknownName(RecsysError):
    """No format, search kind or the like has that name."""

    exit_code = 2


class UnreadableInput(RecsysError):
    """A file that no reader can read, or that ends in the middle of its compression."""


class MissingExtra(RecsysError):
    """An optional library is not installed.

    Args:
        feature: what was asked for.
        extra: the extra of `recsys-arxiv` that brings it.
    """

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs a library that is not installed", f"pip install 'recsys-arxiv[{extra}]'")
        self.extra = extra


class EncoderUnavailable(RecsysError):
    """The encoder's files are absent, unsafe to load, or differ from what was pinned."""


class IndexBusy(RecsysError):
    """Another process is writing to this index."""


class PaperNotFound(RecsysError):
    """There is no related list for this id; the message says which of the possible reasons it is."""

    exit_code = 3


class InvalidArxivId(PaperNotFound):
    """The text is not an arXiv identifier.

    Args:
        text: what was given.
        reason: why it is refused.
        candidates: ids that may have been meant, likeliest first.
    """

    def __init__(self, text: str, reason: str, candidates: tuple[str, ...] = ()) -> None:
        hint = f"did you mean {' or '.join(candidates)}?" if candidates else ""
        super().__init__(f"{excerpt(text)} is not an arXiv id: {reason}", hint)
        self.text = text
        self.reason = reason
        self.candidates = candidates

    def __reduce__(self) -> tuple[type[InvalidArxivId], tuple[str, str, tuple[str, ...]]]:
        return type(self), (self.text, self.reason, self.candidates)


class IndexUnusable(RecsysError):
    """The index cannot answer."""

    exit_code = 4


class IndexMissing(IndexUnusable):
    """Nothing was built there yet."""


class IndexStale(IndexUnusable):
    """Papers were ingested or embedded, but lists were never made of them."""


class IndexDamaged(IndexUnusable):
    """A file of the index is absent or is not the one that was published."""


class Republished(IndexStale):
    """A newer build took the place of the one that was being read, and some of its files with it.

    Args:
        path: the index folder.
    """

    def __init__(self, path: object) -> None:
        super().__init__(f"{path} was published anew while its lists were read", "run the same command again")


class FingerprintMismatch(IndexUnusable):
    """The vectors there were made by another encoder, length or text recipe."""


class NetworkError(RecsysError):
    """A download failed."""

    exit_code = 5


def from_dict(fields: dict[str, str]) -> RecsysError:
    """The error that `RecsysError.to_dict` described; of the root class where its code is not known here."""
    known = {kind.__name__: kind for kind in _below(RecsysError)}
    name = "".join(part.capitalize() for part in fields["code"].split("_"))
    kind: type[RecsysError] = known.get(name, RecsysError)
    error = kind.__new__(kind)
    RecsysError.__init__(error, fields["message"], fields["hint"])
    return error


def _below(kind: type[RecsysError]) -> list[type[RecsysError]]:
    return [found for child in kind.__subclasses__() for found in (child, *_below(child))]
