"""Typing: a field shows the draft, keeps what is being typed, and loses no key, however late the page draws or hears."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.scenarios import choose_example
from tests.browser.slowly import TRACE, no_answers, no_frames, slow_down
from tests.browser.test_editor import EDGE_STEP, detail, expect_grid, expect_settled, grid
from tests.browser.test_schedule_entry import field, open_draft, open_page

EMPTY: dict[str, Any] = {"version": 1, "requests": [], "steps": []}
ONE_ROW: dict[str, Any] = {
    "version": 1,
    "config": {"max_num_batched_tokens": 64},
    "requests": [{"req_id": "A", "prompt_len": 40}],
    "steps": [{"num_scheduled_tokens": [["A", 16]]}],
}
# B decodes, A prefills: 24 - 16 = 8 tokens are left of its prompt in step 1.
TWO_ROWS: dict[str, Any] = {
    "version": 1,
    "start_step": 1,
    "requests": [{"req_id": "B", "prompt_len": 31}, {"req_id": "A", "prompt_len": 24}, {"req_id": "C", "prompt_len": 14}],
    "steps": [
        {"num_scheduled_tokens": [["B", 31], ["A", 16]]},
        {"num_scheduled_tokens": [["B", 1], ["A", 8], ["C", 14]]},
        {},
    ],
}


def caret(field: Locator) -> tuple[int, int]:
    start, end = field.evaluate("input => [input.selectionStart, input.selectionEnd]")
    return start, end


def select_all(box: Locator) -> None:
    box.focus()
    expect(box).to_be_focused()


def test_a_field_shows_the_draft_whatever_was_typed_into_it(page: Page) -> None:
    open_draft(page, TWO_ROWS)
    box = field(page, "A", 1)
    select_all(box)
    page.keyboard.type("9")
    page.keyboard.press("Enter")
    page.keyboard.press("Control+z")
    expect(box).to_have_value("8")

    # The same number once more, in other digits: what is shown is the draft's.
    box.fill("008")
    page.keyboard.press("Enter")
    expect(box).to_have_value("8")

    # Into an empty cell, and the request moves on with it: one row has the 7.
    select_all(field(page, "A", 2))
    page.keyboard.type("7")
    page.keyboard.press("Alt+Shift+ArrowDown")
    expect_grid(page, [["31", "1", ""], ["", "14", ""], ["16", "8", "7"]])
    expect(field(page, "A", 2)).to_be_focused()
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    expect_grid(page, [["31", "1", ""], ["16", "8", ""], ["", "14", ""]])

    # Typed, and then back to the schedule that the board shows.
    expect_settled(page)
    select_all(box)
    page.keyboard.type("x")
    page.keyboard.press("Enter")
    page.keyboard.type("5")
    page.get_by_role("button", name="Undo this change").click()
    expect(box).to_have_value("8")


def test_every_field_of_the_page_shows_the_draft(page: Page) -> None:
    open_draft(page, TWO_ROWS)
    select_all(field(page, "C", 1))
    page.keyboard.press("Alt+Enter")
    initial = page.locator("[data-detail=initial]")
    initial.check()
    for label, text, shown in (("Prompt", "014", "14"), ("Name", "B", "C"), ("New blocks", "?", "?")):
        detail(page, label).fill(text)
        detail(page, label).press("Enter")
        expect(detail(page, label)).to_have_value(shown)
    page.get_by_role("button", name="Undo").click()
    expect(detail(page, "New blocks")).to_have_value("")
    page.get_by_role("button", name="Undo").click()
    expect(initial).not_to_be_checked()

    page.get_by_role("button", name="Config", exact=True).click()
    rows = page.locator("#field-config-max_num_reqs")
    rows.fill("0004")
    rows.press("Enter")
    expect(rows).to_have_value("4")
    page.locator("#config-title").focus()
    page.keyboard.press("Control+z")
    expect(rows).to_have_value("8")
    mode = page.locator("#field-config-cudagraph-mode")
    before = mode.input_value()
    mode.select_option("FULL")
    page.locator("#config-title").focus()
    page.keyboard.press("Control+z")
    expect(mode).to_have_value(before)


@pytest.mark.parametrize(
    ("keys", "cells", "shown"),
    [
        (["5", "Enter", "7"], [["31", "1", ""], ["16", "8", ""], ["", "7", ""]], "7"),
        (["2", "Enter", "ArrowUp", "3"], [["31", "1", ""], ["16", "3", ""], ["", "2", ""]], "3"),
        (["Delete", "4"], [["31", "1", ""], ["16", "8", ""], ["", "4", ""]], "4"),
    ],
)
def test_what_is_being_typed_survives_the_draws_of_the_keys_before(
    page: Page, keys: list[str], cells: list[list[str]], shown: str
) -> None:
    open_draft(page, TWO_ROWS)
    expect_settled(page)
    select_all(field(page, "C", 1))
    with no_answers(page), page.expect_request(TRACE):
        with no_frames(page):
            for key in keys:
                page.keyboard.press(key)
        typed = page.locator("pw-schedule input:focus")
        expect(typed).to_have_value(shown)  # after the draws of all keys
        assert caret(typed) == (1, 1)
    expect_settled(page)  # and after their answers
    expect(typed).to_have_value(shown)
    assert caret(typed) == (1, 1)
    page.keyboard.press("Enter")
    expect_grid(page, cells)


def test_the_caret_stays_inside_a_word_that_is_being_typed(page: Page) -> None:
    open_draft(page, TWO_ROWS)
    expect_settled(page)
    title = page.locator("pw-title input")
    with no_answers(page), page.expect_request(TRACE):
        select_all(field(page, "C", 1))
        page.keyboard.type("9")
        page.locator("pw-title > button").click()  # takes the 9 on its way
        expect(title).to_be_focused()
        page.keyboard.type("abcd")
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowLeft")
    expect_settled(page)
    assert caret(title) == (2, 2)
    page.keyboard.type("x")
    page.keyboard.press("Enter")
    expect(page.locator("[data-title]").first).to_have_text("abxcd")


def test_no_key_is_lost_at_the_edges_of_the_grid(page: Page) -> None:
    open_draft(page, EMPTY)
    first = page.get_by_role("button", name="Add the first request")
    first.focus()
    with no_answers(page):
        with no_frames(page):
            for key in ("1", "2", "Tab", "7", "Tab", "9", "Tab"):
                page.keyboard.press(key)
        expect_grid(page, [["12", "7", "9"]])
        expect(page.locator(EDGE_STEP)).to_be_focused()
        with no_frames(page):
            for key in ("ArrowLeft", "ArrowDown", "5", "Enter", "6", "Tab"):
                page.keyboard.press(key)
    expect_grid(page, [["12", "7", "9"], ["6", "", ""]])


def test_a_slow_machine_gets_the_same_schedule(page: Page) -> None:
    open_draft(page, EMPTY)
    slow_down(page, 20)
    page.get_by_role("button", name="Add the first request").press("Enter")
    for key in ["12", "Tab", "7", "Tab", "9", "Tab", "ArrowLeft", "ArrowDown", "8", "Tab"]:
        page.keyboard.type(key) if key.isdigit() else page.keyboard.press(key)
    slow_down(page, 1)
    expect_grid(page, [["12", "7", "9"], ["8", "", ""]])


def test_a_repair_is_of_the_schedule_that_was_refused(page: Page) -> None:
    open_draft(page, TWO_ROWS)
    expect_settled(page)
    field(page, "A", 1).fill("10")
    field(page, "A", 1).press("Enter")
    use = page.locator("#schedule-faults").get_by_role("button", name="Use 8")
    expect(use).to_be_visible()
    with no_answers(page):
        # B goes out of the step: A is the first of it now, and what was the second is C.
        select_all(field(page, "B", 1))
        page.keyboard.press("Delete")
        expect(use).to_have_count(0)
        page.keyboard.press("Control+z")
        expect(use).to_be_visible()  # it is of this schedule again
        # An edit of another step leaves it what it was.
        select_all(field(page, "B", 0))
        page.keyboard.type("30")
        page.keyboard.press("Enter")
        use.click()
        expect_grid(page, [["30", "1", ""], ["16", "8", ""], ["", "14", ""]])


def test_two_presses_within_a_frame_count_twice(page: Page) -> None:
    open_draft(page, TWO_ROWS)
    expect_settled(page)
    select_all(field(page, "A", 0))
    with no_frames(page):
        page.keyboard.press("Alt+Shift+ArrowRight")
        page.keyboard.press("Alt+Shift+ArrowRight")
    # The step with A's 16 is the last one now.
    expect_grid(page, [["1", "", "31"], ["8", "", "16"], ["14", "", ""]])
    expect(field(page, "A", 2)).to_be_focused()

    open_page(page, "/?stage=slot-mapping&pin=slot_mappings.0.0")
    on = page.locator("[data-element-next]").first
    on.scroll_into_view_if_needed()
    with no_frames(page):
        on.dispatch_event("click")
        on.dispatch_event("click")
    expect(page).to_have_url(re.compile(r"pin=slot_mappings\.0\.2"))

    open_page(page, "/?example=two-groups-drafts-padding-preemption&step=0")
    page.get_by_role("button", name="Charts").click()
    plot = page.locator("[data-plot=tokens]")
    expect(plot.locator(".nsewdrag").first).to_be_attached()
    plot.focus()
    with no_frames(page):
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
    expect(page.locator("[data-workbench]")).to_have_attribute("data-step", "2")


def test_a_key_typed_at_an_edge_is_taken_by_whoever_clicks_elsewhere(page: Page) -> None:
    open_page(page)
    page.get_by_role("button", name="New", exact=True).click()
    expect(page.get_by_role("button", name="Add the first request")).to_be_focused()
    for edge, key, elsewhere, cells in (
        (None, "7", 'pw-rail [data-go-stage="flatten"]', [["7"]]),
        ("add-step", "1", 'pw-schedule input[data-row="0"][data-step="0"]', [["7", "1"]]),
        ("add-step", "2", "[data-next]", [["7", "1", "2"]]),
        ("add-request", "5", 'pw-rail [data-go-stage="batch"]', [["7", "1", "2"], ["5", "", ""]]),
    ):
        if edge:
            page.locator(f'pw-schedule .plan [data-edit="{edge}"]').focus()
        page.keyboard.press(key)
        expect(page.locator("pw-schedule input[data-step]:focus")).to_have_value(key)
        page.locator(elsewhere).click()
        expect_settled(page)
        expect_grid(page, cells)
    page.reload()  # so it is in the draft
    expect_grid(page, [["7", "1", "2"], ["5", "", ""]])


# Keys, and the browser's own menu: a key that no script hears does what the menu does.
UNDO_BY_MENU = """() => window.addEventListener('keydown', (event) => {
  if (event.ctrlKey) event.stopImmediatePropagation();
}, { capture: true })"""


@pytest.mark.parametrize("by_menu", [False, True])
def test_undo_takes_back_what_is_being_typed_and_then_the_last_edit_of_the_draft(page: Page, by_menu: bool) -> None:
    open_draft(page, TWO_ROWS)
    expect_settled(page)
    if by_menu:
        page.evaluate(UNDO_BY_MENU)
    for column, text in ((1, "7"), (0, "93")):
        field(page, "A", column).click()
        page.keyboard.type(text)
    page.keyboard.press("Control+z")
    expect_grid(page, [["31", "1", ""], ["16", "7", ""], ["", "14", ""]])
    if not by_menu:  # which has nothing to redo: it was not the browser that took it back
        page.keyboard.press("Control+Shift+z")
        expect_grid(page, [["31", "1", ""], ["93", "7", ""], ["", "14", ""]])
        page.keyboard.press("Control+z")
    expect(page.get_by_role("button", name="Redo")).to_be_disabled()  # nothing of the draft was taken back yet
    page.keyboard.press("Control+z")
    expect_grid(page, [["31", "1", ""], ["16", "8", ""], ["", "14", ""]])
    expect(field(page, "A", 1)).to_be_focused()
    expect(page.get_by_role("button", name="Undo", exact=True)).to_be_disabled()
    page.keyboard.press("Tab")  # what the cell shows is the draft's
    expect_grid(page, [["31", "1", ""], ["16", "8", ""], ["", "14", ""]])
    expect(page.get_by_role("button", name="Undo", exact=True)).to_be_disabled()
    page.get_by_role("button", name="Redo", exact=True).click()
    expect_grid(page, [["31", "1", ""], ["16", "7", ""], ["", "14", ""]])


def test_undo_behind_a_key_typed_at_an_edge_takes_the_request_back(page: Page) -> None:
    open_draft(page, ONE_ROW)
    page.locator(EDGE_STEP.replace("add-step", "add-request")).focus()
    page.keyboard.press("8")
    expect_grid(page, [["16"], ["8"]])
    page.keyboard.press("Control+z")
    expect_grid(page, [["16"], ["16"]])  # what a new request runs
    page.keyboard.press("Control+z")
    expect_grid(page, [["16"]])
    page.keyboard.press("Enter")
    expect_grid(page, [["16"]])
    expect(page.get_by_role("button", name="Undo", exact=True)).to_be_disabled()


def test_a_long_text_is_taken_back_a_run_of_keys_at_a_time(page: Page) -> None:
    open_draft(page, TWO_ROWS)
    page.locator("pw-title > button").click()
    title = page.locator("pw-title input")
    page.keyboard.type("abcd")
    page.keyboard.press("ArrowLeft")
    page.keyboard.type("xy")
    page.keyboard.press("Backspace")
    expect(title).to_have_value("abcxd")
    for shown, at in (("abcxyd", 5), ("abcd", 3), ("", 0)):
        page.keyboard.press("Control+z")
        expect(title).to_have_value(shown)
        assert caret(title) == (at, at)
    for shown in ("abcd", "abcxyd"):
        page.keyboard.press("Control+y")
        expect(title).to_have_value(shown)
    # What undo has written is typed: whoever leaves the field takes it.
    page.locator("pw-title textarea").click()
    expect(page.locator("[data-title]").first).to_have_text("abcxyd")
    # In a field that is no draft's, undo is of the text that was typed there.
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    page.keyboard.type("207")
    page.keyboard.press("Control+z")
    expect(page.get_by_role("combobox")).to_have_value("")
    expect(page.locator("pw-find [role=option]").first).to_be_visible()
    page.keyboard.press("Control+z")
    page.keyboard.press("Escape")
    expect(page.locator("[data-title]").first).to_have_text("abcxyd")


@pytest.mark.parametrize("start", ["/", "/?draft=test"])
def test_a_reload_in_the_middle_of_typing_shows_what_was_typed(page: Page, start: str) -> None:
    open_draft(page, {**TWO_ROWS, "title": "Mine"})
    open_page(page, start)
    row = page.locator('pw-schedule input[data-row="1"][data-step="1"]')
    expect(row).to_have_value("8")
    expect_settled(page)
    row.focus()
    page.keyboard.type("5")
    page.reload()
    expect_settled(page)
    expect(row).to_have_value("5")
    expect(page.locator("[data-notice]")).to_have_count(0)
    expect(page).to_have_url(re.compile("draft="))

    # The same in the other fields.
    page.locator("pw-title > button").click()
    page.locator("pw-title input").fill("Halfway")
    page.reload()
    expect(page.locator("[data-title]").first).to_have_text("Halfway")
    page.get_by_role("button", name="Config", exact=True).click()
    page.locator("#field-config-max_num_reqs").fill("5")
    page.reload()
    page.get_by_role("button", name="Config", exact=True).click()
    expect(page.locator("#field-config-max_num_reqs")).to_have_value("5")


@pytest.mark.parametrize("keys", [["6"], ["6", "Enter"]])
def test_what_was_typed_when_the_history_was_travelled_is_there_on_return(page: Page, keys: list[str]) -> None:
    def type_6_and_travel(row: int, step: int, by: int) -> None:
        select_all(page.locator(f'pw-schedule input[data-row="{row}"][data-step="{step}"]'))
        with no_frames(page):
            for key in keys:
                page.keyboard.press(key)
            page.evaluate("by => history.go(by)", by)

    # A draft: its link in the address is that of before.
    open_draft(page, TWO_ROWS)
    choose_example(page, "a-prefix-hit")
    expect(page).to_have_url(re.compile("example=a-prefix-hit"))
    page.go_back()
    expect(field(page, "A", 1)).to_have_value("8")
    expect_settled(page)
    type_6_and_travel(1, 1, 1)
    expect(page).to_have_url(re.compile("example=a-prefix-hit"))
    expect_settled(page)
    page.go_back()
    expect(field(page, "A", 1)).to_have_value("6")
    expect(page).to_have_url(re.compile("s=.*draft=test"))
    expect(page.locator("[data-notice]")).to_have_count(0)

    # An example: of the draft that is made of it no address tells.
    page.go_forward()
    expect(page).to_have_url(re.compile("example=a-prefix-hit"))
    expect_settled(page)
    box = page.locator('pw-schedule input[data-row="1"][data-step="0"]')
    expect(box).to_have_value("8")
    type_6_and_travel(1, 0, -1)
    expect(page).to_have_url(re.compile("draft=test"))
    expect_settled(page)
    page.go_forward()
    expect(page).not_to_have_url(re.compile("draft=test"))
    expect(page).to_have_url(re.compile("draft="))
    expect(box).to_have_value("6")
    expect(page.locator("[data-notice]")).to_have_count(0)
    page.go_back()
    expect(page).to_have_url(re.compile("draft=test"))
    expect(field(page, "A", 1)).to_have_value("6")


def test_the_order_of_a_step_is_said_in_its_cells_and_put_right(page: Page) -> None:
    open_draft(page, TWO_ROWS)
    marks = page.locator("pw-schedule .plan td .order")
    expect(marks).to_have_count(0)
    # C first, then B: they are scheduled in that order, against that of the rows.
    for req_id, text in (("C", "1"), ("B", "1")):
        field(page, req_id, 2).fill(text)
        field(page, req_id, 2).press("Enter")
    expect(marks).to_have_text(["2.", "1."])  # B is above C
    expect(page.locator('pw-schedule td:has(input[data-req="B"][data-step="2"])')).to_have_attribute(
        "title", re.compile("in the step’s own order: place 2 of 2")
    )
    page.get_by_role("button", name=re.compile("^Step 2: insert")).click()
    page.get_by_role("menuitem", name="Put this step in the order of the rows").click()
    expect(marks).to_have_count(0)
    assert grid(page)[0] == ["31", "1", "1"]
    select_all(field(page, "B", 2))
    page.keyboard.press("Alt+Enter")
    expect(page.locator("#schedule-details .order-list .one")).to_have_text(["B", "C"])
    page.get_by_role("button", name="C: earlier in the step").click()
    expect(marks).to_have_text(["2.", "1."])
    page.locator("[data-order-rows]").click()
    expect(page.locator("#schedule-details .order-list .one")).to_have_text(["B", "C"])


def test_a_long_name_that_the_draft_has_no_longer_leaves_the_board_its_room(page: Page) -> None:
    name = "r" * 128
    open_draft(page, json.loads(json.dumps(TWO_ROWS).replace('"B"', f'"{name}"')))
    open_page(page, "/?draft=test&step=1&stage=batch")
    field(page, "A", 1).fill("x")
    field(page, "A", 1).press("Enter")
    page.locator("[data-request-menu='0']").click()
    page.get_by_role("menuitem", name="Rename").click()
    page.locator("[data-rename]").fill("Z")
    page.locator("[data-rename]").press("Enter")
    expect(page.locator("pw-schedule tr[data-req=Z]")).to_be_visible()
    batch = page.locator(".panel.now pw-rows")
    tag = batch.locator("[data-index='0'] td.req")
    expect(tag).to_have_text(f"r…{name}")
    expect(tag.locator(".tag-name")).to_have_attribute("title", name)
    table, cell = batch.bounding_box(), batch.locator("[data-cell='idx_mapping.0']").bounding_box()
    assert table and cell
    assert cell["x"] + cell["width"] < table["x"] + table["width"]
