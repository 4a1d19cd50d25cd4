"""The display view: what is stored and shown. TeX stays; what no reader should see goes.

On the path of every ingested record, so each step first asks, in C, whether there is anything to do.
"""

from __future__ import annotations

import html
import re
import unicodedata

TITLE_LIMIT = 2_000
ABSTRACT_LIMIT = 20_000
"""arXiv takes abstracts of 1,920 characters today; the longest older ones have about 4,500."""

_COMBINING_RUN = 8

_LINE_END = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_PARAGRAPH = re.compile(r"\n\s+")
_SPACES = re.compile(r"[^\S\n]{2,}|[^\S\n ]")
_AROUND_BREAK = re.compile(r" *\n *")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
_INVISIBLE = re.compile(r"[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\u00ad]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_MARK = r"[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]"
_COMBINING = re.compile(f"({_MARK}{{{_COMBINING_RUN}}}){_MARK}+")
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
_TAG = re.compile(
    r"</(?:p|em|strong|sub|sup|jats:[a-z]+)\s*>|<(?:br|em|strong|sub|sup|jats:[a-z]+)\s*/?>|(?<![^\s.>])<p\s*/?>",
    re.IGNORECASE,
)
_PAIRED_TAG = re.compile(r"<(i|b|u|tt)>([^<>]*)</\1>", re.IGNORECASE)
_RSS_TITLE = re.compile(r"\s*\(arXiv:[^()\s]{5,30}\s+\[[^\[\]]{1,40}\][^()]{0,20}\)\s*$")
_RSS_ABSTRACT = re.compile(r"\s*arXiv:\S{5,30}\s+Announce Type:\s*\S{3,20}\s+(?:Abstract:)?\s*")
_LABEL = re.compile(r"\s*abstract\s*[:.\u2014-]+\s*", re.IGNORECASE)


def clean_text(text: str, *, limit: int) -> str:
    """Text without control and invisible characters, hard line wraps joined, runs of spaces made one, stripped.

    A line that begins with a space begins a paragraph; paragraphs are separated by one newline. Unicode is NFC (not
    NFKC, which would change mathematics); lone surrogates become U+FFFD; HTML entities and the commonest tags are
    resolved once.

    Args:
        text: anything.
        limit: characters kept.
    """
    text = text[: 4 * limit]
    if "&" in text:
        text = _ENTITY.sub(lambda found: html.unescape(found[0]), text)
    if "<" in text and ">" in text:
        text = _TAG.sub(" ", _PAIRED_TAG.sub(r"\2", text))
    if not text.isascii():
        text = _clean_unicode(text)
    if not text.isprintable():
        text = _CONTROL.sub(" ", _LINE_END.sub("\n", text))
        text = _PARAGRAPH.sub("\x00", text.strip()).replace("\n", " ").replace("\x00", "\n")
        text = _AROUND_BREAK.sub("\n", _SPACES.sub(" ", text))
    elif "  " in text:
        text = _SPACES.sub(" ", text)
    return text[:limit].strip()


def clean_title(title: str) -> str:
    """A title on one line, at most 2,000 characters, without the suffix that old RSS feeds put there."""
    title = clean_text(title, limit=TITLE_LIMIT).replace("\n", " ")
    return _RSS_TITLE.sub("", title) if "(arXiv:" in title else title


def clean_abstract(abstract: str) -> str:
    """An abstract, at most 20,000 characters, without an RSS feed's preamble or the word "Abstract:" before it."""
    abstract = clean_text(abstract, limit=ABSTRACT_LIMIT)
    if abstract.startswith("arXiv:"):
        abstract = _RSS_ABSTRACT.sub("", abstract, count=1)
    if abstract[:8].lower() == "abstract":
        found = _LABEL.match(abstract)
        abstract = abstract[found.end() :] if found else abstract
    return abstract


def _clean_unicode(text: str) -> str:
    if _SURROGATE.search(text):
        text = _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)
    if _INVISIBLE.search(text):
        text = _INVISIBLE.sub("", text)
    text = _COMBINING.sub(r"\1", text)
    return text if unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)
