"""Text in other encodings as UTF-8, told by the bytes it begins with."""

from __future__ import annotations

import codecs
import io
import re

from recsys.sources.base import HEAD
from recsys.sources.streams import Filling

Decoder = codecs.IncrementalDecoder | io.IncrementalNewlineDecoder

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    *((first + b"\0", "utf-16-le") for first in (b"<", b"{", b"[")),
    *((b"\0" + first, "utf-16-be") for first in (b"<", b"{", b"[")),
)
"""Byte order marks, and the first letters of XML and JSON in UTF-16 without one."""

_DECLARED = re.compile(r"""^(\s*<\?xml\b[^>]{0,200}?)\s+encoding\s*=\s*(["'])[^"'>]*\2""")


def decoded(stream: io.BufferedReader, head: bytes) -> io.BufferedReader:
    """UTF-8 without a byte order mark, lines ended by newlines, whatever the text was written in; binary as it is.

    Args:
        stream: bytes.
        head: what it begins with, still in it.
    """
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return _recoded(stream, codecs.getincrementaldecoder(encoding)("replace"))
    if b"\r" in head and b"\n" not in head and b"\0" not in head:
        utf8 = codecs.getincrementaldecoder("utf-8")("replace")
        return _recoded(stream, io.IncrementalNewlineDecoder(utf8, translate=True))
    return stream


def _recoded(stream: io.BufferedReader, decoder: Decoder) -> io.BufferedReader:
    return io.BufferedReader(_Recoded(stream, decoder), HEAD)


class _Recoded(Filling):
    """Another encoding as UTF-8; what an XML declaration says of the old one is dropped."""

    def __init__(self, inner: io.BufferedReader, decoder: Decoder) -> None:
        super().__init__()
        self._inner = inner
        self._decoder = decoder
        self._ready = b""
        self._begun = self._ended = False

    def take(self, size: int) -> bytes:
        while not self._ready and not self._ended:
            chunk = self._inner.read1(HEAD)
            self._ended = not chunk
            text = self._decoder.decode(chunk, self._ended)
            if not self._begun:
                text = _DECLARED.sub(r"\1", text)
                self._begun = True
            self._ready = text.encode("utf-8", "replace")
        taken, self._ready = self._ready[:size], self._ready[size:]
        return taken
