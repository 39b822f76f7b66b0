"""axe on every kind of view, and what it cannot see: sizes of targets and text, widths of the page, motion."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewPage

AXE = Path(__file__).resolve().parents[1] / "js" / "node_modules" / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
VIEWS = [
    "/",
    "/?stage=all&lang=zh",
    "/?stage=kv-cache&pin=slot_mappings.0.3",
    "/?example=a-row-is-recycled&step=1&stage=state-pool",
]


def open_page(page: Page, path: str) -> None:
    page.goto(path)
    expect(page.locator("[data-workbench][data-ready]")).to_be_visible()


@pytest.mark.parametrize("path", VIEWS)
@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (1024, "dark"), (390, "light")])
def test_axe_finds_nothing(new_page: NewPage, path: str, width: int, scheme: str) -> None:
    page = new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    open_page(page, path)
    page.evaluate("scrollTo(0, 0)")  # what is half under the rail counts as too small
    page.evaluate(AXE.read_text())
    found = page.evaluate("rules => axe.run(document, { runOnly: rules })", RULES)
    assert len(found["passes"]) > 20
    assert [(rule["id"], [node["html"][:120] for node in rule["nodes"]]) for rule in found["violations"]] == []


@pytest.mark.parametrize("stage", ["schedule", "state-pool", "flatten", "slot-mapping", "kv-cache", "all"])
def test_a_phone_scrolls_down_only(new_page: NewPage, stage: str) -> None:
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True)
    open_page(page, f"/?stage={stage}&pin=slot_mappings.0.8")
    assert page.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.parametrize("width", [1440, 390])
def test_no_text_is_small_and_every_target_is_large_enough(new_page: NewPage, width: int) -> None:
    page = new_page(viewport={"width": width, "height": 900})
    open_page(page, "/?stage=all&pin=slot_mappings.0.0")
    small = page.evaluate(
        """() => [...document.querySelectorAll('body *')]
          .filter((element) => element.checkVisibility())
          .filter((element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
          .filter((element) => parseFloat(getComputedStyle(element).fontSize) < 12)
          .map((element) => element.outerHTML.slice(0, 100))"""
    )
    assert small == []
    tight = page.evaluate(
        """() => [...document.querySelectorAll('button, input, select, summary, header a, .chip, pw-strip td.c')]
          .filter((element) => element.checkVisibility() && !element.closest('.vh, .skip'))
          .map((element) => [element.outerHTML.slice(0, 100), element.getBoundingClientRect()])
          .filter(([, box]) => box.height < 23.5 || box.width < 23.5)
          .map(([html, box]) => `${html} ${box.width}x${box.height}`)"""
    )
    assert tight == [] or all('type="checkbox"' in one for one in tight), tight


def test_nothing_moves_under_reduced_motion(page: Page) -> None:
    open_page(page, "/?stage=slot-mapping")
    assert page.evaluate("getComputedStyle(document.querySelector('[data-cell]')).transitionDuration") == "0s"
