"""Links in a real browser: they open and stay; back, forward and a reload find everything; damage is said, nothing shown."""

from __future__ import annotations

import json
import re
import zlib
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from app.scenario.format.link import decode_link, encode_link
from tests.bench_links import worked_example
from tests.browser.conftest import NewPage
from tests.browser.scenarios import choose_example
from tests.scenario.test_link import pressed, sealed

CORPUS = Path(__file__).parents[1] / "links" / "corpus.jsonl"
MINE = {**worked_example(), "title": "Mine 我的"}
LINK = encode_link(MINE)
OTHER = encode_link({**worked_example(), "title": "Another one"})


def open_page(page: Page, path: str) -> None:
    page.goto(path)
    expect(page.locator("[data-workbench][data-ready]:not([data-busy])")).to_be_visible()


def title(page: Page) -> Any:
    return page.locator("[data-title]").first


def count(page: Page, req_id: str, step: int) -> Any:
    return page.get_by_role("textbox", name=f"{req_id}, step {step}: tokens scheduled")


def edit(page: Page, value: str) -> None:
    """What A runs in step 1; waits for the address that holds it."""
    count(page, "A", 1).fill(value)
    count(page, "A", 1).press("Enter")
    expect(page.locator("[data-workbench]:not([data-stale])")).to_be_visible()
    page.wait_for_url(re.compile(r"\?s=1[\w~-]+&draft="))


def held(page: Page) -> dict[str, Any]:
    """The scenario in the address."""
    return decode_link(page.url)


def test_a_link_opens_at_its_place_and_the_address_stays_until_something_is_done(page: Page) -> None:
    open_page(page, f"/?s={LINK}&step=0&stage=batch&pin=idx_mapping.1")
    expect(title(page)).to_have_text("Mine 我的")
    expect(page.locator("[data-workbench]")).to_have_attribute("data-stage", "batch")
    expect(page.locator("[data-edited]")).to_be_hidden()
    assert page.url.endswith(f"/?s={LINK}&step=0&stage=batch&pin=idx_mapping.1")
    expect(page.locator("[data-notice]")).to_have_count(0)


def test_back_forward_and_reload_find_scenario_step_stage_and_pin(page: Page) -> None:
    def is_here(name: str, step: str, stage: str, pin: str) -> None:
        expect(title(page)).to_have_text(name)
        expect(page.locator(f'[data-workbench][data-step="{step}"][data-stage="{stage}"]:not([data-busy])')).to_be_visible()
        expect(page.locator(f'[data-cell="{pin}"][data-pinned]').first).to_be_visible()
        page.wait_for_url(f"**step={step}&stage={stage}&pin={pin}")  # after much scrubbing it is a moment behind

    open_page(page, f"/?s={LINK}&step=0&stage=batch&pin=idx_mapping.1")
    for _ in range(30):  # scrubbing takes the entry over
        page.keyboard.press("Shift+ArrowRight")
        page.keyboard.press("Shift+ArrowLeft")
    page.locator("pw-rail [data-go-stage=flatten]").click()
    page.mouse.move(0, 0)
    is_here("Mine 我的", "0", "flatten", "idx_mapping.1")
    choose_example(page, "a-row-is-recycled")
    expect(title(page)).to_have_text("A row is recycled")
    page.locator('[data-cell="idx_mapping.0"]').first.click()
    page.wait_for_url("**pin=idx_mapping.0")
    page.go_back()
    is_here("Mine 我的", "0", "flatten", "idx_mapping.1")
    page.go_forward()
    expect(title(page)).to_have_text("A row is recycled")
    page.wait_for_url("**pin=idx_mapping.0")
    page.go_back()
    is_here("Mine 我的", "0", "flatten", "idx_mapping.1")
    page.reload()
    is_here("Mine 我的", "0", "flatten", "idx_mapping.1")


def test_an_edited_link_is_a_draft_whose_address_opens_anywhere(page: Page, new_page: NewPage) -> None:
    open_page(page, f"/?s={LINK}&step=1&stage=schedule")
    edit(page, "5")
    assert held(page)["steps"][1]["num_scheduled_tokens"] == [["B", 1], ["A", 5]]
    address = page.url
    page.reload()
    expect(count(page, "A", 1)).to_have_value("5")
    expect(page.locator("[data-edited]")).to_be_visible()
    expect(page.locator("[data-notice]")).to_have_count(0)
    assert page.url == address

    elsewhere = new_page()
    open_page(elsewhere, address)
    expect(count(elsewhere, "A", 1)).to_have_value("5")
    expect(elsewhere.locator("[data-edited]")).to_be_hidden()
    expect(elsewhere.locator("[data-notice]")).to_have_count(0)

    page.go_back()  # the link as it was before the edit
    expect(count(page, "A", 1)).to_have_value("8")
    expect(page.locator("[data-edited]")).to_be_hidden()
    page.go_forward()
    expect(count(page, "A", 1)).to_have_value("5")


def test_a_link_never_takes_the_place_of_a_draft(page: Page) -> None:
    open_page(page, f"/?s={LINK}&step=1")
    edit(page, "5")
    before = page.url
    draft = re.search(r"draft=(\w+)", before)
    assert draft
    edit(page, "4")
    open_page(page, before)  # an address that was copied before the last change
    expect(count(page, "A", 1)).to_have_value("5")
    notice = page.locator("[data-notice=differs]")
    expect(notice).to_contain_text("not the same as the link")
    edit(page, "6")
    expect(page).not_to_have_url(re.compile(draft[1]))
    open_page(page, before)
    notice.get_by_role("button", name="Open the draft").click()
    expect(count(page, "A", 1)).to_have_value("4")
    page.wait_for_url(f"**draft={draft[1]}*")


