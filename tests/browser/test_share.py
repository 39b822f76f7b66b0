"""Sharing: what the dialog hands out opens what is on screen, by keyboard, and the server keeps nothing unasked."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import NewPage

CLIPBOARD = ["clipboard-read", "clipboard-write"]


def open_share(page: Page, path: str) -> None:
    page.goto(path)
    expect(page.locator("[data-workbench][data-ready]")).to_be_visible()
    page.locator("[data-share]").focus()
    page.keyboard.press("Enter")
    expect(page.locator("pw-share dialog")).to_be_visible()


def field(page: Page, name: str) -> str:
    return page.locator(f"[data-field={name}]").input_value()


def test_an_edited_scenario_is_shared_as_one_link(new_page: NewPage) -> None:
    page = new_page(permissions=CLIPBOARD)
    page.goto("/?step=1&stage=slot-mapping&pin=slot_mappings.0.0")
    count = page.get_by_role("textbox", name="A, step 1: tokens scheduled")
    expect(count).to_have_value("8")
    count.fill("5")
    count.press("Enter")
    expect(page.locator('pw-board [data-cell="slot_mappings.0.6"]')).to_have_count(0)
    expect(page.locator("[data-workbench][data-stale]")).to_have_count(0)

    page.locator("[data-share]").focus()
    page.keyboard.press("Enter")
    expect(page.locator("[data-field=link]")).to_be_focused()
    link = field(page, "link")
    assert re.search(r"\?s=1[\w~-]+&step=1&stage=slot-mapping&pin=slot_mappings\.0\.0$", link)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("[data-copied]")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == link
    expect(page.locator("[data-fits=yes]")).to_contain_text(f"{len(link)} characters")

    page.get_by_role("checkbox", name="Open at the current place").uncheck()
    expect(page.locator("[data-field=link]")).to_have_value(link.partition("&")[0])
    page.keyboard.press("Escape")
    expect(page.locator("pw-share dialog")).to_be_hidden()
    expect(page.locator("[data-share]")).to_be_focused()

    other = new_page()  # another browser: it has no draft
    other.goto(link)
    expect(other.locator("pw-inspector [data-value]")).to_have_text("207")
    expect(other.get_by_role("textbox", name="A, step 1: tokens scheduled")).to_have_value("5")


def test_a_short_link_is_made_when_asked_for_and_opens_the_same(new_page: NewPage) -> None:
    page = new_page()
    made: list[str] = []
    page.on("request", lambda request: made.append(request.method) if "/api/links" in request.url else None)
    open_share(page, "/?example=a-row-is-recycled&step=1&stage=state-pool")
    expect(page.locator(".qr img")).to_be_visible()
    assert made == []
    page.locator("[data-shorten]").focus()
    page.keyboard.press("Enter")
    expect(page.locator("[data-field=short]")).to_be_focused()
    assert made == ["POST"]
    short = field(page, "short")
    assert re.search(r"/s/[\w-]{12,}\?step=1&stage=state-pool$", short)
    assert f"]({short})" in field(page, "markdown")

    page.goto(short)
    expect(page.locator("[data-title]").first).to_have_text("A row is recycled")
    expect(page.locator("[data-workbench][data-ready]")).to_have_attribute("data-stage", "state-pool")
    page.keyboard.press("Shift+ArrowRight")
    expect(page.locator("[data-workbench]")).to_have_attribute("data-step", "2")
    expect(page).to_have_url(re.compile(r"/s/[\w-]{12,}\?step=2&stage=state-pool$"))
    page.reload()
    expect(page.locator("[data-workbench][data-ready]")).to_have_attribute("data-step", "2")
    expect(page.locator("[data-title]").first).to_have_text("A row is recycled")

    # Edited, it is a draft of the reader's, at an address that holds it; the short link stays as it was.
    count = page.get_by_role("textbox", name="H, step 2: tokens scheduled")
    count.fill("0")
    count.press("Enter")
    expect(page).to_have_url(re.compile(r"/\?s=1[\w~-]+&draft=\w+"))
    page.go_back()
    expect(page).to_have_url(re.compile(r"/s/[\w-]{12,}\?step=2"))
    expect(count).to_have_value("1")


def test_a_picture_in_markdown_keeps_the_language_that_it_was_made_in(page: Page) -> None:
    open_share(page, "/?example=worked-example&step=1&lang=zh")
    found = re.search(r"\((http://[^)]*/og\.png\?[^)]*)\)", field(page, "picture"))
    assert found is not None
    assert found[1].endswith("/og.png?example=worked-example&step=1&lang=zh")
    assert page.request.get(found[1]).headers["content-type"] == "image/png"


def test_embed_code_is_shown_as_others_will_see_it(page: Page) -> None:
    open_share(page, "/?example=worked-example&step=1&stage=flatten")
    code = field(page, "embed")
    assert code.startswith('<iframe src="http://') and "view=embed" in code and 'width="800"' in code
    page.locator("[data-size]").select_option("0")
    expect(page.locator("[data-field=embed]")).to_have_value(re.compile('width="640" height="360"'))
    page.locator("[data-preview]").click()
    frame = page.frame_locator("pw-share iframe")
    expect(frame.locator("[data-workbench][data-ready]")).to_have_attribute("data-stage", "flatten")
    expect(frame.locator("pw-share dialog")).to_have_count(0)
