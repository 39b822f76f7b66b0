"""The block pool for hand-written schedules: a free list that hands out ids from its front.

Simpler than vLLM's `BlockPool` (no prefix cache, no eviction): blocks leave when a request needs them and come back when it
is removed. Ids travel in runs (views of arrays, or ranges nobody took from yet), so that a million blocks move as quickly as
ten.
"""

from array import array
from collections import deque
from collections.abc import Collection
from functools import lru_cache
from typing import Literal

MAX_SHUFFLED = 65_535
_MASK_64 = 2**64 - 1


class BlockPool:
    """Free block ids `1..num_blocks - 1` without the `reserved` ones, which the scenario names itself."""

    def __init__(
        self, num_blocks: int, order: Literal["shuffled", "ascending"], seed: int, reserved: Collection[int]
    ) -> None:
        num_shuffled = min(num_blocks - 1, MAX_SHUFFLED) if order == "shuffled" else 0
        first = _shuffled(num_shuffled, seed)
        self._runs: deque[memoryview[int] | range] = deque()
        self.num_free = 0
        if reserved:
            first = array("i", (block_id for block_id in first if block_id not in reserved))
        self._add_run(memoryview(first))  # only read: it may be the cached one
        rest = num_shuffled + 1
        for block_id in sorted(reserved):
            if rest <= block_id < num_blocks:
                self._add_run(range(rest, block_id))
                rest = block_id + 1
        self._add_run(range(rest, num_blocks))

    def take(self, count: int) -> "array[int]":
        """The next `count` ids. There must be that many."""
        assert 0 <= count <= self.num_free, f"{count} blocks taken, {self.num_free} free"
        self.num_free -= count
        taken = array("i")
        while len(taken) < count:
            run = self._runs.popleft()
            missing = count - len(taken)
            head = run[:missing]
            if isinstance(head, range):
                taken.extend(head)
            else:
                taken.frombytes(head.cast("B"))
            if missing < len(run):
                self._runs.appendleft(run[missing:])
        return taken

    def give_back(self, block_ids: "array[int]") -> None:
        """Put the ids of one table back in front, its last block first."""
        if block_ids:
            self._runs.appendleft(memoryview(block_ids[::-1]))
            self.num_free += len(block_ids)

    def _add_run(self, run: "memoryview[int] | range") -> None:
        if run:
            self._runs.append(run)
            self.num_free += len(run)


@lru_cache(maxsize=16)
def _shuffled(count: int, seed: int) -> "array[int]":
    """Ids `1..count` in Fisher-Yates order driven by splitmix64."""
    ids = array("i", range(1, count + 1))
    state = seed
    for place in range(count - 1, 0, -1):
        state = (state + 0x9E3779B97F4A7C15) & _MASK_64
        mixed = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK_64
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK_64
        other = (mixed ^ (mixed >> 31)) % (place + 1)
        ids[place], ids[other] = ids[other], ids[place]
    return ids
