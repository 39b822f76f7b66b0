"""Whatever is sent, the answer is a trace or a problem that says where and why."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings

from tests.scenario.faults import patched
from tests.web.mutations import broken_scenarios

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

CODES = {
    *(
        "schema",
        "unknown_key",
        "duplicate_key",
        "duplicate_req_id",
        "unknown_req_id",
        "initial",
        "chunk",
        "decode",
        "drafts",
    ),
    *("sampled", "hit", "length", "budget", "rows", "not_live", "unscheduled", "row_capacity", "blocks_short"),
    *("block_range", "block_null", "block_owned"),
}

FAST = settings(
    max_examples=250,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def check(client: TestClient, document: Any) -> None:
    response = client.post("/api/trace", content=json.dumps(document))
    answer = response.json()
    if response.status_code == 200:
        check_trace(client, document, answer)
    elif response.status_code == 413:
        assert [error["code"] for error in answer["errors"]] == ["response_too_large"]
    else:
        assert response.status_code == 422
        assert 0 < len(answer["errors"]) <= 100
        for error in answer["errors"]:
            check_error(document, error)


def check_trace(client: TestClient, document: Any, trace: Any) -> None:
    """It can be sent back, and a strict scenario violates nothing."""
    if document.get("strict", True):
        assert [check for one_step in trace["steps"] for check in one_step["checks"] if not check["holds"]] == []
    if trace["stopped"] is None:
        assert client.post("/api/trace", content=json.dumps(trace["scenario"])).json() == trace


def check_error(document: Any, error: Any) -> None:
    assert error["code"] in CODES
    assert error["message"]
    assert not re.search(r"\{\w+\}", error["message"])
    parts = error["where"].split("/")[1:]
    node = document
    for depth, part in enumerate(parts, 1):  # a place that exists, or one that is missing there
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(node, list):
            node = node[int(key)]
        elif key in node:
            node = node[key]
        else:
            assert depth == len(parts), error
    if parts[:1] == ["steps"] and len(parts) > 1:
        assert error["params"]["step"] == int(parts[1])
    if error["fix"] is not None:
        assert json.dumps(patched(document, error["fix"])) != json.dumps(document)


@FAST
@given(broken_scenarios())
def test_broken_scenarios(client: TestClient, document: Any) -> None:
    check(client, document)


@pytest.mark.slow
@settings(FAST, max_examples=10_000, derandomize=False)
@given(broken_scenarios())
def test_many_broken_scenarios(client: TestClient, document: Any) -> None:
    check(client, document)
