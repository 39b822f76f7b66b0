"""What the tests of refusals share: scenarios to break, faults with their English sentences, and JSON Patches applied."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

from app.errors import Fault, ScenarioError
from app.i18n import LANGUAGES, translate
from app.scenario import load_plan

Scenario = dict[str, Any]
Patch = list[dict[str, Any]]


def worked(**changes: Any) -> Scenario:
    """The worked example with some of its fields changed."""
    scenario: Scenario = {
        "version": 1,
        "requests": [{"req_id": "B", "prompt_len": 31}, {"req_id": "A", "prompt_len": 24}],
        "steps": [
            {"num_scheduled_tokens": {"B": 31, "A": 16}, "new_block_ids": {"B": [[37, 12]], "A": [[81, 44]]}},
            {"num_scheduled_tokens": {"B": 1, "A": 8}},
        ],
    }
    return {**scenario, **changes}


def step(num_scheduled_tokens: Any, **fields: Any) -> dict[str, Any]:
    """One step: who runs how many, and what else is said of it."""
    return {"num_scheduled_tokens": num_scheduled_tokens, **fields}


def blocks_of(*sizes: int, **fields: Any) -> list[dict[str, Any]]:
    """KV-cache groups of the given block sizes."""
    return [{"block_size": size, **fields} for size in sizes]


def request(req_id: str, prompt_len: int = 24, initial: Any = None) -> dict[str, Any]:
    found: dict[str, Any] = {"req_id": req_id, "prompt_len": prompt_len}
    return found if initial is None else {**found, "initial": initial}


def of(requests: Any, *steps: Any, **config: Any) -> Scenario:
    """A scenario of its parts."""
    return {"version": 1, "config": config, "requests": requests, "steps": list(steps)}


def one(*steps: Any, prompt_len: int = 24, initial: Any = None, **config: Any) -> Scenario:
    """A scenario of one request, A."""
    return of([request("A", prompt_len, initial)], *steps, **config)


def two(*steps: Any, prompt_len: int = 24, **config: Any) -> Scenario:
    """A scenario of two requests, A and B."""
    return of([request("A", prompt_len), request("B", prompt_len)], *steps, **config)


def refusal(scenario: Any) -> ScenarioError | None:
    """Why a scenario is refused, None if it is not. It is read as it would arrive."""
    try:
        load_plan(json.loads(json.dumps(scenario)))
    except ScenarioError as error:
        return error
    return None


def faults_of(scenario: Any) -> list[Fault]:
    error = refusal(scenario)
    return [] if error is None else error.faults


def places(scenario: Any) -> list[tuple[str, str]]:
    """(code, where) of every fault."""
    return [(fault.code, fault.where) for fault in faults_of(scenario)]


def sentence(fault: Fault) -> str:
    """The English sentence of a fault. Every language must have one, with nothing left to fill in."""
    sentences = {language: translate(language, f"fault.{fault.message}", fault.params) for language in LANGUAGES}
    for text in sentences.values():
        assert not re.search(r"\{\w+\}", text), text
    return sentences["en"]


def with_pairs(scenario: Scenario) -> Scenario:
    """The scenario with `num_scheduled_tokens` as pairs."""
    result: Scenario = json.loads(json.dumps(scenario))
    for one_step in result["steps"]:
        if "num_scheduled_tokens" in one_step:
            one_step["num_scheduled_tokens"] = [list(pair) for pair in one_step["num_scheduled_tokens"].items()]
    return result


def patched(document: Any, patch: Patch) -> Any:
    """The document after a JSON Patch (RFC 6902) of the operations that fixes are made of: add, remove, replace."""
    result = copy.deepcopy(document)
    for operation in patch:
        keys = [key.replace("~1", "/").replace("~0", "~") for key in operation["path"].split("/")[1:]]
        parent = result
        for key in keys[:-1]:
            parent = parent[int(key)] if isinstance(parent, list) else parent[key]
        _apply(operation, parent, keys[-1])
    return result


def _apply(operation: dict[str, Any], parent: Any, key: str) -> None:
    if isinstance(parent, list):
        place = int(key)
        assert 0 <= place < len(parent) + (operation["op"] == "add"), operation
        if operation["op"] == "add":
            parent.insert(place, operation["value"])
        elif operation["op"] == "remove":
            del parent[place]
        else:
            assert operation["op"] == "replace", operation
            parent[place] = operation["value"]
        return
    assert operation["op"] == "add" or key in parent, f"nothing at {operation['path']}"
    if operation["op"] == "remove":
        del parent[key]
    else:
        assert operation["op"] in ("add", "replace"), operation
        parent[key] = operation["value"]
