from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recsys.text.terminal import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("On trees [/b] k[x,y] é 中", "On trees [/b] k[x,y] é 中"),
        ("a\x1b[31mred", "a\ufffd[31mred"),
        ("a\x9b31m\u202eb", "a\ufffd31m\ufffdb"),
        ("two\nlines\tand", "two lines and"),
        ("zero\u200bwidth\ufeff\u2028", "zerowidth"),
    ],
)
def test_printable(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(st.text())
def test_never_a_control_character(text: str) -> None:
    shown = printable(text)
    assert not any(ord(c) < 32 or 127 <= ord(c) < 160 or c in "\u202a\u202b\u202c\u202d\u202e" for c in shown)
    shown.encode()
