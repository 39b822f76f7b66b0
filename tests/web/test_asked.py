"""Which scenario an address asks for; and the page's title, which is the first that the server makes of it."""

from __future__ import annotations

import re

import pytest
from fastapi.testclient import TestClient
from starlette.datastructures import QueryParams

from app.examples import examples
from app.scenario.format.link import encode_link
from app.web.links.asked import asked_scenario

SMALL = {"version": 1, "title": "Mine <i>&amp;", "requests": [{"req_id": "A", "prompt_len": 3}], "steps": []}
LINK = encode_link(SMALL)


def test_a_link_holds_it() -> None:
    asked = asked_scenario(QueryParams({"s": LINK, "example": "a-row-is-recycled"}), "en")
    assert (asked.kind, asked.name, asked.scenario, asked.faults) == ("link", LINK, SMALL, ())
    assert asked.title == "Mine <i>&amp;"


def test_an_example_in_the_readers_language() -> None:
    asked = asked_scenario(QueryParams("example=a-row-is-recycled"), "zh")
    assert (asked.kind, asked.name) == ("example", "a-row-is-recycled")
    assert asked.scenario == examples()["a-row-is-recycled"].scenario_in("zh")


@pytest.mark.parametrize("query", ["", "lang=zh&step=1", "example="])
def test_nothing_asked_is_the_worked_example(query: str) -> None:
    asked = asked_scenario(QueryParams(query), "en")
    assert (asked.kind, asked.name, asked.title) == ("default", "worked-example", "One decode, one prefill chunk")


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("s=", "link_truncated"),
        (f"S={LINK[:-3]}&STEP=1", "link_truncated"),
        (f"step=1&amp;s={LINK[:-3]}", "link_truncated"),
        (f"s={LINK[:5]}x{LINK[6:]}", "link_altered"),
        ("example=no-such", "not_found"),
    ],
)
def test_what_cannot_be_had_says_why(query: str, code: str) -> None:
    asked = asked_scenario(QueryParams(query), "en")
    assert (asked.scenario, asked.title, [fault.code for fault in asked.faults]) == (None, "", [code])


def title_of(client: TestClient, query: str) -> str:
    answer = client.get(f"/?{query}")
    assert answer.status_code == 200
    match = re.search(r"<title>(.*?)</title>", answer.text)
    assert match
    return match[1]


def test_the_page_is_called_like_the_scenario_that_the_link_holds(client: TestClient) -> None:
    assert title_of(client, "") == "One decode, one prefill chunk · PageWalk"
    assert title_of(client, f"s={LINK}") == "Mine &lt;i&gt;&amp;amp; · PageWalk"
    assert title_of(client, f"s={LINK[:-1]}") == "PageWalk"


def test_a_title_that_no_scenario_may_have_is_cut(client: TestClient) -> None:
    assert len(title_of(client, f"s={encode_link({**SMALL, 'title': 'x' * 100_000})}")) < 230
