"""One step ahead: the next piece of work is prepared in a thread while this one is worked on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Given = TypeVar("Given")
Made = TypeVar("Made")


def one_ahead(prepare: Callable[[Given], Made], items: Iterable[Given]) -> Iterator[Made]:
    """`map(prepare, items)`, in order, with at most one result waiting; the items themselves are read by the caller.

    An error of `prepare` is raised where its result would be given.
    """
    with ThreadPoolExecutor(max_workers=1) as thread:
        waiting: Future[Made] | None = None
        for item in items:
            upcoming = thread.submit(prepare, item)
            if waiting is not None:
                yield waiting.result()
            waiting = upcoming
        if waiting is not None:
            yield waiting.result()
