"""The embedding view: TeX made into plain text for an encoder.

Decoding is pylatexenc's; here is only what abstracts need beside it. Never raises, never takes long, whatever the text.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

RECIPE_VERSION = 1
"""Version of what `embedding_text` makes; part of every fingerprint. Raise it when the output for any text changes."""

MAX_CHARACTERS = 6_000
"""Text beyond this is cut before parsing; encoders read far less."""

_MAX_DEPTH = 40
_TEX = re.compile(r"[\\${}~`^]|''|--")
_BARE_PERCENT = re.compile(r"(?<!\\)%")
_SPACES = re.compile(r"\s+")
_COMMAND = re.compile(r"\\[a-zA-Z]+\*?|\\.|[${}~`]")
_BEFORE_MARK = re.compile(r" +([,.;:!?)\]])")
_DROPPED = (
    "cite",
    "citep",
    "citet",
    "citealt",
    "citealp",
    "citeyear",
    "citeauthor",
    "nocite",
    "ref",
    "eqref",
    "label",
    "pageref",
    "footnote",
    "thanks",
    "bibitem",
    "vspace",
    "hspace",
    "includegraphics",
)
_KEPT = (
    "url",
    "texttt",
    "textsc",
    "textsf",
    "textnormal",
    "mathrm",
    "mathsf",
    "mathtt",
    "operatorname",
    "mbox",
    "hbox",
    "underline",
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
    try:
        decoded: str = _decoder().latex_to_text(_BARE_PERCENT.sub(r"\\%", text))
    except Exception:  # a parser of a language that is a program: whatever it raises, the text is worth something
        return _COMMAND.sub(" ", text)
    return _BEFORE_MARK.sub(r"\1", decoded.replace("\N{NO-BREAK SPACE}", " "))


def _depth(text: str) -> int:
    """The deepest nesting of braces, brackets and environments: the parser recurses, and slows, with it."""
    deepest = depth = 0
    for mark in re.findall(r"[{}]|\\begin|\\end|\\left|\\right|\\sqrt|\\\[|\\\(", text):
        depth += 1 if mark in ("{", r"\begin", r"\left", r"\sqrt", r"\[", r"\(") else -1
        deepest = max(deepest, depth)
    return deepest


@cache
def _decoder() -> Any:  # noqa: ANN401 - pylatexenc has no types
    from pylatexenc.latex2text import LatexNodes2Text, MacroTextSpec, get_default_latex_context_db

    context = get_default_latex_context_db()
    macros = [MacroTextSpec(name, discard=True) for name in _DROPPED]
    macros += [MacroTextSpec(name, simplify_repl="%s") for name in _KEPT]
    macros.append(MacroTextSpec("href", simplify_repl=r"%(2)s"))
    context.add_context_category("recsys", prepend=True, macros=macros)
    return LatexNodes2Text(latex_context=context, math_mode="text", strict_latex_spaces=False)
