"""The block pool: which ids it hands out, in which order, and which it gets back."""

from array import array

import pytest

from app.scenario.plan.block_pool import MAX_SHUFFLED, BlockPool
from tests.reference import pool_order


def taken(pool: BlockPool, count: int) -> list[int]:
    return pool.take(count).tolist()


def test_shuffled_seeds() -> None:
    """Fisher-Yates with splitmix64, as agreed: these ids are in links and exported files."""
    assert taken(BlockPool(128, "shuffled", 0, ()), 8) == [24, 36, 22, 29, 112, 124, 113, 8]
    assert taken(BlockPool(128, "shuffled", 1, ()), 6) == [31, 110, 29, 102, 79, 49]


@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1])
@pytest.mark.parametrize("num_blocks", [2, 3, 128, 1000])
def test_shuffled_is_a_permutation(num_blocks: int, seed: int) -> None:
    pool = BlockPool(num_blocks, "shuffled", seed, ())
    assert pool.num_free == num_blocks - 1  # block 0 is the null block
    ids = taken(pool, num_blocks - 1)
    assert sorted(ids) == list(range(1, num_blocks))
    assert ids == pool_order(num_blocks, "shuffled", seed)


def test_ascending() -> None:
    pool = BlockPool(6, "ascending", 7, ())
    assert [taken(pool, 2), taken(pool, 3), pool.num_free] == [[1, 2], [3, 4, 5], 0]


def test_ids_beyond_the_shuffled_follow_in_order() -> None:
    pool = BlockPool(MAX_SHUFFLED + 4, "shuffled", 0, ())
    assert pool.num_free == MAX_SHUFFLED + 3
    assert sorted(taken(pool, MAX_SHUFFLED)) == list(range(1, MAX_SHUFFLED + 1))
    assert taken(pool, 3) == [MAX_SHUFFLED + 1, MAX_SHUFFLED + 2, MAX_SHUFFLED + 3]


def test_the_last_shuffled_id() -> None:
    """65,536 blocks: ids 1..65,535, all of them shuffled; one more block stays behind."""
    pool = BlockPool(MAX_SHUFFLED + 1, "shuffled", 3, ())
    assert pool.num_free == MAX_SHUFFLED
    more = BlockPool(MAX_SHUFFLED + 2, "shuffled", 3, ())
    assert taken(more, MAX_SHUFFLED) == taken(pool, MAX_SHUFFLED)
    assert taken(more, 1) == [MAX_SHUFFLED + 1]


def test_reserved_ids_are_never_handed_out() -> None:
    """The order of the others stays: 24, 36, 22, 29, 112, ... without 36 and 112."""
    pool = BlockPool(128, "shuffled", 0, {0, 36, 112, 5000})
    assert pool.num_free == 125
    assert taken(pool, 4) == [24, 22, 29, 124]
    pool = BlockPool(10, "ascending", 0, {1, 4, 5, 9})
    assert taken(pool, 5) == [2, 3, 6, 7, 8]
    assert pool.num_free == 0
    pool = BlockPool(MAX_SHUFFLED + 4, "shuffled", 0, {MAX_SHUFFLED + 2, MAX_SHUFFLED})
    assert pool.num_free == MAX_SHUFFLED + 1
    assert taken(pool, MAX_SHUFFLED + 1)[-2:] == [MAX_SHUFFLED + 1, MAX_SHUFFLED + 3]


def test_the_last_block_given_back_is_the_next_handed_out() -> None:
    """Ascending, 9 blocks: 1..8."""
    pool = BlockPool(9, "ascending", 0, ())
    first, second = pool.take(3), pool.take(2)  # 1 2 3, 4 5; free: 6 7 8
    pool.give_back(first)  # free: 3 2 1 6 7 8
    assert taken(pool, 2) == [3, 2]
    pool.give_back(second)  # free: 5 4 1 6 7 8
    assert pool.num_free == 6
    assert taken(pool, 6) == [5, 4, 1, 6, 7, 8]


def test_taking_across_runs_and_in_parts() -> None:
    pool = BlockPool(9, "ascending", 0, ())
    pool.give_back(pool.take(4))  # free: 4 3 2 1 5 6 7 8
    assert [taken(pool, 1), taken(pool, 2), taken(pool, 0), taken(pool, 3)] == [[4], [3, 2], [], [1, 5, 6]]
    pool.give_back(array("i"))
    assert [pool.num_free, taken(pool, 2)] == [2, [7, 8]]


def test_tables_that_changed_after_they_were_given_back() -> None:
    """The pool keeps its own copy."""
    pool = BlockPool(4, "ascending", 0, ())
    table = pool.take(2)
    pool.give_back(table)
    table[0] = 99
    assert taken(pool, 3) == [2, 1, 3]


def test_a_pool_of_one_block() -> None:
    pool = BlockPool(2, "shuffled", 0, ())
    assert taken(pool, 1) == [1]
    assert BlockPool(2, "shuffled", 0, {1}).num_free == 0


def test_sixteen_million_blocks_cost_nothing_until_taken() -> None:
    pool = BlockPool(2**24, "ascending", 0, {5})
    assert pool.num_free == 2**24 - 2
    assert taken(pool, 6) == [1, 2, 3, 4, 6, 7]
