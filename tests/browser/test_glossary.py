"""The glossary: opened from the words of the page, searched by anybody's name for a thing, and the way back to the board."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewPage


def open_page(page: Page, path: str = "/") -> None:
    page.goto(path)
    expect(page.locator("[data-workbench][data-ready]")).to_be_visible()


def expect_term(page: Page, name: str) -> None:
    expect(page.locator("dialog.glossary[open] [data-open-term]")).to_have_attribute("data-open-term", name)


def test_a_heading_of_a_table_opens_its_term(page: Page) -> None:
    open_page(page, "/?stage=flatten")
    page.locator('[data-stage="flatten"] [data-term="query_start_loc"]').first.click()
    expect_term(page, "query_start_loc")
    dialog = page.get_by_role("dialog", name="Glossary")
    for text in ("batch_boundary", "int32", "InputBatch.query_start_loc", "cu_seqlens_q", "qo_indptr", "FlashInfer"):
        expect(dialog).to_contain_text(text)
    expect(page.locator(".confusion")).to_contain_text("the entry itself is no length")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()


def test_the_inspector_the_walk_and_the_stage_open_theirs(page: Page) -> None:
    open_page(page, "/?stage=slot-mapping&pin=slot_mappings.0.0")
    openers = {
        "pw-inspector h2 .term": "slot_mappings",
        '[data-coordinate="flat_token_idx"] .term': "flat_token_idx",
        ".walk-title .term": "walk",
        ".about .term:last-child": "slot-mapping",
    }
    for opener, term in openers.items():
        page.locator(opener).first.click()
        expect_term(page, term)
        page.keyboard.press("Escape")


def test_by_keyboard_from_a_cell_and_back_to_it(page: Page) -> None:
    open_page(page, "/?stage=flatten")
    cell = page.locator('[data-stage="flatten"] [data-cell="positions.3"]')
    cell.focus()
    page.keyboard.press("g")
    expect_term(page, "positions")
    expect(page.locator("dialog.glossary article h3")).to_be_focused()
    page.keyboard.press("Escape")
    expect(cell).to_be_focused()
    page.evaluate("localStorage.setItem('pagewalk.single-keys', 'off')")
    page.keyboard.press("g")
    expect(page.locator("dialog.glossary[open]")).to_have_count(0)


def test_tables_have_no_more_tab_stops_for_it(page: Page) -> None:
    open_page(page, "/?stage=flatten")
    stops = page.locator("pw-strip table, pw-rows table").evaluate_all(
        "tables => tables.map((table) => table.querySelectorAll('.term:not([tabindex=\"-1\"])').length)"
    )
    assert stops
    assert set(stops) == {0}


def test_search_by_another_engine_s_name_and_by_keyboard_alone(page: Page) -> None:
    open_page(page)
    page.get_by_role("button", name="Glossary", exact=True).press("Enter")
    search = page.get_by_role("searchbox")
    expect(search).to_be_focused()
    search.fill("out_cache")
    entries = page.locator("[data-glossary-entry]")
    expect(entries).to_have_count(1)
    expect(entries).to_contain_text("= out_cache_loc")
    page.keyboard.press("Enter")
    expect_term(page, "slot_mappings")
    search.fill("seq_lens")
    expect(entries.first).to_have_attribute("data-glossary-entry", "seq_lens")
    expect(entries.nth(1)).to_contain_text("= seq_lens")
    search.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".confusion")).to_contain_text("TensorRT-LLM calls this seq_lens")
    search.fill("zebra")
    expect(page.get_by_role("dialog")).to_contain_text("No term is called “zebra”.")


def test_terms_lead_to_terms_and_back(page: Page) -> None:
    open_page(page)
    page.get_by_role("button", name="Glossary", exact=True).click()
    page.locator('[data-glossary-entry="req_state_idx"]').click()
    page.locator("article .confusion").get_by_role("button", name="idx_mapping").click()
    expect_term(page, "idx_mapping")
    page.get_by_role("button", name="← req_state_idx").click()
    expect_term(page, "req_state_idx")
    page.get_by_role("button", name="← All terms").click()
    expect(page.get_by_role("searchbox")).to_be_focused()


def test_show_on_the_board_goes_to_the_stage(page: Page) -> None:
    open_page(page, "/?stage=schedule")
    page.get_by_role("button", name="Glossary", exact=True).click()
    page.locator('[data-glossary-entry="seq_lens"]').click()
    page.get_by_role("button", name="Show on the board").click()
    expect(page.locator("[data-workbench]")).to_have_attribute("data-stage", "flatten")
    expect(page.locator('[data-stage="flatten"] [data-cell="seq_lens.0"]')).to_be_focused()
    expect(page.locator("[data-inspected]")).to_have_attribute("data-inspected", "seq_lens.0")
    page.get_by_role("button", name="Glossary", exact=True).click()
    page.locator('[data-glossary-entry="is_local"]').click()
    expect(page.get_by_role("button", name="Show on the board")).to_be_disabled()
    expect(page.get_by_role("dialog")).to_contain_text("This step has no such tensor.")


@pytest.mark.console("Failed to load resource|ERR_")
def test_without_the_server_the_board_stays(page: Page) -> None:
    open_page(page)
    page.route("**/api/glossary*", lambda route: route.abort())
    page.get_by_role("button", name="Glossary", exact=True).click()
    expect(page.locator("[data-notice=glossary]")).to_be_visible()
    expect(page.locator("dialog[open]")).to_have_count(0)


def test_in_chinese_on_a_phone(new_page: NewPage) -> None:
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True)
    open_page(page, "/?lang=zh")
    page.get_by_role("button", name="术语表", exact=True).tap()
    page.locator('[data-glossary-entry="null-block"]').tap()
    expect(page.locator("article h3")).to_have_text("占位块（null block）")
    expect(page.locator(".confusion")).to_contain_text("两者不能互换")
    expect(page.locator("[data-glossary-entry]").first).to_be_hidden()
    page.get_by_role("button", name="← 全部术语").tap()
    expect(page.locator("[data-glossary-entry]").first).to_be_visible()
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 390
