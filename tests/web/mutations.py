"""Scenarios broken at random: nodes of valid ones dropped, replaced, doubled, swapped, added, whatever they are."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

from app.examples import examples
from tests.strategies import RICH, valid_scenarios

# Values that mean something somewhere, and values that mean nothing anywhere.
VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, 3, 4, 16, 17, 64, 128, 512, 1_024, 4_096, 16_384, 65_536, 2**20, 2**24, 2**26),
    *(2**31 - 1, 2**31, 2**32, 2**53, 2**63, 2**64, -(2**63), 10**400, 0.5, 8.0, -0.0, 1e308, 1e-7),
    *("", "A", "B", "C", "I", "0", "8", "a/b", "~", "list", "count", "\u0000", "请求", "😀", "x" * 200, "NHD", "FULL"),
    *([], [[]], [[[]]], [0], [1, 2], ["A"], [["A", 1]], [[None]], [["A", 1, 2]], {}, {"A": 1}, {"A": [[1]]}, {"": {}}),
    *({"num_scheduled_tokens": {"A": 1}}, {"req_id": "A", "prompt_len": 4}, {"block_size": 1}, {"sliding_window": 1}),
]
KEYS = [
    *("version", "title", "strict", "start_step", "config", "requests", "steps", "req_id", "prompt_len", "prompt_token_ids"),
    *("initial", "num_computed_tokens", "output_token_ids", "block_ids", "req_state_idx", "num_scheduled_tokens"),
    *("finished_req_ids", "preempted_req_ids", "new_block_ids", "draft_token_ids", "sampled_token_ids", "max_num_reqs"),
    *("max_model_len", "num_blocks", "num_speculative_tokens", "kv_cache_groups", "block_size", "sliding_window", "rank"),
    *("context_parallel", "size", "interleave", "cudagraph", "mode", "capture_sizes", "block_pool", "order", "seed"),
    *("kv_cache", "layout", "dtype", "A", "B", "0", "__proto__", "", "~/", "colour"),
]

Place = tuple[Any, Any]  # a container and the key or index of one of its children


def _places(node: Any) -> list[Place]:
    found: list[Place] = []
    pending = [node]
    while pending:
        container = pending.pop()
        keys = container if isinstance(container, dict) else range(len(container)) if isinstance(container, list) else ()
        for key in keys:
            found.append((container, key))
            pending.append(container[key])
    return found


@st.composite
def broken_scenarios(draw: Any) -> Any:
    """A document that may be a scenario, or nearly one."""
    fixed = [RICH, *(example.scenario for example in examples().values())]
    base = draw(st.one_of(st.sampled_from(fixed), valid_scenarios(), valid_scenarios(strict=False)))
    root = {"": copy.deepcopy(base)}
    for _ in range(draw(st.sampled_from([1, 1, 2, 3]))):
        places = _places(root)
        if not places:
            break
        container, key = places[draw(st.integers(0, len(places) - 1))]
        _break(draw, places, container, key)
    return root.get("")


def _break(draw: Any, places: list[Place], container: Any, key: Any) -> None:
    kind = draw(st.sampled_from(["nudge", "nudge", "nudge", "drop", "double", "insert", "move", "replace"]))
    node = container[key]
    if kind == "replace":
        container[key] = copy.deepcopy(draw(st.sampled_from(VALUES)))
    elif kind == "drop":
        del container[key]
    elif kind == "double" and isinstance(container, list):
        container.insert(key, copy.deepcopy(node))
    elif kind == "double":
        container[draw(st.sampled_from(KEYS))] = copy.deepcopy(node)
    elif kind == "insert" and isinstance(node, list):
        node.insert(draw(st.integers(0, len(node))), copy.deepcopy(draw(st.sampled_from(VALUES))))
    elif kind == "insert" and isinstance(node, dict):
        node[draw(st.sampled_from(KEYS))] = copy.deepcopy(draw(st.sampled_from(VALUES)))
    elif kind == "move":
        other, other_key = places[draw(st.integers(0, len(places) - 1))]
        other[other_key] = copy.deepcopy(node)
    elif kind == "nudge" and type(node) is int:
        container[key] = node + draw(st.sampled_from([-1, 1, 2, 16, -16, 1000]))
    elif kind == "nudge" and isinstance(node, list) and node:
        node.append(copy.deepcopy(node[draw(st.integers(0, len(node) - 1))]))
    elif kind == "nudge":
        container[key] = copy.deepcopy(draw(st.sampled_from(VALUES)))
    else:
        container[key] = [node]
