"""Pressed twice where once was meant: nothing is left, closed or entered a second time."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_schedule_entry import open_page

# Two presses in one task: no answer of the browser comes between them.
TWICE = "button => { button.click(); button.click(); }"


@pytest.mark.parametrize("button", [".masthead [data-charts]", "pw-charts [data-close-charts]"])
def test_closing_the_charts_twice_closes_them_once(page: Page, button: str) -> None:
    page.goto("/healthz")  # where one "back" too many would lead
    open_page(page, "/?example=worked-example&step=1")
    page.locator(".masthead [data-charts]").click()
    charts = page.locator("pw-charts")
    expect(charts).to_be_visible()
    page.locator(button).evaluate(TWICE)
    expect(charts).to_be_hidden()
    page.go_forward()
    expect(charts).to_be_visible()
    page.locator(".masthead [data-charts]").click()  # and they close as they did the first time
    expect(charts).to_be_hidden()
    page.go_forward()
    expect(charts).to_be_visible()


def test_charts_close_at_once_after_a_talk(page: Page) -> None:
    open_page(page, "/?example=worked-example&step=1")
    page.locator(".masthead [data-charts]").click()
    charts = page.locator("pw-charts")
    expect(charts).to_be_visible()
    page.locator("[data-present]").click()
    expect(page.locator("pw-talk")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("pw-talk")).to_have_count(0)
    expect(charts).to_be_visible()
    page.locator(".masthead [data-charts]").click()
    expect(charts).to_be_hidden()
    page.locator(".masthead [data-charts]").click()
    expect(charts).to_be_visible()
    page.locator(".masthead [data-charts]").click()
    expect(charts).to_be_hidden()


def test_present_pressed_twice_is_one_entry_of_the_history(page: Page) -> None:
    open_page(page, "/?example=worked-example&step=1")
    before = page.evaluate("() => history.length")
    page.locator("[data-present]").evaluate(TWICE)
    expect(page.locator("pw-talk")).to_be_visible()
    assert page.evaluate("() => history.length") == before + 1
    page.go_back()
    expect(page.locator("pw-talk")).to_have_count(0)
    expect(page).not_to_have_url(re.compile("view="))


@pytest.mark.parametrize("opener", ["[data-gallery='']", "[data-share]", "[data-find]"])
def test_a_dialog_opened_by_a_double_click_stays_open(page: Page, opener: str) -> None:
    open_page(page, "/?example=worked-example&step=1")
    dialog = page.locator("dialog[open]")
    page.locator(opener).dblclick()
    expect(dialog).to_be_visible()
    # A press beside it closes it, one that only ends there does not.
    title = dialog.locator("h2, input").first.bounding_box()
    assert title is not None
    page.mouse.move(title["x"] + 4, title["y"] + 4)
    page.mouse.down()
    page.mouse.move(4, 400)
    page.mouse.up()
    expect(dialog).to_be_visible()
    page.mouse.click(4, 400)
    expect(dialog).to_be_hidden()
