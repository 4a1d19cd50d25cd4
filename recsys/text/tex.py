"""The embedding view: TeX made into plain text for an encoder.

Decoding is pylatexenc's; here is only what abstracts need beside it. Never raises, never takes long, whatever the text.
"""

from __future__ import annotations

import logging
import re
from functools import cache
from typing import Any

RECIPE_VERSION = 1
"""Version of what `embedding_text` makes; part of every fingerprint. Raise it when the output for any text changes."""

MAX_CHARACTERS = 6_000
"""Text beyond this is cut before parsing; encoders read far less."""

_SPACES_KEPT = {
    "between-macro-and-chars": False,
    "between-latex-constructs": True,
    "after-comment": False,
    "in-equations": "based-on-source",
}
_MAX_DEPTH = 40
_TEX = re.compile(r"[\\${}~`^]|''|--")
_MEANT = {
    re.compile(r"(?<!\\)%"): r"\\%",
    re.compile(r"(?<![\\$])\$(?=[0-9][0-9.,]*\s*(?:[mb]illion|thousand|[kKMB]\b|USD|(?:per|and|to|or)\b))"): r"\\$",
    re.compile(r"\\(aa|AA|ae|AE|oe|OE|o|O|l|L|ss|i|j) (?=[a-z])"): r"\\\1{}",
}
_BARE_AMPERSAND = re.compile(r"(?<!\\)&")
_SPACES = re.compile(r"\s+")
_COMMAND = re.compile(r"\\[a-zA-Z]+\*?|\\.|[${}~`]")
_BEFORE_MARK = re.compile(r" +([,.;:!?)\]])")
_DROPPED = (
    *("bibitem", "cite", "citealp", "citealt", "citeauthor", "citep", "citet", "citeyear"),
    *("eqref", "footnote", "label", "nocite", "pageref", "ref", "thanks"),
)
_KEPT = (
    *("ensuremath", "fbox", "hbox", "mathrm", "mathsf", "mathtt", "mbox", "operatorname"),
    *("textnormal", "textsc", "textsf", "texttt", "underline", "url"),
)


def embedding_text(title: str, abstract: str, separator: str = ". ") -> str:
    """Title and abstract as one plain text.

    Args:
        title: display text.
        abstract: display text.
        separator: what stands between them; a full stop is left out after a title that ends a sentence itself.
    """
    head, body = plain(title), plain(abstract)
    if separator == ". " and head.endswith((".", "?", "!")):
        separator = " "
    return f"{head}{separator}{body}"[:MAX_CHARACTERS]


def plain(text: str) -> str:
    r"""Display text as one plain line: accents and Greek in Unicode, `\emph{x}` as x, no citations, readable maths."""
    text = text[:MAX_CHARACTERS]
    if _TEX.search(text):
        text = _decoded(text)
    return _SPACES.sub(" ", text).strip()


def _decoded(text: str) -> str:
    if _depth(text) > _MAX_DEPTH:
        return _COMMAND.sub(" ", text)
    converter, context = _converter()
    try:
        decoded: str = converter.latex_to_text(_meant(text), latex_context=context)
    except Exception:  # a parser of a language that is a program: whatever it raises, the text is worth something
        return _COMMAND.sub(" ", text)
    return _BEFORE_MARK.sub(r"\1", decoded.replace("\N{NO-BREAK SPACE}", " "))


def _meant(text: str) -> str:
    r"""TeX that says what its author meant: a bare % is no comment, $5 million is no maths, `S\o rensen` one word."""
    for pattern, replacement in _MEANT.items():
        text = pattern.sub(replacement, text)
    return text if r"\begin" in text else _BARE_AMPERSAND.sub(r"\\&", text)


def _depth(text: str) -> int:
    """The deepest nesting of braces, brackets and environments: the parser recurses, and slows, with it."""
    deepest = depth = 0
    for mark in re.findall(r"[{}]|\\begin|\\end|\\left|\\right|\\sqrt|\\\[|\\\(", text):
        depth += 1 if mark in ("{", r"\begin", r"\left", r"\sqrt", r"\[", r"\(") else -1
        deepest = max(deepest, depth)
    return deepest


@cache
def _converter() -> tuple[Any, Any]:
    """Pylatexenc's converter, and what it is to know of macros' arguments: its own tables, and the few lines above."""
    from pylatexenc import latex2text, latexwalker
    from pylatexenc.macrospec import MacroSpec

    spec = latex2text.MacroTextSpec
    replacements = [spec(name, discard=True) for name in _DROPPED]
    replacements += [spec(name, simplify_repl=_last_argument) for name in (*_KEPT, "href")]
    texts = latex2text.get_default_latex_context_db()
    texts.add_context_category("recsys", prepend=True, macros=replacements)
    texts.set_unknown_macro_spec(spec("", simplify_repl=_own_name))
    arguments = latexwalker.get_default_latex_context_db()
    known = [*(MacroSpec(name, "[{") for name in _DROPPED), *(MacroSpec(name, "{") for name in _KEPT)]
    known.append(MacroSpec("href", "{{"))
    arguments.add_context_category("recsys", prepend=True, macros=known)
    converter = latex2text.LatexNodes2Text(texts, math_mode="text", strict_latex_spaces=_SPACES_KEPT)
    logging.getLogger(latex2text.__name__).setLevel(logging.ERROR)
    return converter, arguments


def _own_name(node: Any) -> str:  # noqa: ANN401 - pylatexenc has no types
    r"""What an author's own macro says: `\R` is R; longer names are mostly about looks."""
    return node.macroname if len(node.macroname) == 1 else ""


def _last_argument(node: Any, l2tobj: Any) -> str:  # noqa: ANN401 - pylatexenc has no types, and gives the second by name
    found: str = l2tobj.nodelist_to_text([node.nodeargd.argnlist[-1]])
    return found
