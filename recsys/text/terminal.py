"""Foreign text made safe for a terminal."""

from __future__ import annotations

_UNSAFE = {
    code: "\N{REPLACEMENT CHARACTER}"
    for code in (*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}
_UNSAFE |= dict.fromkeys((*range(0x200B, 0x2010), 0x2028, 0x2029, 0x2060, 0xFEFF, *range(0xD800, 0xE000)), "")
_UNSAFE |= {0x09: " ", 0x0A: " ", 0x0D: " "}


def printable(text: str) -> str:
    """One line without control characters, escape sequences, direction overrides or zero-width characters.

    Escape and other controls become U+FFFD, so that an attempt stays visible; white space becomes a space.
    """
    return text if text.isascii() and text.isprintable() else text.translate(_UNSAFE)


def readable(argument: str) -> str:
    """A command-line argument or file name as text: bytes that are no UTF-8 become U+FFFD."""
    return argument.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
