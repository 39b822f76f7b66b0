"""By what the values of each index space are judged.

`tests/reference.py` computes them once more, from the scenario alone. A space that it does not compute is judged by its own
declaration: the formula of every case, over spaces that are judged already. What has neither stands in `ELSEWHERE`.
`tests/test_properties.py` holds the product against both.
"""

from __future__ import annotations

import functools
from typing import Any

import torch

from app.scenario import load_plan
from app.trace.schema import SPACES, describe
from app.trace.trace import trace_scenario
from tests import reference

# Spaces that another test holds against loops of its own -> which. Who computed a slot follows from all steps before.
ELSEWHERE = {
    "kv_block_computed_begin": "tests/trace/test_loaded.py",
    "kv_block_computed_end": "tests/trace/test_loaded.py",
}
HOLD_NOTHING = ("none", "unknown", "missing")  # states of cells whose value is None

# A step that has every space: on one rank of two, with a draft, a shared block, one that was held, and a loaded slot.
SCENARIO: dict[str, Any] = {
    "version": 1,
    "config": {
        "num_speculative_tokens": 1,
        "kv_cache_groups": [{"block_size": 4}],
        "context_parallel": {"size": 2, "rank": 0, "interleave": 1},
    },
    "requests": [
        {"req_id": "A", "prompt_len": 12},
        {"req_id": "B", "prompt_len": 12},
        {"req_id": "C", "prompt_len": 4},
    ],
    "steps": [
        {"num_scheduled_tokens": {"A": 12, "C": 4}, "new_block_ids": {"A": [[5, 6]]}},
        {
            "finished_req_ids": ["C"],
            "num_scheduled_tokens": {"A": 2, "B": 1},
            "draft_token_ids": {"A": 1},
            "num_computed_tokens": {"B": 11},  # 8 in A's block 5, 3 that were loaded into its own
            "new_block_ids": {"B": [[5, 9]]},
        },
    ],
}


@functools.cache
def by_reference() -> frozenset[str]:
    """Names of the spaces that the reference computes."""
    return frozenset(name for step in reference.run(SCENARIO)["steps"] for name in step["spaces"])


@functools.cache
def by_formula() -> frozenset[str]:
    """Names of the other spaces whose formulas judge them: they read judged spaces and constants, not what they explain."""
    trace = trace_scenario(load_plan(SCENARIO), torch.device("cpu"), lambda key, params: key)
    known = {*by_reference(), *ELSEWHERE, *trace["constants"]}
    found: set[str] = set()
    while more := {space.name for space in SPACES if space.name not in known and _is_told(space.name, known)}:
        known |= more
        found |= more
    return frozenset(found)


def _is_told(name: str, known: set[str]) -> bool:
    """Whether the cases of a space tell every value from `known` spaces; of the step before, from itself as well."""
    for case in describe()["spaces"][name]["cases"]:
        now, before = _read([case["when"], case["formula"]])
        has_value = case["formula"] is not None or case["state"] in HOLD_NOTHING
        if not has_value or not now <= known or not before <= {*known, name}:
            return False
    return True


def _read(trees: list[Any]) -> tuple[set[str], set[str]]:
    """Names of the spaces that expressions read, in the step and in the one before; `value` for the cell's own value."""
    now: set[str] = set()
    before: set[str] = set()
    for tree in trees:
        match tree:
            case "value":
                now.add("value")
            case ["str", _]:
                pass
            case ["@" | "find" | "bisect" | "len", str(name), *operands]:
                now.add(name)
                for_now, for_before = _read(operands)
                now |= for_now
                before |= for_before
            case ["prev", inner]:
                before |= set.union(*_read([inner]))
            case [_, *operands]:
                for_now, for_before = _read(operands)
                now |= for_now
                before |= for_before
    return now, before
