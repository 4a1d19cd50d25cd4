"""How long work reports that it goes on, without knowing who listens."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """A listener; every call is cheap."""

    def start(self, what: str, total: int | None) -> None:
        """A stage begins: its name, and how many steps it has where that is known."""
        ...

    def advance(self, steps: int) -> None:
        """So many steps more are done."""
        ...


class Silent:
    """Listens to nothing: the default."""

    def start(self, what: str, total: int | None) -> None:
        """Ignore."""

    def advance(self, steps: int) -> None:
        """Ignore."""
