"""Every link explains its cell: the formula of each cell of each step gives the cell's value."""

from collections import Counter
from typing import Any

import pytest
import torch

from app.examples import examples
from app.i18n import translator
from app.scenario import load_plan
from app.trace.schema import SPACES
from app.trace.trace import trace_scenario
from tests.conformance.recordings import load
from tests.trace.links import SCHEMA, cells, explain, reads_virtual_space, scopes


def trace_of(scenario: dict[str, Any]) -> dict[str, Any]:
    return trace_scenario(load_plan(scenario), torch.device("cpu"), translator("en"))


SCENARIOS = {name: example.scenario for name, example in examples().items()}
SCENARIOS |= {recording.scenario["title"]: recording.scenario for recording in load()[:18]}

SCENARIOS["what only a log leaves open"] = {
    "version": 1,
    "strict": False,
    "config": {
        "num_speculative_tokens": 2,
        "kv_cache_groups": [{"name": "window", "block_size": 4, "sliding_window": 6}],
        "kv_cache": {"layout": "HND"},
    },
    "requests": [
        # Its blocks are not in the log: unknown. Its drafts are placeholders.
        {"req_id": "U", "prompt_len": 9, "initial": {"output_token_ids": 1, "block_ids": [[None, None, None]]}},
        # Below its window: (20 - 5) // 4 = 3 null blocks in front.
        {"req_id": "W", "prompt_len": 24, "initial": {"num_computed_tokens": 20, "block_ids": [[0, 0, 0, 7, 8]]}},
        {"req_id": "S", "prompt_len": 12},
    ],
    "steps": [
        {"num_scheduled_tokens": {"U": 3, "W": 4}, "draft_token_ids": {"U": [-1, -1]}},
        # 12 tokens in blocks of 4, but two blocks given. U and W wait.
        {"num_scheduled_tokens": {"S": 12}, "new_block_ids": {"S": [[5, 6]]}},
        {"num_scheduled_tokens": {"U": 1}},
    ],
}

# Y's hit of 11 ends inside its third block: its first two are X's, 3 slots of the third were loaded.
SCENARIOS["a hit that ends inside a block"] = {
    "version": 1,
    "config": {"kv_cache_groups": [{"block_size": 4}]},
    "requests": [{"req_id": "X", "prompt_len": 12}, {"req_id": "Y", "prompt_len": 12}],
    "steps": [
        {"num_scheduled_tokens": {"X": 12}, "new_block_ids": {"X": [[5, 9, 3]]}},
        {
            "num_scheduled_tokens": {"Y": 1},
            "num_computed_tokens": {"Y": 11},
            "new_block_ids": {"Y": [[5, 9, 14]]},
        },
    ],
}


@pytest.mark.parametrize("title", SCENARIOS)
def test_every_formula_gives_the_value_of_its_cell(title: str) -> None:
    trace = trace_of(SCENARIOS[title])
    num_explained = 0
    for step, scope in scopes(trace):
        for name, space in step["spaces"].items():
            for at, value in cells(space["values"], len(space["dims"])):
                case, result = explain(name, at, value, scope)
                if case["formula"] is None or reads_virtual_space(case["formula"]):
                    continue
                assert result == value, f"step {step['index']}, {name}{list(at)}: {case['text']} is {result}, not {value}"
                num_explained += 1
    assert num_explained > 30


def test_every_case_occurs_somewhere() -> None:
    """A case that no scenario reaches would be untested prose."""
    seen: Counter[tuple[str, int]] = Counter()
    for scenario in SCENARIOS.values():
        for step, scope in scopes(trace_of(scenario)):
            for name, space in step["spaces"].items():
                declared = SCHEMA["spaces"][name]["cases"]
                for at, value in cells(space["values"], len(space["dims"])):
                    case, _ = explain(name, at, value, scope)
                    seen[name, declared.index(case)] += 1
    unseen = {
        f"{space.name}: {case.note}"
        for space in SPACES
        for index, case in enumerate(space.cases)
        if not seen[space.name, index]
    }
    assert unseen == set()


def test_every_declared_space_marks_real_lines() -> None:
    for name, space in SCHEMA["spaces"].items():
        lines = SCHEMA["sources"][space["source"]["symbol"]]["lines"]
        assert space["source"]["mark"], name
        assert all(0 <= line < len(lines) for line in space["source"]["mark"]), name


def test_the_code_shown_is_the_branch_that_ran() -> None:
    """With context parallelism other lines compute the slots than without."""
    for title, symbol in (
        ("worked-example", None),
        ("context-parallel-rank-1-of-2", "compute_local_slot_mapping"),
    ):
        for step, scope in scopes(trace_of(SCENARIOS[title])):
            for name in ("block_indices", "block_numbers", "slot_mappings"):
                for at, value in cells(step["spaces"][name]["values"], 2):
                    case, _ = explain(name, at, value, scope)
                    source = case["source"] or SCHEMA["spaces"][name]["source"]
                    assert source["symbol"] == (symbol or "compute_slot_mapping"), (title, name, at)
