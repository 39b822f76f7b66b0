"""axe on every page, dialog and panel, in both languages and themes, and what it cannot see: sizes of targets and text,
widths of the page, motion, where the keyboard is, what is said.

Each view is checked once as a desktop page in English and light, once as a phone in Chinese and dark.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import NewPage
from tests.browser.scenarios import open_gallery
from tests.browser.stages import stages_of

AXE = Path(__file__).resolve().parents[1] / "js" / "node_modules" / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
DESKTOP = {"lang": "en", "viewport": {"width": 1440, "height": 900}, "color_scheme": "light"}
PHONE = {"lang": "zh", "viewport": {"width": 390, "height": 844}, "color_scheme": "dark", "has_touch": True}
TWO_GROUPS = "two-groups-drafts-padding-preemption"

PAGES = {
    "board": "/?stage=batch&pin=idx_mapping.0",
    "all stages": f"/?example={TWO_GROUPS}&step=2&stage=all&pin=slot_mappings.0.0",
    "kv-cache": "/?stage=kv-cache&pin=slot_mappings.0.3",
    "a freed row": "/?example=a-row-is-recycled&step=1&stage=state-pool",
    "stopped": "/?example=the-pool-runs-out&step=99",
    "broken link": "/?s=1abc~AAAAAA",
    "present": "/?view=present&step=1&stage=slot-mapping&pin=slot_mappings.0.0",
    "present the plan": "/?view=present&step=1&stage=schedule",
    "embed": "/?view=embed&step=1&stage=flatten&pin=positions.3",
    "handout": f"/handout?example={TWO_GROUPS}&step=2&answers=both",
    "no handout": "/handout?example=nowhere",
    "no short link": "/s/nothing-here",
}


def open_page(page: Page, path: str) -> None:
    page.goto(path)
    expect(page.locator("[data-workbench][data-ready]")).to_be_visible()


def open_as(new_page: NewPage, how: dict[str, Any], path: str) -> Page:
    options = {name: value for name, value in how.items() if name != "lang"}
    page = new_page(**options)
    page.goto(f"{path}{'&' if '?' in path else '?'}lang={how['lang']}")
    expect(
        page.locator("[data-workbench][data-ready], .no-link, body:not(:has([data-workbench])) main").first
    ).to_be_visible()
    return page


def violations(page: Page, root: str | None = None) -> list[Any]:
    """What axe finds, in the whole page or in one element of it."""
    page.evaluate("scrollTo(0, 0)")  # what is half under the rail counts as too small
    page.evaluate("axe => window.axe || (0, eval)(axe)", AXE.read_text())
    found = page.evaluate(
        "([root, rules]) => axe.run(root ?? document, { runOnly: rules, resultTypes: ['violations'] })", [root, RULES]
    )
    return [(rule["id"], [node["html"][:120] for node in rule["nodes"]][:5]) for rule in found["violations"]]


@pytest.mark.parametrize("how", [DESKTOP, PHONE], ids=["desktop-en-light", "phone-zh-dark"])
@pytest.mark.parametrize("name", PAGES)
@pytest.mark.console("status of 404")
def test_axe_finds_nothing_on_pages(new_page: NewPage, name: str, how: dict[str, Any]) -> None:
    page = open_as(new_page, how, PAGES[name])
    for details in page.locator(".choice details").all():
        details.evaluate("one => (one.open = true)")
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") == how["viewport"]["width"]


def opened_gallery(page: Page) -> Locator:
    dialog = open_gallery(page)
    dialog.locator("summary").first.click()
    return dialog


def opened_glossary(page: Page) -> Locator:
    page.locator("header [data-term='']").click()
    page.locator("[data-glossary-entry=query_start_loc]").click()
    expect(page.locator("dialog.glossary article")).to_be_visible()
    return page.locator("dialog.glossary")


def opened_share(page: Page) -> Locator:
    page.locator("header [data-share]").click()
    expect(page.locator(".qr img")).to_be_visible()
    return page.locator("pw-share dialog")


def opened_help(page: Page) -> Locator:
    page.locator("header [data-help]").click()
    return page.locator("pw-help dialog")


DIALOGS: dict[str, Callable[[Page], Locator]] = {
    "header [data-gallery='']": opened_gallery,
    "header [data-term='']": opened_glossary,
    "header [data-share]": opened_share,
    "header [data-help]": opened_help,
}


def opened_find(page: Page) -> str:
    page.keyboard.press("Control+k")
    page.keyboard.type("12")
    expect(page.get_by_role("option").first).to_be_visible()
    return "pw-find"


def opened_details(page: Page) -> str:
    page.keyboard.press("Escape")
    page.locator("[data-details-toggle]").click()
    expect(page.locator("#schedule-details [data-details]").first).to_be_visible()
    return "pw-schedule"


def opened_config(page: Page) -> str:
    page.locator("[data-open-config]").click()
    field = page.locator("[id='field-config-max_num_reqs']")
    field.fill("x")
    field.press("Enter")
    expect(page.locator("pw-config .fault").first).to_be_visible()
    return "pw-config"


def opened_text(page: Page) -> str:
    page.keyboard.press("Control+z")
    page.keyboard.press("Escape")
    page.locator("[data-open-text]").click()
    expect(page.locator("pw-text .cm-content")).to_be_focused()
    page.keyboard.insert_text("x: [\n")
    expect(page.locator("pw-text .troubles li").first).to_be_visible()
    return "pw-text"


def opened_charts(page: Page) -> str:
    page.locator("[data-charts]").click()
    expect(page.locator("[data-plot=blocks] svg").first).to_be_visible()
    for summary in page.locator("pw-charts summary").all():
        summary.click()
    return "pw-charts"


PANELS = [opened_find, opened_details, opened_config, opened_text, opened_charts]

SMALL_TEXT = """root => [...root.querySelectorAll('*')]
  .filter((element) => element.checkVisibility())
  .filter((element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
  .filter((element) => parseFloat(getComputedStyle(element).fontSize) < 12)
  .map((element) => element.outerHTML.slice(0, 100))"""
SMALL_TARGETS = """root => [...root.querySelectorAll('button, input, select, summary, header a, .chip, pw-strip td.c')]
  .filter((element) => element.checkVisibility() && !element.closest('.vh, .skip'))
  .map((element) => [element.outerHTML.slice(0, 100), (element.closest('label') ?? element).getBoundingClientRect()])
  .filter(([, box]) => box.height < 23.5 || box.width < 23.5)
  .map(([html, box]) => `${html} ${box.width}x${box.height}`)"""


@pytest.mark.parametrize("how", [DESKTOP, PHONE], ids=["desktop-en-light", "phone-zh-dark"])
def test_axe_finds_nothing_in_dialogs_and_panels(new_page: NewPage, how: dict[str, Any]) -> None:
    page = open_as(new_page, how, f"/?example={TWO_GROUPS}&step=2&stage=schedule")
    width = how["viewport"]["width"]
    found: dict[str, Any] = {}

    def look(name: str, root: str) -> None:
        place = page.locator(root)
        found[name] = [violations(page, root), place.evaluate(SMALL_TEXT), place.evaluate(SMALL_TARGETS)]
        assert page.evaluate("document.documentElement.scrollWidth") == width, name

    for button, opened in DIALOGS.items():
        dialog = opened(page)
        expect(dialog).to_have_attribute("open", "")
        look(button, "dialog[open]")
        page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()
        expect(page.locator(button)).to_be_focused()
    for opened_panel in PANELS:
        look(opened_panel.__name__, opened_panel(page))
    assert {name: told for name, told in found.items() if any(told)} == {}


def test_a_phone_scrolls_down_only(new_page: NewPage) -> None:
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True)
    open_page(page, "/?stage=all&pin=slot_mappings.0.8")
    for stage in ("all", *stages_of(page).names):
        page.locator(f"[data-go-stage={stage}]").first.click()
        expect(page.locator("[data-workbench]")).to_have_attribute("data-stage", stage)
        assert page.evaluate("document.documentElement.scrollWidth") == 390, stage


def test_no_text_is_small_and_every_target_is_large_enough(page: Page) -> None:
    open_page(page, "/?stage=all&pin=slot_mappings.0.0")
    body = page.locator("body")
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate("() => new Promise(requestAnimationFrame)")  # drawn for that width
        assert body.evaluate(SMALL_TEXT) == [], width
        assert body.evaluate(SMALL_TARGETS) == [], width


def test_nothing_moves_under_reduced_motion(page: Page) -> None:
    open_page(page, "/?stage=slot-mapping")
    assert page.evaluate("getComputedStyle(document.querySelector('[data-cell]')).transitionDuration") == "0s"


def test_no_stage_of_the_rail_is_covered(page: Page) -> None:
    open_page(page, "/?stage=batch")
    for width in (1181, 1280, 1366):
        page.set_viewport_size({"width": width, "height": 720})
        for stage in ("all", "batch"):
            page.locator(f"pw-rail [data-go-stage={stage}]").click()  # not where something lies over it
            expect(page.locator("[data-workbench]")).to_have_attribute("data-stage", stage)


def test_the_keyboard_keeps_a_place(page: Page) -> None:
    open_page(page, "/?step=99&stage=batch")
    page.locator("[data-notice] button").last.focus()
    page.keyboard.press("Enter")  # the notice goes, its button with it
    expect(page.locator("#board")).to_be_focused()
    forward = page.locator("[data-next]")
    forward.focus()
    stages = stages_of(page)
    for _ in range(len(stages.names)):
        page.keyboard.press("Enter")
    expect(page.locator("[data-workbench]")).to_have_attribute("data-stage", stages.last)
    expect(forward).to_be_focused()
    expect(forward).to_be_disabled()
    element = page.locator("[data-element-next]")
    element.focus()
    for name in ("row 0", "row 1"):
        page.keyboard.press("Enter")
        expect(page.locator("[data-element-place]")).to_contain_text(name)
    expect(element).to_be_disabled()
    expect(element).to_be_focused()
    for request in ("A", "B"):
        page.get_by_role("button", name=f"Request {request}: rename").press("Enter")
        page.keyboard.press("End")
        page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Add the first request")).to_be_focused()


def test_from_a_cell_into_the_inspector_and_what_is_pinned_is_said(page: Page) -> None:
    open_page(page, "/?stage=update")
    live = page.locator("[data-live]")
    expect(live).to_have_text(re.compile("^Step 1, Update: "))
    inspected = page.locator("pw-inspector [data-inspected]")
    page.locator('pw-board [data-cell="sampled_token_ids.0.0"]').first.focus()  # the last stop of the board
    expect(inspected).to_have_attribute("data-inspected", "sampled_token_ids.0.0")
    page.keyboard.press("Tab")
    expect(inspected.locator("h2 button")).to_be_focused()
    expect(inspected).to_have_attribute("data-inspected", "sampled_token_ids.0.0")
    inspected.locator('[data-ref="idx_mapping.0"]').press("Enter")
    expect(inspected).to_have_attribute("data-inspected", "idx_mapping.0")
    expect(live).to_have_text("Pinned: idx_mapping[0] = schedule_req_state_idx[0] = 7")
    assert page.evaluate("document.querySelector('pw-inspector').contains(document.activeElement)")
    page.keyboard.press("Escape")
    expect(inspected).to_have_count(0)
    assert page.evaluate("document.querySelector('pw-inspector').contains(document.activeElement)")


def test_the_language_is_switched_in_place(page: Page) -> None:
    open_page(page, "/?lang=en&example=a-row-is-recycled&step=2&stage=flatten&pin=positions.0")
    count = page.locator("pw-schedule td input").nth(3)
    count.fill("2")
    count.press("Enter")
    expect(page).to_have_url(re.compile(r"\?s=1[\w~-]+&draft=\w+&step=2&stage=flatten&pin=positions\.0&lang=en$"))
    page.locator("header [data-lang-link=zh]").click()
    expect(page.locator("html[lang=zh-Hans] [data-workbench][data-ready]")).to_have_attribute("data-stage", "flatten")
    expect(page).to_have_url(re.compile(r"&draft=\w+&step=2&stage=flatten&pin=positions\.0&lang=zh$"))
    expect(page.locator("[data-edited]")).to_contain_text("已修改")
    expect(count).to_have_value("2")
    expect(page.locator('pw-board [data-cell="positions.0"][data-pinned]').first).to_be_attached()
