"""Handouts in Chromium: on paper, without JavaScript, for everyone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewPage

SHEET = {"width": 718, "height": 1060}  # A4 at 96 dpi, within the margins of static/handout.css


def num_pages(pdf: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


@pytest.mark.parametrize("query", ["?lang=en", "?lang=zh&example=worked-example&step=1&answers=1"])
def test_the_worked_example_is_one_page_of_a4(page: Page, query: str) -> None:
    page.goto(f"/handout{query}")
    assert num_pages(page.pdf(format="A4")) == 1


def test_an_answer_key_begins_a_page_of_its_own(page: Page) -> None:
    page.goto("/handout?answers=both")
    assert num_pages(page.pdf(format="A4")) == 3  # two of the worksheet, with room to write, and the key


@pytest.mark.parametrize(
    "query",
    ["?example=256-requests", "?example=two-groups-drafts-padding-preemption&steps=2-3&answers=both", "?step=0&answers=0"],
)
def test_nothing_is_wider_than_the_sheet(new_page: NewPage, query: str) -> None:
    page = new_page(viewport=SHEET)
    page.emulate_media(media="print", color_scheme="dark")
    page.goto(f"/handout{query}")
    expect(page.locator(".paper")).to_be_visible()
    widest = page.evaluate(
        "Math.max(...[...document.querySelectorAll('table')].map((one) => one.getBoundingClientRect().right))"
    )
    assert widest <= SHEET["width"] + 1
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(29, 28, 26)"  # the ink of the light scheme


def test_without_javascript(new_page: NewPage) -> None:
    page = new_page(java_script_enabled=False, viewport={"width": 390, "height": 844})
    page.goto("/?step=0")
    page.get_by_role("link", name="The handout of this scenario").click()
    expect(page.get_by_role("heading", level=2)).to_contain_text("Step 0")
    page.get_by_label("Steps", exact=True).fill("1")
    page.get_by_label("Worksheet", exact=True).check()
    page.get_by_text("Blank on the worksheet").click()
    page.get_by_label("positions", exact=True).uncheck()
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("heading", level=2)).to_contain_text("Step 1")
    expect(page.locator('[data-cell="positions.0"]')).to_have_text("31")
    expect(page.locator('[data-cell="slot_mappings.0.0"]')).to_have_class("blank")
    page.get_by_role("link", name="中文").click()
    expect(page.locator("html")).to_have_attribute("lang", "zh-Hans")
    expect(page.locator('[data-cell="slot_mappings.0.0"]')).to_have_class("blank")
    expect(page.locator('[data-cell="positions.0"]')).to_have_text("31")
