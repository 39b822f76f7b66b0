"""One scenario, one id, however it is spelt."""

from __future__ import annotations

import copy
import json
import random
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.links.identity import canonical_bytes, link_id, read_link_id, readable
from app.scenario.format.model import Scenario
from app.scenario.format.parse import parse_json, parse_scenario
from tests import reference
from tests.scenario.faults import worked
from tests.strategies import valid_scenarios


def name_of(document: Any) -> str:
    return link_id(canonical_bytes(parse_scenario(document)))


def test_the_worked_example_is_called_this_for_ever() -> None:
    canonical = (
        b'{"requests":[{"prompt_len":31,"req_id":"B"},{"prompt_len":24,"req_id":"A"}],'
        b'"steps":[{"new_block_ids":{"A":[[81,44]],"B":[[37,12]]},"num_scheduled_tokens":[["B",31],["A",16]]},'
        b'{"num_scheduled_tokens":[["B",1],["A",8]]}],"version":1}'
    )
    assert canonical_bytes(parse_scenario(worked())) == canonical
    # the first 70 bits of its sha256, 5 at a time
    assert name_of(worked()) == link_id(canonical) == "q4dvf5xzca3g0s"


@given(valid_scenarios(), st.randoms())
def test_every_spelling_has_the_same_id(document: dict[str, Any], random_order: random.Random) -> None:
    name = name_of(document)
    assert re.fullmatch(r"[0-9a-hjkmnp-tv-z]{14}", name)
    full = reference.normalise(copy.deepcopy(document))  # every default filled in
    assert name_of(document | {"config": full["config"]}) == name
    assert name_of(shuffled(document, random_order)) == name
    as_pairs = copy.deepcopy(document)
    for step in as_pairs["steps"]:
        scheduled = step.get("num_scheduled_tokens", {})
        step["num_scheduled_tokens"] = [
            list(pair) for pair in (scheduled.items() if isinstance(scheduled, dict) else scheduled)
        ]
    assert name_of(as_pairs) == name


@given(valid_scenarios())
def test_canonical_bytes_are_the_scenario(document: dict[str, Any]) -> None:
    scenario = parse_scenario(document)
    canonical = canonical_bytes(scenario)
    again = parse_scenario(parse_json(canonical))
    assert again == scenario
    assert canonical_bytes(again) == canonical
    assert parse_scenario(readable(scenario)) == scenario


@pytest.mark.parametrize(
    "change",
    [
        {"title": "Another title"},
        {"description": "x"},
        {"start_step": 1},
        {"strict": False},
        {"config": {"max_num_reqs": 9}},
        {"requests": [{"req_id": "A", "prompt_len": 24}, {"req_id": "B", "prompt_len": 31}]},
    ],
)
def test_whatever_is_said_changes_the_id(change: dict[str, Any]) -> None:
    assert name_of(worked() | change) != name_of(worked())


def test_the_order_of_scheduled_requests_is_part_of_it() -> None:
    turned = worked()
    turned["steps"][1]["num_scheduled_tokens"] = {"A": 8, "B": 1}
    assert name_of(turned) != name_of(worked())


@pytest.mark.parametrize(
    "text",
    [
        "0123456789abcd",
        " 0123456789ABCD ",
        "oi23456789abcd",
        "OL23456789abcd",
        "0123-4567-89ab-cd",
        "0123456789abcd).",
        "0123456789abcd*",
    ],
)
def test_what_people_make_of_an_id_is_read(text: str) -> None:
    assert read_link_id(text) == "0123456789abcd"


@pytest.mark.parametrize(
    "text", ["", "0123456789abc", "0123456789abcde", "0123456789abcu", "0123456789abcé", "a" * 10_000, "../../etc/pas"]
)
def test_what_cannot_be_an_id_is_none(text: str) -> None:
    assert read_link_id(text) is None


def shuffled(node: Any, order: random.Random, key: str = "") -> Any:
    """The document with the keys of its objects in another order, but for the one whose order counts."""
    if isinstance(node, list):
        return [shuffled(value, order) for value in node]
    if not isinstance(node, dict) or key == "num_scheduled_tokens":
        return node
    items = [(name, shuffled(value, order, name)) for name, value in node.items()]
    order.shuffle(items)
    return dict(items)


def test_the_model_is_what_is_hashed() -> None:
    """A default that changes would change ids: the defaults of version 1 are what they are."""
    assert json.loads(canonical_bytes(Scenario(version=1, requests=[], steps=[]))) == {
        "version": 1,
        "requests": [],
        "steps": [],
    }
