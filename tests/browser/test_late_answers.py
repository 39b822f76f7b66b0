"""Answers that come late, not at all or damaged: the newest wish wins, and what is open stays until the next is there."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.scenarios import choose_example
from tests.browser.stages import stages_of

MANY_STEPS: dict[str, Any] = {
    "version": 1,
    "title": "Many steps",
    "requests": [{"req_id": "B", "prompt_len": 31}],
    "steps": [{"num_scheduled_tokens": [["B", 31]]}] + [{"num_scheduled_tokens": [["B", 1]]} for _ in range(30)],
}
TRACE = "**/api/trace*"
fails_to_load = pytest.mark.console("Failed to load resource")


def open_page(page: Page, path: str = "/") -> None:
    page.goto(path)
    expect(page.locator("[data-workbench][data-ready]:not([data-busy])")).to_be_visible()


def keep_drafts(page: Page, text: str) -> None:
    page.add_init_script(
        f"if (!localStorage.getItem('pagewalk.drafts')) localStorage.setItem('pagewalk.drafts', {json.dumps(text)})"
    )


def open_many_steps(page: Page, query: str = "") -> None:
    keep_drafts(page, json.dumps([{"id": "many", "saved": 1, "title": "Many steps", "scenario": MANY_STEPS}]))
    open_page(page, f"/?draft=many{query}")


def count(page: Page, req_id: str, step: int) -> Any:
    return page.get_by_role("textbox", name=f"{req_id}, step {step}: tokens scheduled")


def hold(page: Page, url: str) -> list[Route]:
    """Keeps requests back until they are continued or no longer routed; they gather in the list."""
    held: list[Route] = []
    page.route(url, lambda route: held.append(route))
    return held


def title(page: Page) -> Any:
    return page.locator("[data-title]").first


def test_an_edit_is_not_lost_when_the_step_changes_before_its_answer(page: Page) -> None:
    open_many_steps(page, "&step=0")
    hold(page, TRACE)
    with page.expect_request(TRACE):
        count(page, "B", 0).fill("99")
        count(page, "B", 0).press("Enter")
    expect(page.locator("[data-workbench][data-pending][data-busy]")).to_be_visible()
    page.locator('[data-go-step="9"]').click()
    page.unroute(TRACE)  # lets go of what is held
    expect(page.locator("[data-workbench]")).to_have_attribute("data-step", "9")
    expect(page.locator("[data-workbench][data-stale]:not([data-pending])")).to_be_visible()
    expect(count(page, "B", 0)).to_have_attribute("aria-invalid", "true")
    expect(count(page, "B", 0)).to_have_value("99")


def test_held_keys_count_every_press_and_fetch_only_where_they_end(page: Page) -> None:
    open_many_steps(page, "&step=0")
    held = hold(page, TRACE)
    page.get_by_role("button", name="Schedule").first.focus()
    with page.expect_request(TRACE):
        for _ in range(20):
            page.keyboard.press("Shift+ArrowRight")
    page.unroute(TRACE)  # lets go of what is held
    expect(page.locator("[data-workbench]")).to_have_attribute("data-step", "20")
    assert len(held) <= 3, [route.request.url for route in held]


def test_of_two_examples_the_one_chosen_last_is_opened(page: Page) -> None:
    open_page(page)
    slow = "**/api/examples/a-row-is-recycled*"
    held = hold(page, slow)
    with page.expect_request(slow):
        choose_example(page, "a-row-is-recycled")
    choose_example(page, "chunked-prefill-and-a-new-block")
    page.wait_for_url("**/?example=chunked-prefill-and-a-new-block*")
    shown = "Chunked prefill beside two decodes"
    expect(title(page)).to_have_text(shown)  # the address changes before the page is drawn
    with page.expect_response(slow) as late:
        held[0].continue_()
    late.value.finished()
    page.keyboard.press("End")  # drawn after whatever the late answer did
    expect(page.locator("[data-workbench]")).to_have_attribute("data-stage", stages_of(page).last)
    expect(title(page)).to_have_text(shown)
    assert "chunked-prefill" in page.url


@fails_to_load
def test_going_back_without_a_server_keeps_the_board_and_can_be_tried_again(page: Page) -> None:
    open_many_steps(page)
    choose_example(page, "a-row-is-recycled")
    page.wait_for_url("**/?example=a-row-is-recycled*")
    shown = "A row is recycled"
    expect(title(page)).to_have_text(shown)  # the address changes before the page is drawn
    page.route("**/api/**", lambda route: route.abort())
    page.go_back()
    notice = page.locator("[data-notice=offline]")
    expect(notice).to_contain_text("could not be opened")
    expect(title(page)).to_have_text(shown)
    expect(page.locator('pw-board [data-stage="state-pool"]')).to_be_visible()
    assert "draft=many" in page.url
    page.unroute("**/api/**")
    notice.get_by_role("button", name="Try again").click()
    expect(title(page)).to_have_text("Many steps")
    expect(notice).to_have_count(0)


@fails_to_load
def test_without_a_server_from_the_start_the_schedule_is_there_and_it_can_be_tried_again(page: Page) -> None:
    page.route("**/api/**", lambda route: route.abort())
    page.goto("/")
    notice = page.locator("[data-notice=offline]")
    expect(notice).to_contain_text("nothing could be computed")
    expect(count(page, "A", 1)).to_have_value("8")
    page.unroute("**/api/**")
    notice.get_by_role("button", name="Try again").click()
    expect(page.locator('[data-cell="slot_mappings.0.0"]').first).to_be_visible()


@fails_to_load
@pytest.mark.parametrize(("status", "body"), [(200, "{}"), (200, "null"), (500, "<html>oops</html>")])
def test_a_server_that_fails_is_not_the_fault_of_the_edit(page: Page, status: int, body: str) -> None:
    open_page(page)
    page.route(TRACE, lambda route: route.fulfill(status=status, body=body))
    count(page, "A", 1).fill("5")
    count(page, "A", 1).press("Enter")
    expect(page.locator("[data-notice=offline]")).to_contain_text("The server failed; your change is not to blame")
    expect(page.locator("[data-workbench][data-stale]:not([data-busy])")).to_be_visible()
    expect(page.locator("[aria-invalid=true]")).to_have_count(0)
    page.unroute(TRACE)
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("[data-workbench]:not([data-stale])")).to_be_visible()


def test_a_damaged_draft_is_said_once_and_opens_nothing(page: Page) -> None:
    damaged = {"id": "bad", "saved": 1, "title": "", "scenario": {**MANY_STEPS, "steps": [None]}}
    keep_drafts(page, json.dumps([damaged, {"id": "many", "saved": 1, "title": "", "scenario": MANY_STEPS}]))
    open_page(page, "/?draft=bad")
    expect(page.locator("[data-notice=lost]")).to_contain_text("damaged")
    expect(page.locator('[data-cell="slot_mappings.0.0"]').first).to_be_visible()
    open_page(page, "/?draft=many")
    expect(title(page)).to_have_text("Many steps")
    expect(page.locator("[data-notice]")).to_have_count(0)


def test_what_another_tab_does_to_the_draft_is_said(page: Page) -> None:
    open_many_steps(page)
    other = page.context.new_page()
    open_page(other, "/?draft=many&step=1")
    count(other, "B", 0).fill("16")
    count(other, "B", 0).press("Enter")
    notice = page.locator("[data-notice=elsewhere]")
    notice.get_by_role("button", name="Open the newer one").click()
    expect(count(page, "B", 0)).to_have_value("16")
    expect(notice).to_have_count(0)


def place(locator: Any) -> float:
    """Where it is in the window; after two frames, in which whatever wants to move it has moved it."""
    top: float = locator.evaluate(
        """element => new Promise(requestAnimationFrame).then(() => new Promise(requestAnimationFrame))
            .then(() => element.getBoundingClientRect().top)"""
    )
    return top


@fails_to_load
def test_nothing_moves_between_the_press_and_the_release_of_a_button(page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 420})
    open_page(page)
    expect(page.locator("[data-inspected]")).to_have_count(1)  # a cell is pinned, below what is in sight
    page.context.route(TRACE, lambda route: route.abort())
    count(page, "A", 1).fill("5")
    count(page, "A", 1).press("Enter")
    again = page.locator("[data-notice=offline]").get_by_role("button", name="Try again")
    expect(again).to_be_visible()
    page.evaluate("scrollTo(0, 0)")
    before = place(again)
    again.hover()
    page.mouse.down()  # the keyboard leaves the cell
    assert place(again) == before
    page.context.unroute(TRACE)
    page.mouse.up()
    expect(page.locator("[data-notice=offline]")).to_have_count(0)
    expect(page.locator("[data-workbench]:not([data-stale])")).to_be_visible()


def test_an_answer_waits_for_the_release_of_what_is_pressed(page: Page) -> None:
    open_page(page)
    held = hold(page, TRACE)
    with page.expect_request(TRACE):
        count(page, "A", 1).fill("40")
        count(page, "A", 1).press("Enter")
    undo = page.get_by_role("button", name="Undo")
    undo.hover()
    page.mouse.down()
    with page.expect_response(TRACE) as refused:
        held[0].continue_()
    refused.value.finished()
    place(undo)
    expect(page.locator("pw-schedule .fault")).to_have_count(0)  # not yet: the button would be another one's place
    page.unroute(TRACE)
    page.mouse.up()
    expect(count(page, "A", 1)).to_have_value("8")

    # Released elsewhere, nothing is clicked, and what waited is drawn.
    held = hold(page, TRACE)
    with page.expect_request(TRACE):
        count(page, "A", 1).fill("40")
        count(page, "A", 1).press("Enter")
    undo.hover()
    page.mouse.down()
    with page.expect_response(TRACE) as refused:
        held[0].continue_()
    refused.value.finished()
    page.mouse.move(700, 5)
    page.mouse.up()
    expect(page.locator("pw-schedule .fault")).to_have_count(1)
    expect(count(page, "A", 1)).to_have_value("40")


@fails_to_load
def test_every_failure_has_its_own_way_to_try_again(page: Page) -> None:
    open_page(page)
    page.route("**/api/**", lambda route: route.abort())
    count(page, "A", 1).fill("5")
    count(page, "A", 1).press("Enter")
    trace, glossary = page.locator("[data-notice=offline]"), page.locator("[data-notice=glossary]")
    expect(trace).to_be_visible()
    page.get_by_role("button", name="Glossary").click()
    expect(glossary).to_contain_text("the glossary could not be fetched")
    expect(trace.get_by_role("button", name="Try again")).to_be_visible()
    page.unroute("**/api/**")
    trace.get_by_role("button", name="Try again").click()
    expect(trace).to_have_count(0)
    expect(page.locator("[data-workbench]:not([data-stale])")).to_be_visible()
    glossary.get_by_role("button", name="Try again").click()
    expect(page.locator("dialog.glossary[open]")).to_be_visible()
    expect(glossary).to_have_count(0)