LARGE = sealed(pressed(b'{"version":1,"title":"' + b"x" * 1_100_000 + b'","requests":[],"steps":[]}'))
DAMAGED = [
    (LINK[:100], "The link is cut off"),
    (LINK[:50] + ("x" if LINK[50] != "x" else "y") + LINK[51:], "The link was altered on its way: at least one character"),
    (LINK[:50] + "*" + LINK[50:], "it holds “*”"),
    (sealed(pressed(b"{}"), "2"), "The link is in format 2, this PageWalk reads format 1"),
    (sealed(pressed(b"[]")), "is not a scenario"),
    (sealed(zlib.compress(b"{}")), "is not a scenario"),
    (LARGE, "more than 1,048,576 bytes"),
]


def test_each_damaged_link_says_what_is_wrong_and_nothing_stands_in_for_it(page: Page) -> None:
    notice = page.locator("[data-notice=link]")

    def is_said(words: str) -> None:
        expect(notice).to_contain_text(words)
        expect(notice).to_contain_text("Kept from it: step 1, the stage Batch")
        expect(title(page)).to_have_text("No scenario")
        expect(page.locator("[data-cell]")).to_have_count(0)
        assert page.url.endswith("&step=1&stage=batch")

    (first, words), *others, (large, too_large) = DAMAGED
    open_page(page, f"/?s={first}&step=1&stage=batch")
    is_said(words)
    for link, words in others:
        notice.get_by_label("Paste the link again").fill(link)
        notice.get_by_role("button", name="Open", exact=True).click()
        is_said(words)
    open_page(page, f"/?s={large}&step=1&stage=batch")
    is_said(too_large)
    page.locator("[data-lang-link=zh]").click()
    expect(notice).to_contain_text("无法打开这个链接")


def test_the_ways_on_from_a_damaged_link(page: Page) -> None:
    open_page(page, f"/?s={OTHER}&step=1")
    edit(page, "5")
    open_page(page, f"/?s={LINK[:-2]}&step=0&stage=batch&pin=idx_mapping.1")
    notice = page.locator("[data-notice=link]")
    field = notice.get_by_label("Paste the link again")
    field.fill(LINK[:40])
    field.press("Enter")
    expect(notice).to_contain_text("cut off")
    field.fill(f"see https://example.org/?s={LINK[:60]}\n{LINK[60:]}).")
    notice.get_by_role("button", name="Open", exact=True).click()
    expect(title(page)).to_have_text("Mine 我的")
    expect(notice).to_have_count(0)
    expect(page.locator("[data-workbench]")).to_have_attribute("data-stage", "batch")
    page.wait_for_url(f"**/?s={LINK}&step=0&stage=batch&pin=idx_mapping.1")
    page.go_back()
    notice.get_by_role("button", name="your draft “Another one”").click()
    expect(count(page, "A", 1)).to_have_value("5")
    page.go_back()
    notice.get_by_role("button", name="the worked example").click()
    expect(title(page)).to_have_text("One decode, one prefill chunk")
    page.go_back()
    page.get_by_role("button", name="Add the first request").click()
    page.wait_for_url("**draft=*")
    expect(notice).to_have_count(0)
    page.go_back()  # the damaged link is not lost either
    expect(notice).to_be_visible()


def test_a_damaged_address_of_a_draft_opens_the_draft_where_there_is_one(page: Page) -> None:
    open_page(page, f"/?s={LINK}&step=1")
    edit(page, "5")
    open_page(page, page.url.replace("?s=1", "?s=1A"))
    expect(page.locator("[data-notice=link_draft]")).to_contain_text("your draft of it")
    expect(count(page, "A", 1)).to_have_value("5")


def test_a_link_that_cannot_be_run_opens_in_the_grid_with_its_faults(page: Page) -> None:
    wrong = {**MINE, "steps": [{"num_scheduled_tokens": [["B", 31], ["A", 99]]}]}
    open_page(page, f"/?s={encode_link({**wrong, 'start_step': 0})}")
    expect(count(page, "A", 0)).to_have_attribute("aria-invalid", "true")
    expect(count(page, "A", 0)).to_have_value("99")


@pytest.mark.parametrize("name", ["two-groups-drafts-padding-preemption", "names like numbers, in an order of their own"])
def test_an_old_link_opens(page: Page, name: str) -> None:
    entries = [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").split("\n") if line]
    (entry, *_) = [entry for entry in entries if entry["name"] == name and entry["by"] == "server"]
    open_page(page, f"/?s={entry['link']}&step=0&stage=batch")
    expect(page.locator("[data-notice]")).to_have_count(0)
    expect(title(page)).to_have_text(entry["scenario"]["title"] or "Untitled scenario")
    expect(page.locator('[data-cell="idx_mapping.0"]').first).to_be_visible()


def test_a_short_link_is_pasted_like_any_other(page: Page) -> None:
    made = page.request.post("/api/links", data=MINE).json()
    open_page(page, f"/?s={LINK[:-1]}")
    field = page.get_by_label("Paste the link again")
    field.fill(f"{made['url']}?step=0&stage=flatten")
    field.press("Enter")
    expect(title(page)).to_have_text("Mine 我的")
    page.wait_for_url(f"**/s/{made['id']}?step=0&stage=flatten")
    page.go_back()
    expect(page.locator("[data-notice=link]")).to_be_visible()
