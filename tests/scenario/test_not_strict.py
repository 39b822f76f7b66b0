"""Scenarios that are not strict: what a strict one is refused for is computed, and shown as a violated check."""

from typing import Any

import pytest
import torch

from app.i18n import translator
from app.scenario import load_plan
from app.trace.trace import trace_scenario
from tests.scenario.faults import Scenario, blocks_of, of, one, request, step, two


def trace(scenario: Scenario) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = trace_scenario(
        load_plan({**scenario, "strict": False}), torch.device("cpu"), translator("en")
    )["steps"]
    return steps


def violated(traced: dict[str, Any]) -> dict[str, list[tuple[Any, ...]]]:
    """Violated checks by name: the cells, each as (space, index, ...)."""
    return {
        check["name"]: [(cell["space"], *cell["at"]) for cell in check["cells"]]
        for check in traced["checks"]
        if not check["holds"]
    }


def slots(traced: dict[str, Any], group: int = 0) -> Any:
    return traced["spaces"]["slot_mappings"]["values"][group]


def test_too_few_blocks() -> None:
    """24 tokens need two blocks of 16: tokens 16..23 have no slot. A is in row 1 of 2."""
    (traced,) = trace(one(step({"A": 24}, new_block_ids={"A": [[7]]}), max_num_reqs=2))
    assert violated(traced) == {"table_covers_seq_len": [("num_blocks", 0, 1)]}
    assert slots(traced) == [*range(112, 128), *[None] * 8]  # 7 * 16 = 112
    assert traced["spaces"]["block_numbers"]["values"][0] == [*[7] * 16, *[None] * 8]
    assert traced["spaces"]["block_indices"]["values"][0] == [*[0] * 16, *[1] * 8]  # which block it is, is known
    assert traced["spaces"]["slot_byte_offsets"]["values"][0][16:] == [None] * 8


def test_too_few_blocks_over_a_stale_tail() -> None:
    """A left blocks 7 and 8 in row 0; B takes the row with one block: what A left is not B's."""
    steps = trace(
        two(
            step({"A": 24}, new_block_ids={"A": [[7, 8]]}),
            step({"B": 24}, new_block_ids={"B": [[9]]}, finished_req_ids=["A"]),
            max_num_reqs=1,
        )
    )
    assert violated(steps[0]) == {}
    assert violated(steps[1]) == {"table_covers_seq_len": [("num_blocks", 0, 0)]}
    assert slots(steps[1]) == [*range(144, 160), *[None] * 8]  # 9 * 16 = 144
    assert steps[1]["spaces"]["block_tables"]["values"] == [[[9, 8]]]


def test_too_few_blocks_in_one_of_two_groups() -> None:
    (traced,) = trace(one(step({"A": 8}, new_block_ids={"A": [[7], [8]]}), kv_cache_groups=blocks_of(8, 4), max_num_reqs=1))
    assert violated(traced) == {"table_covers_seq_len": [("num_blocks", 1, 0)]}
    assert slots(traced, 0) == list(range(56, 64))  # 7 * 8
    assert slots(traced, 1) == [32, 33, 34, 35, None, None, None, None]  # 8 * 4


def test_a_missing_block_may_come_later() -> None:
    """The pool fills up what the ids given left open."""
    steps = trace(
        one(
            step({"A": 8}, new_block_ids={"A": [[7]]}),
            step({"A": 4}),
            kv_cache_groups=blocks_of(4),
            max_num_reqs=1,
            block_pool={"order": "ascending"},
        )
    )
    assert slots(steps[0]) == [28, 29, 30, 31, None, None, None, None]
    assert steps[1]["spaces"]["block_tables"]["values"] == [[[7, 1, 2]]]
    assert violated(steps[1]) == {}


def test_a_block_outside_the_pool() -> None:
    (traced,) = trace(one(step({"A": 20}, new_block_ids={"A": [[127, 128]]}), max_num_reqs=2))
    assert violated(traced) == {"block_ids_in_range": [("block_tables", 0, 1, 1)]}
    assert slots(traced) == list(range(127 * 16, 127 * 16 + 20))  # what the kernel would compute


def test_the_null_block_as_a_real_one() -> None:
    (traced,) = trace(one(step({"A": 20}, new_block_ids={"A": [[0, 5]]}), max_num_reqs=2))
    assert violated(traced) == {"null_block_unowned": [("block_tables", 0, 1, 0)]}
    assert slots(traced) == [*range(16), *range(80, 84)]


