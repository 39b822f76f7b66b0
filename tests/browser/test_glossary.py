"""The glossary: opened by a name on the page, searched by the names others use, in the reader's language."""

from __future__ import annotations

from playwright.sync_api import Page, expect


def open_page(page: Page, path: str = "/") -> None:
    page.goto(path)
    expect(page.locator("[data-workbench][data-ready]")).to_be_visible()


def test_a_name_opens_its_entry(page: Page) -> None:
    open_page(page, "/?stage=slot-mapping&pin=slot_mappings.0.0")
    page.locator('pw-inspector [data-term="slot_mappings"]').click()
    dialog = page.get_by_role("dialog", name="Glossary")
    expect(dialog.locator("[data-term-shown]")).to_have_text("slot_mappings")
    expect(dialog.locator(".entry")).to_contain_text("SGLang")
    dialog.locator('.entry [data-entry="slot_id"]').first.click()
    expect(dialog.locator("[data-term-shown]")).to_contain_text("slot_id")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.locator('[data-stage="batch"] [data-term="idx_mapping"]').click()
    expect(dialog.locator("[data-term-shown]")).to_have_text("idx_mapping")


def test_a_term_is_found_by_what_others_call_it(page: Page) -> None:
    open_page(page)
    page.get_by_role("button", name="Glossary", exact=True).click()
    dialog = page.get_by_role("dialog", name="Glossary")
    expect(dialog.locator(".entry")).to_contain_text("Choose a term")
    dialog.get_by_role("searchbox").fill("out_cache_loc")
    expect(dialog.locator("[data-term-shown]")).to_have_text("slot_mappings")
    dialog.get_by_role("searchbox").fill("no such thing")
    expect(dialog.locator(".terms")).to_contain_text("No term is called “no such thing”")
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()


def test_it_speaks_chinese(page: Page) -> None:
    open_page(page, "/?lang=zh")
    page.get_by_role("button", name="术语表", exact=True).click()
    dialog = page.get_by_role("dialog", name="术语表")
    dialog.get_by_role("searchbox").fill("slot_mappings")
    expect(dialog.locator(".entry p").first).to_contain_text("槽")
