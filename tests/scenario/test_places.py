"""Where a fault is, whatever a request is called and however its schedule was sent."""

from __future__ import annotations

import pytest

from tests.scenario.faults import (
    faults_of,
    of,
    one,
    patched,
    places,
    request,
    sentence,
    step,
)

NAMES = [
    "0",
    "1",
    "a/b",
    "~",
    "~1",
    "请求-1",
    "list",
    "count",
    "-",
    "num_scheduled_tokens",
    "__proto__",
    "\u0000",
    " ",
    "😀",
]


@pytest.mark.parametrize("name", NAMES)
def test_places_of_any_name(name: str) -> None:
    """Both forms, with a second request before it."""
    part = name.replace("~", "~0").replace("/", "~1")
    requests = [request("first"), request(name)]
    for scheduled, where in (
        ({"first": 24, name: 25}, f"/steps/0/num_scheduled_tokens/{part}"),
        ([["first", 24], [name, 25]], "/steps/0/num_scheduled_tokens/1/1"),
    ):
        scenario = of(requests, step(scheduled), max_num_batched_tokens=128)
        (fault,) = faults_of(scenario)
        assert (fault.code, fault.where, fault.params["req_id"]) == ("chunk", where, name)
        assert places(patched(scenario, [dict(operation) for operation in fault.fix or ()])) == []
    for key, value in (("new_block_ids", [[0, 1]]), ("draft_token_ids", 1), ("sampled_token_ids", [1, 2, 3])):
        scenario = of(requests, step({name: 24}, **{key: {name: value}}))
        (fault,) = faults_of(scenario)
        assert fault.where.startswith(f"/steps/0/{key}/{part}")
        assert faults_of(patched(scenario, [dict(operation) for operation in fault.fix or ()])) == []


@pytest.mark.parametrize("name", ["", *NAMES, "x" * 129])
def test_places_of_unknown_names(name: str) -> None:
    part = name.replace("~", "~0").replace("/", "~1")
    assert places(one(step({name: 1}))) == [("unknown_req_id", f"/steps/0/num_scheduled_tokens/{part}")]
    assert places(one(step([["A", 24], [name, 1]]))) == [("unknown_req_id", "/steps/0/num_scheduled_tokens/1/0")]
    assert places(one(step({}, new_block_ids={name: [[]]}))) == [("unknown_req_id", f"/steps/0/new_block_ids/{part}")]


def test_an_endless_name_is_shortened() -> None:
    (fault,) = faults_of(one(step([["x" * 100_000, 1]])))
    assert fault.where == "/steps/0/num_scheduled_tokens/0/0"
    assert sentence(fault) == f"Step 0 names “{'x' * 127}…”, but there is no such request."


def test_places_of_pairs_in_any_order() -> None:
    """Integer-like names in pairs are names, not places."""
    requests = [request("1"), request("0")]
    scenario = of(requests, step([["1", 24], ["0", 24]]), step([["0", 2], ["1", 1]]), step([["1", 1], ["0", 1], ["2", 1]]))
    assert places(scenario) == [
        ("decode", "/steps/1/num_scheduled_tokens/0/1"),
        ("unknown_req_id", "/steps/2/num_scheduled_tokens/2/0"),
    ]