def test_one_null_block_too_many() -> None:
    """W = 6, 16 computed: (16 - 5) // 4 = 2 columns are out of sight, the third is not."""
    (traced,) = trace(
        one(
            step({"A": 1}, num_computed_tokens={"A": 16}, new_block_ids={"A": [[0, 0, 0, 5, 6]]}),
            kv_cache_groups=blocks_of(4, sliding_window=6),
            max_num_reqs=1,
        )
    )
    assert violated(traced) == {"null_block_unowned": [("block_tables", 0, 0, 2)]}


def test_a_block_of_two_requests() -> None:
    """A is in row 1, B in row 0. Both write slots 20..23."""
    (traced,) = trace(
        two(
            step({"A": 4, "B": 4}, new_block_ids={"A": [[5]], "B": [[5]]}),
            prompt_len=4,
            kv_cache_groups=blocks_of(4),
            max_num_reqs=2,
        )
    )
    cells = violated(traced)
    assert set(cells) == {"blocks_owned_once", "slots_unique"}
    assert sorted(cells["blocks_owned_once"]) == [("block_tables", 0, 0, 0), ("block_tables", 0, 1, 0)]
    assert sorted(cells["slots_unique"]) == [("slot_mappings", 0, token) for token in range(8)]
    assert slots(traced) == [20, 21, 22, 23, 20, 21, 22, 23]


def test_a_block_twice_in_a_table() -> None:
    (traced,) = trace(
        one(step({"A": 8}, new_block_ids={"A": [[5, 5]]}), prompt_len=8, kv_cache_groups=blocks_of(4), max_num_reqs=1)
    )
    assert sorted(violated(traced)["blocks_owned_once"]) == [("block_tables", 0, 0, 0), ("block_tables", 0, 0, 1)]


def test_a_block_in_two_groups() -> None:
    (traced,) = trace(
        one(step({"A": 4}, new_block_ids={"A": [[5], [5]]}), prompt_len=4, kv_cache_groups=blocks_of(4, 4), max_num_reqs=1)
    )
    assert sorted(violated(traced)["blocks_owned_once"]) == [("block_tables", 0, 0, 0), ("block_tables", 1, 0, 0)]


@pytest.mark.parametrize("hit", [4, 3])
def test_a_prefix_is_shared_if_the_hit_covers_it(hit: int) -> None:
    steps = trace(
        two(
            step({"A": 8}, new_block_ids={"A": [[5, 6]]}),
            step({"B": 8 - hit}, num_computed_tokens={"B": hit}, new_block_ids={"B": [[5, 7]]}),
            prompt_len=8,
            kv_cache_groups=blocks_of(4),
            max_num_reqs=2,
        )
    )
    assert ("blocks_owned_once" in violated(steps[1])) == (hit < 4)


def test_from_the_start() -> None:
    (traced,) = trace(
        of(
            [
                request("A", 8, initial={"num_computed_tokens": 7, "block_ids": [[5]]}),  # 7 tokens need two blocks
                request("B", 8, initial={"num_computed_tokens": 4, "block_ids": [[200]]}),
                request("C", 8, initial={"num_computed_tokens": 3, "block_ids": [[5]]}),
            ],
            step({}),
            kv_cache_groups=blocks_of(4),
            max_num_reqs=3,
        )
    )
    cells = violated(traced)
    assert sorted(cells["blocks_owned_once"]) == [("block_tables", 0, 0, 0), ("block_tables", 0, 2, 0)]
    assert cells["block_ids_in_range"] == [("block_tables", 0, 1, 0)]


def test_unknown_blocks_are_no_fault_and_have_no_slots() -> None:
    """Strict or not. Row 0: null, 7."""
    scenario = one(step({"A": 20}, new_block_ids={"A": [[None, 7]]}), max_num_reqs=1)
    for strict in (True, False):
        traced = trace_scenario(load_plan({**scenario, "strict": strict}), torch.device("cpu"), translator("en"))["steps"][0]
        assert violated(traced) == {}
        assert slots(traced) == [*[None] * 16, 112, 113, 114, 115]
        assert traced["spaces"]["block_tables"]["values"] == [[[None, 7]]]
        assert traced["spaces"]["input_block_tables"]["values"] == [[[None, 7]]]
