"""`cached_property` computes once, and at the same time in several threads."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from dynascope._cached import cached_property

meeting = threading.Barrier(2, timeout=10)


class Slow:
    def __init__(self) -> None:
        self.times = 0

    @cached_property
    def value(self) -> int:
        """Its own."""
        meeting.wait()  # only two that compute at once get past it
        self.times += 1
        return self.times


def test_two_instances_compute_at_the_same_time_and_once() -> None:
    slow = [Slow(), Slow()]

    def look(one: Slow) -> list[int]:
        return [one.value, one.value]

    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(look, slow)) == [[1, 1], [1, 1]]
    assert [one.times for one in slow] == [1, 1]


def test_it_is_described_and_can_be_replaced() -> None:
    described: Any = Slow.value
    assert described.__doc__ == "Its own."
    one = Slow()
    vars(one)["value"] = 7
    assert one.value == 7
