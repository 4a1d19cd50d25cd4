from __future__ import annotations

import pickle

import pytest

from recsys import errors
from recsys.errors import InvalidArxivId, MissingExtra, RecsysError


def every(kind: type[RecsysError]) -> list[type[RecsysError]]:
    return [kind, *(found for child in kind.__subclasses__() for found in every(child))]


@pytest.mark.parametrize("kind", every(RecsysError))
def test_every_error_crosses_to_another_process(kind: type[RecsysError]) -> None:
    made = kind.__new__(kind)
    RecsysError.__init__(made, "what", "then")
    back = errors.from_dict(made.to_dict())
    assert type(back) is kind
    assert (back.message, back.hint, str(back)) == ("what", "then", "what")


def test_an_unknown_code_is_still_an_error() -> None:
    back = errors.from_dict({"code": "from_the_future", "message": "m", "hint": ""})
    assert type(back) is RecsysError


def test_the_tree_drawn_in_the_docstring_is_the_tree() -> None:
    assert errors.__doc__ is not None
    for kind in every(RecsysError):
        (line,) = [line for line in errors.__doc__.splitlines() if kind.__name__ in line.split()[:4]]
        assert f" {kind.exit_code} " in line


def test_codes_are_snake_case() -> None:
    assert MissingExtra("Parquet", "parquet").to_dict() == {
        "code": "missing_extra",
        "message": "Parquet needs a library that is not installed",
        "hint": "pip install 'recsys-arxiv[parquet]'",
    }


def test_an_invalid_id_keeps_its_parts() -> None:
    error = InvalidArxivId("1501.0001", "five digits", ("1501.00010",))
    assert error.hint == "did you mean 1501.00010?"
    assert pickle.loads(pickle.dumps(error)).candidates == ("1501.00010",)  # noqa: S301 - our own bytes


@pytest.mark.parametrize(
    ("text", "shown"),
    [("plain", "'plain'"), ("a\x1b[31m", r"'a\x1b[31m'"), ("x" * 70, f"'{'x' * 60}…'"), ("\u202eab", r"'\u202eab'")],
)
def test_excerpts_are_harmless(text: str, shown: str) -> None:
    assert errors.excerpt(text) == shown
    assert errors.excerpt(text).isprintable()
