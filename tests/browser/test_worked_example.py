"""The worked example by clicks and keys: what it shows, how a cell explains itself, what a typed count does."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect


def row_of(page: Page, space: str, prefix: str = "") -> list[str]:
    """The values of a space as the page shows them, in the order of their cells (the first table that shows each)."""
    found: dict[tuple[int, ...], str] = {}
    for cell in page.locator(f'[data-cell^="{space}.{prefix}"]').all():
        key = (cell.get_attribute("data-cell") or "").removeprefix(f"{space}.")
        at = tuple(int(part) for part in key.split("."))
        values = cell.locator(".v")
        if values.count() == 1:
            found.setdefault(at, values.inner_text())
    return [found[at] for at in sorted(found)]


def cell(page: Page, key: str) -> Locator:
    return page.locator(f'pw-board td[data-cell="{key}"], pw-board .chip[data-cell="{key}"]').first


def count_field(page: Page, req_id: str, step: int) -> Locator:
    return page.get_by_role("textbox", name=f"{req_id}, step {step}: tokens scheduled")


def open_page(page: Page, path: str = "/") -> None:
    page.goto(path)
    expect(page.locator("[data-workbench][data-ready]")).to_be_visible()


def test_every_space_of_step_1_is_on_the_page(page: Page) -> None:
    open_page(page, "/?stage=all")
    assert row_of(page, "idx_mapping") == ["7", "6"]
    assert row_of(page, "query_start_loc") == ["0", "1", "9"]
    assert row_of(page, "positions") == ["31", "16", "17", "18", "19", "20", "21", "22", "23"]
    assert row_of(page, "seq_lens") == ["32", "24"]
    assert row_of(page, "input_ids") == ["1031", "2016", "2017", "2018", "2019", "2020", "2021", "2022", "2023"]
    assert row_of(page, "slot_mappings", "0") == ["207", "704", "705", "706", "707", "708", "709", "710", "711"]


def test_the_first_view_explains_slot_207_without_scrolling(page: Page) -> None:
    open_page(page)
    expect(page.locator("[data-workbench]")).to_have_attribute("data-step", "1")
    inspector = page.locator("pw-inspector")
    expect(inspector.locator("[data-value]")).to_have_text("207")
    expect(inspector.locator("[data-formula]")).to_have_text("12 * 16 + 15 = 207")
    for key in (
        "num_computed_tokens.7",
        "block_tables.0.7.1",
        "idx_mapping.0",
        "positions.0",
        "block_numbers.0.0",
        "slot_mappings.0.0",
    ):
        expect(cell(page, key)).to_be_in_viewport(ratio=1)


def test_a_click_pins_a_cell_and_lights_where_it_comes_from(page: Page) -> None:
    open_page(page, "/?stage=slot-mapping")
    expect(page.locator("[data-inspected]")).to_have_count(0)
    cell(page, "slot_mappings.0.0").click()
    walk = {
        "req_id": "B",
        "req_state_idx": "7",
        "batch_idx": "0",
        "flat_token_idx": "0",
        "position": "31",
        "block_index": "1",
        "block_offset": "15",
        "block_id": "12",
        "slot_id": "207",
        "byte_offset": "847872",
    }
    steps = page.locator("[data-walk] li")
    expect(steps).to_have_count(len(walk))
    assert {
        step.get_attribute("data-coordinate"): step.get_attribute("data-coordinate-value") for step in steps.all()
    } == walk
    expect(page.locator("[data-bytes]")).to_have_text("847,872")
    for key, strength in {
        "slot_mappings.0.0": "self",
        "block_numbers.0.0": "input",
        "block_offsets.0.0": "input",
        "block_tables.0.7.1": "walk",
        "idx_mapping.0": "walk",
        "positions.0": "walk",
    }.items():
        expect(cell(page, key)).to_have_attribute("data-lit", strength)
    expect(page.locator('tr[data-axis="req_state_idx"][data-index="7"]').first).to_have_attribute("data-shared", "")
    expect(page).to_have_url(re.compile(r"pin=slot_mappings\.0\.0"))
    page.keyboard.press("Escape")
    expect(page.locator("[data-inspected]")).to_have_count(0)


def test_hover_lights_both_ways_and_leaving_returns_to_the_pin(page: Page) -> None:
    open_page(page, "/?stage=slot-mapping&pin=slot_mappings.0.0")
    cell(page, "positions.3").hover()
    expect(page.locator("[data-inspected]")).to_have_attribute("data-inspected", "positions.3")
    expect(page.locator("[data-formula]")).to_have_text("16 + (3 - 1) = 18")
    expect(cell(page, "num_computed_tokens.6")).to_have_attribute("data-lit", "input")
    expect(cell(page, "block_offsets.0.3")).to_have_attribute("data-lit", "output")
    expect(cell(page, "slot_mappings.0.3")).to_have_attribute("data-lit", "walk")
    page.locator("h1").hover()
    expect(page.locator("[data-inspected]")).to_have_attribute("data-inspected", "slot_mappings.0.0")


def test_numbers_in_a_formula_lead_to_their_cells(page: Page) -> None:
    open_page(page)
    page.get_by_role("button", name="block_numbers[0, 0] = 12").click()
    expect(page.locator("[data-inspected]")).to_have_attribute("data-inspected", "block_numbers.0.0")
    expect(page.locator("[data-formula]")).to_have_text("block_tables[0, 7, 1] = 12")
    page.get_by_role("button", name="block_tables[0, 7, 1] = 12").click()
    expect(page.locator("[data-inspected]")).to_have_attribute("data-inspected", "block_tables.0.7.1")
    # carried over: the number leads to the step before
    page.get_by_role("button", name="block_tables[0, 7, 1] = 12").click()
    expect(page.locator("[data-workbench]")).to_have_attribute("data-step", "0")
    expect(page.locator("[data-inspected]")).to_have_attribute("data-inspected", "block_tables.0.7.1")


def test_a_smaller_count_recomputes_every_table(page: Page) -> None:
    open_page(page)
    field = count_field(page, "A", 1)
    field.click()
    page.keyboard.type("5")
    page.keyboard.press("Enter")
    expect(page.locator('[data-cell^="slot_mappings.0."] .v').last).to_have_text("708")
    assert row_of(page, "slot_mappings", "0") == ["207", "704", "705", "706", "707", "708"]
    assert row_of(page, "query_start_loc") == ["0", "1", "6"]
    assert row_of(page, "seq_lens") == ["32", "21"]
    assert row_of(page, "positions") == ["31", "16", "17", "18", "19", "20"]
    expect(page.get_by_text("one sequence of 6 tokens")).to_be_visible()
    page.keyboard.press("Control+z")
    expect(field).to_have_value("8")
    expect(page.locator('[data-cell^="slot_mappings.0."] .v').last).to_have_text("711")
    page.keyboard.press("Control+Shift+z")
    expect(field).to_have_value("5")
    expect(page.locator('[data-cell^="slot_mappings.0."] .v').last).to_have_text("708")


def test_an_impossible_count_says_why_at_its_cell_and_keeps_the_board(page: Page) -> None:
    open_page(page)
    field = count_field(page, "A", 1)
    field.fill("40")
    field.press("Enter")
    fault = page.locator("pw-schedule .fault")
    expect(fault).to_contain_text("24")
    expect(fault).to_contain_text("16")
    expect(field).to_have_value("40")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(page.locator("[data-notice=last-valid]")).to_be_visible()
    assert row_of(page, "slot_mappings", "0") == ["207", "704", "705", "706", "707", "708", "709", "710", "711"]
    page.get_by_role("button", name="Use 8").click()
    expect(page.locator("pw-schedule .fault")).to_have_count(0)
    expect(field).to_have_value("8")
    expect(page.locator("[data-notice=last-valid]")).to_have_count(0)


@pytest.mark.parametrize("text", ["x", "-1", "8.5", "99999999999"])
def test_whatever_is_typed_is_answered_in_words(page: Page, text: str) -> None:
    open_page(page)
    field = count_field(page, "A", 1)
    field.fill(text)
    field.press("Enter")
    expect(page.locator("pw-schedule .fault")).to_have_text(
        "A, step 1: type a whole number of tokens, f to finish or p to preempt."
    )
    expect(field).to_have_attribute("aria-invalid", "true")
    page.get_by_role("button", name="Undo this change").click()
    expect(field).to_have_value("8")
    expect(page.locator("pw-schedule .fault")).to_have_count(0)


def test_a_draft_survives_a_reload(page: Page) -> None:
    open_page(page)
    field = count_field(page, "A", 1)
    field.fill("5")
    field.press("Enter")
    expect(page).to_have_url(re.compile("draft="))
    page.reload()
    expect(page.locator("[data-workbench][data-ready]")).to_be_visible()
    expect(field).to_have_value("5")
    page.goto("/")
    expect(field).to_have_value("8")
    page.get_by_role("button", name="Open it").click()
    expect(field).to_have_value("5")


@pytest.mark.console("503")
def test_the_server_gone_keeps_the_board_and_says_so(page: Page) -> None:
    open_page(page)
    page.context.route("**/api/trace*", lambda route: route.fulfill(status=503, body=""))
    field = count_field(page, "A", 1)
    field.fill("5")
    field.press("Enter")
    expect(page.locator("[data-notice=offline]")).to_be_visible()
    assert "711" in row_of(page, "slot_mappings", "0")
    page.context.unroute("**/api/trace*")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("[data-notice=offline]")).to_have_count(0)
    expect(page.locator('[data-cell^="slot_mappings.0."] .v').last).to_have_text("708")
