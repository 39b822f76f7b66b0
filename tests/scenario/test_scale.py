"""A megabyte of anything is planned or refused within moments: no work that grows with the square of what was sent."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from app.errors import ScenarioError
from app.scenario import load_plan
from app.scenario.format.parse import MAX_BODY_BYTES, parse_json
from tests.scenario.faults import Scenario, blocks_of, of, one, request, step

SECONDS = 10  # a hundredth of what a quadratic loop would take; most need a tenth of a second
NAMES = [str(number) for number in range(4096)]
ALL = [request(name, 100) for name in NAMES]
WIDE = {"max_num_reqs": 4096, "max_num_batched_tokens": 65_536}
LONG = {"max_model_len": 2**20, "kv_cache_groups": blocks_of(1)}


def sharing(count: int, blocks: int) -> Scenario:
    """Everybody shares the same prefix."""
    names = NAMES[:count]
    return of(
        [request(name, 16 * blocks + 16) for name in names],
        step(
            dict.fromkeys(names, 1),
            num_computed_tokens=dict.fromkeys(names, 16 * blocks),
            new_block_ids={name: [[*range(1, blocks + 1), None]] for name in names},
        ),
        step({}, finished_req_ids=names),
        **WIDE,
        max_model_len=1024,
    )


def below_the_window() -> Scenario:
    """Blocks that half the requests can see no more are taken by the other half, each at another column."""
    first, second = NAMES[:600], NAMES[600:1200]
    table = list(range(1, 61))
    return of(
        [request(name, 100) for name in (*first, *second)],
        step(
            dict.fromkeys(first, 1),
            num_computed_tokens=dict.fromkeys(first, 70),
            new_block_ids={name: [[*table, *[None] * 11]] for name in first},
        ),
        step(
            dict.fromkeys(second, 1),
            num_computed_tokens=dict.fromkeys(second, 60),
            new_block_ids={name: [[*reversed(table), None]] for name in second},
        ),
        **WIDE,
        kv_cache_groups=blocks_of(1, sliding_window=2),
    )


SCENARIOS: dict[str, Any] = {
    "a hundred thousand scheduled": of(
        ALL[:190],
        *[step([[name, 1] for name in NAMES[:190]])] * 512,
        **{**WIDE, "max_num_reqs": 190},
        num_blocks=2**14,
        max_model_len=1024,
    ),
    "four thousand requests in eight steps": of(ALL, *[step(dict.fromkeys(NAMES, 10))] * 8, **WIDE, num_blocks=2**16),
    "a shared prefix": sharing(2000, 61),
    "blocks below a window": below_the_window(),
    "a prompt of half a million ids": of(
        [{"req_id": "A", "prompt_token_ids": [1] * 500_000}], step({"A": 1}), max_model_len=2**20
    ),
    "a prompt of 2^20 tokens in blocks of 1": one(
        *[step({"A": 65_535})] * 16, **LONG, prompt_len=2**20 - 1, max_num_batched_tokens=65_536, num_blocks=2**24
    ),
    "a table of the same block": {
        **of(
            [request("A"), request("B")],
            step({"A": 1, "B": 1}, new_block_ids={"A": [[5] * 200_000], "B": [[5] * 200_000]}),
            step({}, finished_req_ids=["A", "B"]),
            **LONG,
        ),
        "strict": False,
    },
    "scattered blocks of 2^24": one(
        step({"A": 8}, new_block_ids={"A": [list(range(70_000, 2**24, 150))]}), **LONG, num_blocks=2**24
    ),
}
REFUSED: dict[str, Any] = {
    "one block half a million times": one(step({"A": 8}, new_block_ids={"A": [[5] * 500_000]}), **LONG),
    "the null block half a million times": one(step({"A": 8}, new_block_ids={"A": [[0] * 500_000]}), **LONG),
    "names that nobody has": of([], *[step(dict.fromkeys(NAMES, 1))] * 22),
    "the same pairs": one(*[step([["A", 1]] * 4096)] * 22),
    "those who are not there": of(ALL, *[step({}, finished_req_ids=NAMES)] * 30, **WIDE),
    "unknown keys": of([], *[{f"k{number}": 1 for number in range(200)}] * 500),
    "wrong counts everywhere": of(ALL, *[step(dict.fromkeys(NAMES, 200), sampled_token_ids=dict.fromkeys(NAMES, 99))] * 9),
}


def judge(scenario: Scenario) -> tuple[ScenarioError | None, float]:
    body = json.dumps(scenario, separators=(",", ":")).encode()
    assert len(body) <= MAX_BODY_BYTES
    start = time.process_time()
    try:
        load_plan(parse_json(body))
    except ScenarioError as error:
        return error, time.process_time() - start
    return None, time.process_time() - start


@pytest.mark.parametrize("name", SCENARIOS)
def test_planned(name: str) -> None:
    error, seconds = judge(SCENARIOS[name])
    assert error is None
    assert seconds < SECONDS


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    error, seconds = judge(REFUSED[name])
    assert error is not None
    assert len(error.faults) == 100
    assert seconds < SECONDS
