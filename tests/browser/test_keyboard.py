"""The page by keyboard alone, and what it announces and writes into the address on the way."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.scenarios import choose_example
from tests.browser.stages import stages_of


def open_page(page: Page, path: str = "/") -> None:
    page.goto(path)
    expect(page.locator("[data-workbench][data-ready]")).to_be_visible()


def place(page: Page) -> tuple[str | None, str | None]:
    bench = page.locator("[data-workbench]")
    return bench.get_attribute("data-step"), bench.get_attribute("data-stage")


def expect_place(page: Page, step: int, stage: str) -> None:
    expect(page.locator("[data-workbench]")).to_have_attribute("data-stage", stage)
    expect(page.locator("[data-workbench]")).to_have_attribute("data-step", str(step))


def focus_by_tab(page: Page, selector: str, most: int = 120) -> None:
    """Presses Tab until the focus is on an element that matches."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement?.matches(selector) ?? false", selector):
            return
    raise AssertionError(f"Tab does not reach {selector}")


def test_arrows_walk_the_stages_and_run_on_into_the_next_step(page: Page) -> None:
    stages = stages_of(page)
    open_page(page, f"/?step=0&stage={stages.before(stages.last)}")
    page.keyboard.press("ArrowRight")
    expect_place(page, 0, stages.last)
    page.keyboard.press("ArrowRight")
    expect_place(page, 1, stages.first)
    expect(page).to_have_url(re.compile(rf"step=1&stage={stages.first}"))
    page.keyboard.press("ArrowLeft")
    expect_place(page, 0, stages.last)
    page.keyboard.press("Shift+ArrowRight")
    expect_place(page, 1, stages.last)
    page.keyboard.press("Home")
    expect_place(page, 0, stages.first)
    page.keyboard.press("ArrowLeft")
    expect_place(page, 0, stages.first)
    page.keyboard.press("End")
    expect_place(page, 1, stages.last)


def test_each_stage_is_announced_in_one_sentence(page: Page) -> None:
    stages = stages_of(page)
    open_page(page, f"/?step=1&stage={stages.before('batch')}")
    live = page.locator("[data-live]")
    page.keyboard.press("ArrowRight")
    expect(live).to_have_text("Step 1, Batch: B is row 0, A is row 1")
    for _ in range(stages.between("batch", "slot-mapping")):
        page.keyboard.press("ArrowRight")
    expect(live).to_have_text("Step 1, Slot mapping: 9 slots to write: 207, 704–711")


def test_from_a_request_to_its_slot_and_back(page: Page) -> None:
    """Tab into the pool table, pin B's row, follow the numbers to slot 207, then the walk back to the row."""
    open_page(page, "/?stage=slot-mapping")
    inspected = page.locator("[data-inspected]")
    focus_by_tab(page, '[data-stage="state-pool"] [data-cell]')
    page.keyboard.press("Home")
    expect(inspected).to_have_attribute("data-inspected", "row_req_ids.7")
    expect(page.locator("[data-value]")).to_have_text("B")
    page.keyboard.press("ArrowRight")
    expect(inspected).to_have_attribute("data-inspected", "num_computed_tokens.7")
    expect(page.locator("[data-value]")).to_contain_text("31")
    expect(page.locator('[data-walk] [data-coordinate="req_id"]')).to_have_attribute("data-coordinate-value", "B")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(inspected).to_have_attribute("data-inspected", "block_tables.0.7.1")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"pin=block_tables\.0\.7\.1"))

    follow(page, "block_numbers.0.0", "12")
    follow(page, "slot_mappings.0.0", "207")
    expect(page.locator("[data-formula]")).to_have_text("12 * 16 + 15 = 207")
    follow(page, "idx_mapping.0", "7")
    follow(page, "row_req_ids.7", "B")
    page.keyboard.press("Escape")
    expect(inspected).to_have_count(0)


def test_the_walk_with_groups_drafts_padding_and_a_preemption(page: Page) -> None:
    """P's last block of the window group, to the slot of its sampled token and back; then once more after its preemption."""
    open_page(page, "/?example=two-groups-drafts-padding-preemption&step=2&stage=block-tables")
    inspected = page.locator("[data-inspected]")
    focus_by_tab(page, '[data-stage="state-pool"] [data-cell]')
    page.keyboard.press("Home")
    expect(inspected).to_have_attribute("data-inspected", "row_req_ids.3")
    page.keyboard.press("End")
    expect(inspected).to_have_attribute("data-inspected", "block_tables.1.3.4")  # position 37 // 8 = 4
    expect(page.locator("[data-value]")).to_have_text("52")
    page.keyboard.press("Enter")
    follow(page, "block_numbers.1.3", "52")
    follow(page, "slot_mappings.1.3", "421")
    expect(page.locator("[data-formula]")).to_have_text("52 * 8 + 5 = 421")
    follow(page, "idx_mapping.1", "3")
    follow(page, "row_req_ids.3", "P")

    for _ in range(3):
        page.keyboard.press("Shift+ArrowRight")
    expect_place(page, 5, "block-tables")
    focus_by_tab(page, '[data-stage="batch"] [data-cell]', most=200)
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(inspected).to_have_attribute("data-inspected", "idx_mapping.2")  # P prefills again and is the last row
    expect(page.locator("[data-value]")).to_have_text("3")
    page.keyboard.press("Enter")
    follow(page, "row_req_ids.3", "P")


