"""Which reader reads a file: content first, suffix second."""

from __future__ import annotations

from recsys import registry


def detect(head: bytes, filename: str) -> str | None:
    """The name of the first reader in the registry that recognises the content; None where none does.

    Args:
        head: the first 64 KiB of the decompressed content.
        filename: the name without its compression suffix; empty for stdin.
    """
    for name in registry.SOURCES:
        if registry.load(registry.SOURCES, name).recognises(head, filename):
            return name
    return None
