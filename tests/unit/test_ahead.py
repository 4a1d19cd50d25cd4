from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from recsys.pipeline.ahead import one_ahead


def test_results_come_in_order_and_at_most_one_waits() -> None:
    read: list[int] = []

    def items() -> Iterator[int]:
        for item in range(10):
            read.append(item)
            assert threading.current_thread() is threading.main_thread()
            yield item

    for place, result in enumerate(one_ahead(lambda item: (item, threading.current_thread()), items())):
        assert result[0] == place
        assert result[1] is not threading.main_thread()
        assert len(read) <= place + 2
    assert len(read) == 10
    assert list(one_ahead(str, [])) == []


def test_an_error_comes_at_its_place() -> None:
    found = one_ahead(lambda item: 1 // item, [1, 0, 1])
    assert next(found) == 1
    with pytest.raises(ZeroDivisionError):
        next(found)
