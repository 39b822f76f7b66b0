"""A scenario sent as YAML: the content type says so, and every answer is as for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from app.i18n import translate
from tests.scenario.faults import worked
from tests.scenario.test_parse_yaml import WORKED

if TYPE_CHECKING:
    from fastapi.testclient import TestClient


@pytest.mark.parametrize("path", ["/api/trace", "/api/charts"])
@pytest.mark.parametrize("media", ["application/yaml", "text/yaml; charset=utf-8", "Application/X-YAML", "text/x-yaml"])
def test_yaml_is_answered_like_json(client: TestClient, path: str, media: str) -> None:
    answer = client.post(path, content=WORKED, headers={"Content-Type": media})
    assert answer.status_code == 200, answer.text
    same = {**worked(), "title": "One decode, one prefill chunk", "start_step": 1}
    assert answer.json() == client.post(path, json=same).json()


def test_without_the_content_type_it_is_json_that_is_missing(client: TestClient) -> None:
    answer = client.post("/api/trace", content=WORKED)
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["code"] == "bad_json"


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        (
            "en",
            "This is not YAML: at line 3, column 1 there should be a comma, or the bracket that closes the list or object.",
        ),
        ("zh", "这不是 YAML：第 3 行第 1 列应当是逗号，或结束列表或对象的括号。"),
    ],
)
def test_what_is_no_yaml_is_said_with_its_line(client: TestClient, lang: str, words: str) -> None:
    text = "version: 1\nsteps: [{num_scheduled_tokens: {A: 1}\nrequests: []\n"
    answer = client.post(f"/api/trace?lang={lang}", content=text, headers={"Content-Type": "application/yaml"})
    assert answer.status_code == 400
    (error,) = answer.json()["errors"]
    assert (error["code"], error["where"], error["message"]) == ("bad_yaml", "", words)
    assert error["params"]["line"] == 3


def test_faults_point_into_the_yaml_as_into_json(client: TestClient) -> None:
    text = WORKED.replace("{B: 1, A: 8}", "{B: 1, A: 9, A: 8}")
    (twice,) = client.post("/api/trace", content=text, headers={"Content-Type": "text/yaml"}).json()["errors"]
    assert (twice["code"], twice["where"]) == ("duplicate_key", "/steps/1/num_scheduled_tokens/A")
    text = WORKED.replace("{B: 1, A: 8}", "{B: 1, A: 9}")
    (chunk,) = client.post("/api/trace", content=text, headers={"Content-Type": "text/yaml"}).json()["errors"]
    assert (chunk["code"], chunk["where"]) == ("chunk", "/steps/1/num_scheduled_tokens/A")
    assert chunk["fix"] == [{"op": "replace", "path": "/steps/1/num_scheduled_tokens/A", "value": 8}]


def test_more_than_is_read_is_refused(client: TestClient) -> None:
    answer = client.post("/api/trace", content="#" * 262_145, headers={"Content-Type": "text/yaml"})
    assert answer.status_code == 413
    assert answer.json()["errors"][0]["code"] == "body_too_large"
    assert answer.json()["errors"][0]["params"]["limit"] == 262_144


@pytest.mark.parametrize("body", ["[" * 2000, "{" * 2000, "- " * 2000])
def test_what_is_nested_too_deep_is_said_in_our_words(client: TestClient, body: str) -> None:
    """Also where the reader gives up before we do: libyaml at 1000 levels that nothing closes."""
    answer = client.post("/api/trace?lang=zh", content=body, headers={"content-type": "application/yaml"})
    assert answer.json()["errors"][0]["message"] == translate("zh", "fault.bad_yaml.depth", {"limit": 64})
