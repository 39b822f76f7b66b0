"""A schedule of one's own: made, broken, repaired, taken back and found again, all by keyboard; blocks of cells; details."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import NewPage
from tests.browser.test_schedule_entry import cell, field, open_draft, open_page

EDGE_STEP = 'pw-schedule .plan [data-edit="add-step"]'
EDGE_REQUEST = 'pw-schedule .plan [data-edit="add-request"]'


def grid(page: Page) -> list[list[str]]:
    """What the cells hold, a list for each request."""
    cells: list[list[str]] = page.locator("pw-schedule .plan tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.querySelectorAll('input[data-step]')].map(input => input.value))"
    )
    return cells


def kinds(page: Page) -> list[list[str | None]]:
    found: list[list[str | None]] = page.locator("pw-schedule .plan tbody tr").evaluate_all(
        """rows => rows.map(row =>
            [...row.querySelectorAll('td[data-where]')].map(cell => cell.dataset.kind ?? cell.dataset.mark ?? null))"""
    )
    return found


def expect_settled(page: Page) -> None:
    expect(page.locator("[data-workbench][data-ready]:not([data-stale])")).to_be_visible()


def expect_grid(page: Page, cells: list[list[str]]) -> None:
    for row, line in enumerate(cells):
        for column, text in enumerate(line):
            expect(page.locator(f'pw-schedule input[data-row="{row}"][data-step="{column}"]')).to_have_value(text)
    assert grid(page) == cells


def type_row(page: Page, entries: list[str]) -> None:
    """Types along a row; the last cell leads to the edge, where typing goes on in one more step."""
    for entry in entries:
        page.keyboard.type(entry)
        page.keyboard.press("Tab")


def add_request(page: Page, first: str) -> None:
    """From "+ step" back into the grid, and down from the last row: typing goes on in one more request."""
    expect(page.locator(EDGE_STEP)).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("pw-schedule input[data-step]:focus")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    expect(page.locator(EDGE_REQUEST)).to_be_focused()
    page.keyboard.type(first)
    page.keyboard.press("Tab")


BUILT = [["10", "6", "1", "1"], ["8", "8", "preempt", "17"], ["16", "1", "1", "finish"]]
KINDS = [
    ["prefill", "prefill_end", "decode", "decode"],
    ["prefill", "prefill_end", "preempt", "prefill_end"],  # 16 of its prompt and 1 that it had sampled
    ["prefill_end", "decode", "decode", "finish"],
]


def test_three_requests_by_keyboard_alone_broken_repaired_taken_back_and_found_again(page: Page) -> None:
    open_page(page)
    page.get_by_role("button", name="New").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Add the first request")).to_be_focused()
    page.keyboard.press("Enter")
    expect(field(page, "A", 0)).to_be_focused()
    type_row(page, ["10", "6", "1", "1"])
    expect(page.locator(EDGE_STEP)).to_be_focused()
    add_request(page, "8")
    expect(field(page, "B", 1)).to_be_focused()
    type_row(page, ["8", "p", "17"])
    add_request(page, "16")
    type_row(page, ["1", "1", "f"])
    expect_grid(page, BUILT)
    expect_settled(page)
    expect(page.locator("pw-schedule .fault")).to_have_count(0)
    assert kinds(page) == KINDS

    # To the start and back, one action at a time; the keyboard is where something changed.
    undo = page.get_by_role("button", name="Undo")
    for _ in range(40):
        if undo.get_attribute("aria-disabled"):
            break
        page.keyboard.press("Control+z")
        page.evaluate("() => new Promise(requestAnimationFrame)")
    expect(page.locator("[data-empty-scenario]")).to_be_visible()
    redo = page.get_by_role("button", name="Redo")
    for _ in range(40):
        if redo.get_attribute("aria-disabled"):
            break
        page.keyboard.press("Control+y")
        page.evaluate("() => new Promise(requestAnimationFrame)")
    expect_grid(page, BUILT)
    expect(field(page, "C", 3)).to_be_focused()

    page.reload()
    expect_settled(page)
    expect_grid(page, BUILT)

    # Two counts that cannot be, each said at its cell; the suggestions make them right.
    field(page, "A", 2).focus()
    page.keyboard.type("9")
    page.keyboard.press("Enter")
    expect(field(page, "B", 2)).to_be_focused()  # a spreadsheet goes on downwards
    field(page, "C", 1).focus()
    page.keyboard.type("40")
    page.keyboard.press("Shift+Enter")
    expect(page.locator('pw-schedule input[aria-invalid="true"]')).to_have_count(2)
    page.keyboard.press("F8")
    expect(field(page, "C", 1)).to_be_focused()
    expect(page.locator("pw-schedule .fault").first).to_contain_text("exactly 1 token a step, not 40")
    page.keyboard.press("F8")
    expect(field(page, "A", 2)).to_be_focused()
    expect(page.locator("pw-schedule .fault").first).to_contain_text("exactly 1 token a step, not 9")
    page.get_by_role("button", name="Use 1").click()
    expect(page.locator('pw-schedule input[aria-invalid="true"]')).to_have_count(1)
    page.get_by_role("button", name="Use 1").click()
    expect(page.locator("pw-schedule .fault")).to_have_count(0)
    expect_settled(page)
    expect_grid(page, BUILT)


@pytest.fixture
def with_clipboard(new_page: NewPage) -> Page:
    return new_page(permissions=["clipboard-read", "clipboard-write"])


def test_blocks_of_cells_go_to_a_spreadsheet_and_come_back(with_clipboard: Page) -> None:
    page = with_clipboard
    open_page(page)
    field(page, "B", 0).focus()
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Shift+ArrowRight")
    expect(page.locator("pw-schedule td[data-selected]")).to_have_count(4)
    expect(page.locator("pw-schedule [role=status]")).to_have_text(
        "Selected: 2 requests × 2 steps, 56 tokens"
    )  # 31 + 1 + 16 + 8
    page.keyboard.press("Control+c")
    expect(page.locator("pw-schedule [role=status]")).to_contain_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == "31\t1\n16\t8"
    # Words of either language, and a block that needs a step and a request more.
    page.evaluate("navigator.clipboard.writeText('8\\t1\\r\\n12\\t结束\\r\\n')")
    field(page, "A", 1).focus()
    page.keyboard.press("Control+v")
    expect_grid(page, [["31", "1", ""], ["16", "8", "1"], ["", "12", "finish"]])
    expect(page.locator("pw-schedule [role=status]")).to_have_text("Pasted: 2 requests × 2 steps.")
    page.keyboard.press("Delete")  # the pasted block is selected
    expect_grid(page, [["31", "1", ""], ["16", "", ""], ["", "", ""]])
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    expect_grid(page, [["31", "1"], ["16", "8"]])
    # While a text is edited the keys are the text's own.
    field(page, "A", 1).focus()
    page.keyboard.press("F2")
    page.keyboard.type("0")
    page.keyboard.press("Shift+Home")
    expect(page.locator("pw-schedule td[data-selected]")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(field(page, "A", 1)).to_have_value("8")


def test_menus_rename_copy_and_move_requests_and_steps(page: Page) -> None:
    open_page(page)
    page.get_by_role("button", name="Request A: rename").click()
    page.get_by_role("menuitem", name="Rename").click()
    page.keyboard.type("B")
    page.keyboard.press("Enter")
    expect(page.locator("pw-schedule [role=status]")).to_contain_text("called B already")
    page.locator('pw-schedule tr[data-req="A"] .called').dblclick()
    page.keyboard.type("chat")
    page.keyboard.press("Enter")
    expect(field(page, "chat", 1)).to_have_value("8")
    expect(page.locator("pw-board")).to_contain_text("chat")
    field(page, "chat", 1).focus()
    page.keyboard.press("Alt+ArrowDown")
    page.keyboard.press("Escape")
    page.keyboard.press("Alt+Shift+ArrowUp")
    expect(page.locator("pw-schedule .plan tbody tr").first).to_have_attribute("data-req", "chat")
    expect(field(page, "chat", 1)).to_be_focused()
    # The keyboard goes with what is moved, by its menu too; what was said of the name is over.
    expect(page.locator("pw-schedule [role=status]")).to_have_text("")
    page.get_by_role("button", name="Request chat: rename").click()
    page.get_by_role("menuitem", name="Move down").click()
    expect(page.locator("pw-schedule .plan tbody tr").last).to_have_attribute("data-req", "chat")
    expect(field(page, "chat", 1)).to_be_focused()
    page.keyboard.press("Alt+Shift+ArrowUp")
    expect(page.locator("pw-schedule .plan tbody tr").first).to_have_attribute("data-req", "chat")
    step_menu = page.get_by_role("button", name=re.compile("^Step 1: insert"))
    step_menu.click()
    page.get_by_role("menuitem", name="Insert a step after").click()
    expect(field(page, "chat", 2)).to_be_focused()
    page.keyboard.press("Alt+ArrowDown")
    page.get_by_role("menuitem", name="Run chat from here to the last step").click()
    expect(field(page, "chat", 2)).to_have_value("1")
    step_menu.click()
    page.get_by_role("menuitem", name="Decode: 1 token").click()
    expect_grid(page, [["16", "8", "1"], ["31", "1", "1"]])


def detail(page: Page, label: str) -> Locator:
    return page.locator("#schedule-details").get_by_label(label, exact=True)


def set_detail(page: Page, label: str, text: str) -> None:
    detail(page, label).fill(text)
    detail(page, label).press("Enter")


WITH_DRAFTS: dict[str, Any] = {
    "version": 1,
    "start_step": 1,
    "config": {"num_speculative_tokens": 2, "num_blocks": 64},
    "requests": [{"req_id": "A", "prompt_len": 20}, {"req_id": "B", "prompt_len": 12}],
    "steps": [{"num_scheduled_tokens": [["A", 20]]}, {"num_scheduled_tokens": [["A", 1], ["B", 12]]}],
}


def test_details_drafts_accepted_hit_blocks_and_order(page: Page) -> None:
    open_draft(page, WITH_DRAFTS)
    field(page, "A", 1).focus()
    page.keyboard.press("Alt+Enter")
    expect(detail(page, "Drafts")).to_be_focused()
    page.keyboard.type("2")
    page.keyboard.press("Enter")
    expect(field(page, "A", 1)).to_have_value("3")  # 1 + 2 drafts
    expect(cell(page, "A", 1)).to_have_attribute("data-kind", "decode_drafts")
    set_detail(page, "Accepted", "1")
    expect_settled(page)
    expect(detail(page, "Sampled")).to_have_value("2")  # the one accepted, and one more
    set_detail(page, "Accepted", "5")
    wrong = page.locator("#schedule-details .wrong")
    expect(wrong.first).to_contain_text("at most 1 + 2 = 3 can be")
    wrong.first.get_by_role("button").click()
    expect(detail(page, "Accepted")).to_have_value("2")
    detail(page, "Accepted").press("Escape")
    expect(field(page, "A", 1)).to_be_focused()

    # The panel follows the cell, on a phone as well. B is added here: it may come with a hit and with blocks of its own.
    page.set_viewport_size({"width": 390, "height": 900})
    field(page, "B", 1).focus()
    expect(detail(page, "New blocks")).to_have_attribute("placeholder", re.compile(r"^pool: \d+$"))
    set_detail(page, "Prefix-cache hit", "4")
    expect(page.locator("pw-schedule .fault")).to_contain_text([re.compile("8 left")])
    page.locator("#schedule-faults").get_by_role("button", name="Use 8").click()
    expect_settled(page)
    set_detail(page, "New blocks", "99")
    expect(wrong.first).to_contain_text("outside the pool")
    set_detail(page, "New blocks", "7")
    expect_settled(page)
    expect(page.locator("pw-board")).to_contain_text("7")
    page.locator("#schedule-details").get_by_role("button", name="B: earlier in the step").click()
    expect(page.locator("#schedule-details .order-list li").first).to_contain_text("B")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.keyboard.press("Control+z")
    expect(page.locator("#schedule-details .order-list li").first).to_contain_text("A")