def follow(page: Page, name: str, value: str) -> None:
    """Tab to a cell that the inspector names, and go there."""
    focus_by_tab(page, f'pw-inspector [data-ref="{name}"]', most=200)
    page.keyboard.press("Enter")
    expect(page.locator("[data-inspected]")).to_have_attribute("data-inspected", name)
    expect(page.locator("[data-value]")).to_have_text(value)


def test_arrows_move_inside_a_table_and_leave_the_stage_alone(page: Page) -> None:
    open_page(page, "/?stage=flatten")
    focus_by_tab(page, 'pw-strip [data-cell^="query_start_loc"]')
    page.keyboard.press("ArrowDown")
    inspected = page.locator("[data-inspected]")
    expect(inspected).to_have_attribute("data-inspected", "token_batch_idx.0")
    page.keyboard.press("ArrowRight")
    expect(inspected).to_have_attribute("data-inspected", "token_batch_idx.1")
    page.keyboard.press("End")
    expect(inspected).to_have_attribute("data-inspected", "token_batch_idx.8")
    expect_place(page, 1, "flatten")


def test_the_schedule_is_typed_like_a_spreadsheet(page: Page) -> None:
    open_page(page)
    focus_by_tab(page, 'input[data-req="B"][data-step="1"]')
    page.keyboard.press("ArrowDown")
    page.keyboard.type("3")
    page.keyboard.press("Enter")
    expect(page.get_by_text("one sequence of 4 tokens")).to_be_visible()
    expect_place(page, 1, "schedule")


def test_the_sheet_of_keys(page: Page) -> None:
    open_page(page)
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    page.get_by_label("Keys of a single character").uncheck()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.keyboard.press("?")
    expect(dialog).to_be_hidden()
    page.get_by_role("button", name="Keys and colours").click()
    expect(dialog).to_be_visible()
    page.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()


def test_back_returns_from_another_example(page: Page) -> None:
    open_page(page, "/?step=0&stage=batch&pin=idx_mapping.0")
    choose_example(page, "a-row-is-recycled")
    expect(page.locator("[data-title]")).to_have_text("A row is recycled")
    expect(page).to_have_url(re.compile("example=a-row-is-recycled"))
    page.go_back()
    expect(page.locator("[data-title]")).to_have_text("One decode, one prefill chunk")
    expect_place(page, 0, "batch")
    expect(page.locator("[data-inspected]")).to_have_attribute("data-inspected", "idx_mapping.0")


def test_an_address_that_makes_no_sense_is_said_and_survived(page: Page) -> None:
    open_page(page, "/?step=many&stage=nowhere&pin=%3Cscript%3E&example=no-such-example&lang=xx")
    expect(page.locator("[data-notice=ignored]")).to_contain_text("step, stage, pin, lang")
    expect(page.locator("[data-notice=example]")).to_contain_text("no-such-example")
    expect_place(page, 1, "schedule")


def test_the_language_changes_and_the_place_stays(page: Page) -> None:
    open_page(page, "/?stage=slot-mapping&pin=slot_mappings.0.0")
    page.get_by_role("link", name="中文").click()
    expect(page.locator("html")).to_have_attribute("lang", "zh-Hans")
    expect(page.locator("[data-workbench][data-ready]")).to_be_visible()
    expect_place(page, 1, "slot-mapping")
    expect(page.locator("[data-inspected]")).to_have_attribute("data-inspected", "slot_mappings.0.0")
    expect(page.locator("#title-slot-mapping")).to_have_text("槽位映射")


def test_undo_to_the_end_and_escape_keep_the_focus(page: Page) -> None:
    open_page(page)
    cell = page.get_by_role("textbox", name="A, step 1: tokens scheduled")
    cell.fill("5")
    cell.press("Enter")
    undo = page.get_by_role("button", name="Undo")
    undo.focus()
    page.keyboard.press("Enter")
    expect(undo).to_be_disabled()
    expect(undo).to_be_focused()
    cell.fill("7")
    cell.press("Escape")
    expect(cell).to_have_value("8")
    expect(cell).to_be_focused()
