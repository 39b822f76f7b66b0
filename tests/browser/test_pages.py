"""What the server sends for the page: whatever the query string says, in the reader's language, safe to embed."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, expect

QUERIES = [
    "",
    "?step=-1&stage=%00&pin=..%2F..&lang=%F0%9F%98%80&example=" + "x" * 4000,
    "?example=../../etc/passwd",
    "?example=%3C/script%3E%3Cscript%3Ealert(1)%3C/script%3E",
    "?s=1abc~def&view=embed&steps=0-9",
    "?lang=en&lang=zh&step=1&step=2",
    "?%FF=%FE",
]


@pytest.mark.parametrize("query", QUERIES, ids=range(len(QUERIES)))
def test_no_query_string_fails_the_page(page: Page, query: str) -> None:
    response = page.request.get("/" + query)
    assert response.status == 200
    assert "alert(1)</script>" not in response.text()
    page.goto("/" + query)
    expect(page.locator("[data-workbench][data-ready]")).to_be_visible()
    if "s=" in query.split("&")[0]:  # a link that cannot be read: nothing stands in for it
        expect(page.locator("[data-title]")).to_have_text("No scenario")
        return
    # Of a parameter given twice the last one counts.
    title = "一个解码，一个预填充分块" if "lang=zh" in query else "One decode, one prefill chunk"
    expect(page.locator("[data-title]")).to_have_text(title)


def test_the_policy_allows_nothing_from_elsewhere(page: Page) -> None:
    headers = page.request.get("/").headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not re.search(r"https?://", policy)


def test_the_language_follows_the_link_then_the_browser(page: Page) -> None:
    def lang(path: str, accept: str) -> str:
        html = page.request.get(path, headers={"Accept-Language": accept}).text()
        match = re.search(r'<html lang="([\w-]+)">', html)
        assert match
        return match[1]

    assert lang("/", "zh-CN,zh;q=0.9,en;q=0.8") == "zh-Hans"
    assert lang("/", "de,en;q=0.5") == "en"
    assert lang("/", "*;q=x, ;;,") == "en"
    assert lang("/?lang=en", "zh") == "en"
    assert lang("/?lang=zh", "en") == "zh-Hans"


def test_every_note_and_name_of_the_schema_has_its_words(page: Page) -> None:
    schema = page.request.get("/api/spaces").json()
    html = page.request.get("/").text()
    match = re.search(r'<script type="application/json" id="pw-catalogue">(.*?)</script>', html, re.DOTALL)
    assert match
    catalogue = json.loads(match[1])
    notes = {case["note"] for space in schema["spaces"].values() for case in space["cases"]}
    dims = {dim for space in schema["spaces"].values() for dim in space["dims"]}
    wanted = (
        {f"note.{note}" for note in notes} | {f"dim.{dim}" for dim in dims} | {f"walk.{name}" for name in schema["walk"]}
    )
    wanted |= {f"stage.{space['stage']}" for space in schema["spaces"].values()}
    wanted |= {f"exactness.{space['exactness']}" for space in schema["spaces"].values()}
    assert wanted - catalogue.keys() == set()
