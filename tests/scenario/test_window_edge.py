"""Where a sliding window no longer reads: null blocks and blocks of others, on both sides of the edge.

Blocks of 4, a window of 4: the first query of a step stands at `num_computed_tokens` and sees 3 positions before it. At 7 it
sees 4 to 7, so block 0 (positions 0 to 3) is out of sight; at 6 it still sees position 3.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.scenario.faults import faults_of, one, places, refusal, sentence, step, two

WINDOW = {"kv_cache_groups": [{"block_size": 4, "sliding_window": 4}]}
BLOCKS = "/steps/0/new_block_ids/A/0"


@pytest.mark.parametrize(
    ("hit", "num_null"),
    [(0, 0), (3, 0), (6, 0), (7, 1), (10, 1), (11, 2), (14, 2), (15, 3), (19, 4)],  # (hit - 3) // 4
)
def test_null_blocks_up_to_the_edge(hit: int, num_null: int) -> None:
    def with_null(count: int) -> dict[str, Any]:
        block_ids = [0] * count + list(range(9, 9 + 6 - count))
        return one(step({"A": 1}, num_computed_tokens={"A": hit}, new_block_ids={"A": [block_ids]}), **WINDOW)

    for count in range(num_null + 1):
        assert refusal(with_null(count)) is None, count
    (fault,) = faults_of(with_null(num_null + 1))
    assert (fault.code, fault.where) == ("block_null", f"{BLOCKS}/{num_null}")
    assert fault.params["null_columns"] == num_null


def test_a_null_block_past_the_edge_is_told_where_the_edge_is() -> None:
    scenario = one(step({"A": 1}, num_computed_tokens={"A": 7}, new_block_ids={"A": [[0, 0]]}), **WINDOW)
    (fault,) = faults_of(scenario)
    assert sentence(fault) == (
        "Block 0 is the null block. A can have it only where its sliding window no longer reads: in the first 1 column of"
        " group 0, not in column 1."
    )


def test_without_a_window_there_is_no_edge() -> None:
    scenario = one(
        step({"A": 1}, num_computed_tokens={"A": 16}, new_block_ids={"A": [[0, 9, 10, 11, 12]]}),
        kv_cache_groups=[{"block_size": 4}],
    )
    assert places(scenario) == [("block_null", f"{BLOCKS}/0")]


@pytest.mark.parametrize(("num_computed", "is_free"), [(6, False), (7, True)])
def test_a_block_that_its_holder_reads_no_more_can_be_given_away(num_computed: int, is_free: bool) -> None:
    """A holds blocks 5 and 6. B may have 5 from the step on in which A's first query is at 7."""
    scenario = two(
        step({"A": num_computed}, new_block_ids={"A": [[5, 6]]}),
        step({"A": 1, "B": 4}, new_block_ids={"B": [[5]]}),
        **WINDOW,
    )
    assert places(scenario) == ([] if is_free else [("block_owned", "/steps/1/new_block_ids/B/0/0")])


@pytest.mark.parametrize(("hit", "is_free"), [(6, False), (7, True)])
def test_a_block_that_its_new_holder_never_reads_may_be_held_by_another(hit: int, is_free: bool) -> None:
    """Column 0 of B's table names A's block 5, which B reads with a hit of 6 and does not with one of 7."""
    scenario = two(
        step({"A": 8}, new_block_ids={"A": [[9, 5]]}),
        step({"B": 1}, num_computed_tokens={"B": hit}, new_block_ids={"B": [[5, 6]]}),
        **WINDOW,
    )
    assert places(scenario) == ([] if is_free else [("block_owned", "/steps/1/new_block_ids/B/0/0")])
