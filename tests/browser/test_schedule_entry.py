"""The schedule as it is typed: finish and preempt, what it refuses, where the keyboard goes, what is said of an edit."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import NewPage


def open_page(page: Page, path: str = "/") -> None:
    page.goto(path)
    expect(page.locator("[data-workbench][data-ready]")).to_be_visible()


def field(page: Page, req_id: str, step: int) -> Locator:
    return page.get_by_role("textbox", name=f"{req_id}, step {step}: tokens scheduled")


def cell(page: Page, req_id: str, step: int) -> Locator:
    return page.locator(f'pw-schedule td:has(input[data-req="{req_id}"][data-step="{step}"])')


def enter(page: Page, req_id: str, step: int, text: str) -> None:
    field(page, req_id, step).fill(text)
    field(page, req_id, step).press("Enter")


def rail_top(page: Page) -> float:
    top: float = page.locator("pw-rail").evaluate("rail => rail.getBoundingClientRect().top + scrollY")
    return top


def open_draft(page: Page, scenario: dict[str, Any]) -> None:
    page.goto("/")
    drafts = [{"id": "test", "saved": 1, "title": "", "scenario": scenario}]
    page.evaluate("text => localStorage.setItem('pagewalk.drafts', text)", json.dumps(drafts))
    open_page(page, "/?draft=test")


def test_finish_and_preempt_are_typed_or_chosen_and_a_number_takes_them_away(page: Page) -> None:
    open_page(page)
    enter(page, "A", 1, "f")
    expect(field(page, "A", 1)).to_have_value("finish")
    expect(cell(page, "A", 1)).to_have_attribute("data-mark", "finish")
    expect(page.locator('pw-schedule tr[data-req="A"] .where')).to_have_text("not in the pool")
    enter(page, "A", 1, "preempt")
    expect(field(page, "A", 1)).to_have_value("preempt")
    page.keyboard.press("Control+z")
    expect(field(page, "A", 1)).to_have_value("finish")
    enter(page, "A", 1, "5")
    expect(field(page, "A", 1)).to_have_value("5")
    expect(cell(page, "A", 1)).not_to_have_attribute("data-mark", re.compile("."))
    enter(page, "A", 1, "0")
    expect(field(page, "A", 1)).to_have_value("")
    expect(cell(page, "A", 1)).to_have_attribute("data-where", "live")
    expect(page.locator("pw-schedule .fault")).to_have_count(0)

    # The menu of the cell offers the same, by mouse and by keys.
    cell(page, "A", 1).hover()
    cell(page, "A", 1).get_by_role("button").click()
    page.get_by_role("menuitem", name="Preempt A here").click()
    expect(field(page, "A", 1)).to_have_value("preempt")
    expect(field(page, "A", 1)).to_be_focused()
    page.keyboard.press("Alt+ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("menuitem", name="Do not schedule A")).to_be_focused()
    page.keyboard.press("End")
    expect(page.get_by_role("menuitem", name="Details")).to_be_focused()
    page.keyboard.press("Escape")
    expect(field(page, "A", 1)).to_be_focused()
    expect(field(page, "A", 1)).to_have_value("preempt")


def test_an_empty_cell_says_where_its_request_is(page: Page) -> None:
    open_page(page, "/?example=a-row-is-recycled")
    for req_id, step, where in (("G", 0, "waiting"), ("F", 1, "finished"), ("F", 2, "finished"), ("G", 1, "live")):
        expect(cell(page, req_id, step)).to_have_attribute("data-where", where)
    expect(field(page, "F", 1)).to_have_value("finish")
    expect(cell(page, "F", 2)).to_have_attribute("title", "finished, no longer in the pool")


def test_a_refusal_is_said_at_the_cell_moves_nothing_and_hides_no_other(page: Page) -> None:
    open_page(page)
    enter(page, "A", 1, "7")  # an edit: Undo is there from now on
    expect(page.get_by_role("button", name="Undo")).to_be_enabled()
    fault = page.locator("pw-schedule .fault")
    for width in (1440, 1024, 390):
        page.set_viewport_size({"width": width, "height": 900})
        top = rail_top(page)
        for text in ("40", "many"):
            enter(page, "A", 1, text)
            expect(fault).to_be_in_viewport(ratio=1)
            assert abs(rail_top(page) - top) < 1
        box, at = fault.bounding_box(), cell(page, "A", 1).bounding_box()
        assert box and at
        assert abs(box["y"] - at["y"]) <= at["height"] + 12
        page.get_by_role("button", name="Undo this change").click()
        expect(fault).to_have_count(0)
        expect(field(page, "A", 1)).to_be_focused()

    # On a phone it would lie on the cells below: only while its own cell is edited.
    enter(page, "B", 1, "40")
    expect(field(page, "A", 1)).to_be_focused()
    expect(fault).to_be_visible()
    cell(page, "A", 1).get_by_role("button").click()
    page.get_by_role("menuitem", name="Finish A here").click()
    expect(field(page, "A", 1)).to_have_value("finish")


def test_the_keyboard_goes_where_something_was_added(page: Page) -> None:
    open_draft(page, {"version": 1, "requests": [], "steps": []})
    page.get_by_role("button", name="Add the first request").click()
    expect(field(page, "A", 0)).to_be_focused()
    page.keyboard.type("16")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="+ step").click()
    expect(field(page, "A", 1)).to_be_focused()
    page.get_by_role("button", name="+ request").click()
    expect(field(page, "B", 0)).to_be_focused()
    # Its whole prompt, in the step on screen.
    expect(field(page, "B", 0)).to_have_value("16")
    page.get_by_role("button", name="Request A: rename").click()
    page.get_by_role("menuitem", name="Remove request A").click()
    expect(field(page, "B", 0)).to_be_focused()


def test_an_edit_is_marked_beside_the_title_and_a_lost_pin_leaves_the_address(page: Page) -> None:
    open_page(page, "/?stage=slot-mapping&pin=slot_mappings.0.8")
    mark = page.locator("[data-edited]")
    expect(mark).to_be_hidden()
    enter(page, "A", 1, "5")
    expect(mark).to_contain_text("edited")
    expect(mark).to_contain_text("this browser only")
    expect(page).not_to_have_url(re.compile("pin="))
    expect(page.locator("[data-title]")).to_have_text("One decode, one prefill chunk")


def test_an_odd_address_is_put_right_and_said_once(page: Page) -> None:
    open_page(page, "/?step=99&stage=zap&pin=slot_mappings.0.99&lang=fr")
    expect(page.locator("[data-notice=step]")).to_contain_text("There is no step 99. Step 1")
    expect(page.locator("[data-notice=ignored]")).to_contain_text("stage, lang, pin")
    expect(page).to_have_url(re.compile(r"\?example=worked-example&step=1&stage=schedule$"))
    page.reload()
    expect(page.locator("[data-workbench][data-ready]")).to_be_visible()
    expect(page.locator("[data-notice]")).to_have_count(0)


def test_a_link_opens_at_its_stage_whatever_is_pinned(new_page: NewPage) -> None:
    page = new_page(viewport={"width": 390, "height": 844})
    open_page(page, "/?step=1&stage=state-pool&pin=slot_mappings.0.0")
    expect(page.locator('.panel[data-stage="state-pool"] h2')).to_be_in_viewport()
    # The inspector is one line until it is asked for more.
    inspector = page.locator("pw-inspector")
    assert (inspector.bounding_box() or {"height": 999})["height"] <= 56
    expect(inspector.locator("[data-value]")).to_have_text("207")
    inspector.locator(".gist .big").click()
    expect(inspector.locator("[data-formula]")).to_be_visible()


def test_charts_are_below_the_board_escape_returns_keys_and_theme_are_at_hand(page: Page) -> None:
    open_page(page)
    top = rail_top(page)
    page.get_by_role("button", name="Charts").click()
    expect(page.locator("#charts-title")).to_be_focused()
    expect(page.locator("#charts-title")).to_be_in_viewport()
    assert rail_top(page) == top or page.evaluate("scrollY") > top  # sticky by then
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Charts")).to_be_focused()
    expect(page.get_by_role("button", name="Charts")).to_be_in_viewport()

    # The sheet of keys begins at its start where it does not fit; the theme changes at once.
    page.set_viewport_size({"width": 1024, "height": 600})
    page.keyboard.press("?")
    expect(page.locator("#help-title")).to_be_focused()
    expect(page.locator("pw-help tr").first).to_be_in_viewport(ratio=1)
    page.keyboard.press("Escape")
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    page.locator("[data-theme-switch]").click()
    dark = page.evaluate(paper)
    assert dark != light
    page.locator("[data-theme-switch]").click()
    assert page.evaluate(paper) == light


def test_the_schedule_is_chinese_on_a_chinese_page(new_page: NewPage) -> None:
    page = new_page(locale="zh-CN")
    open_page(page)
    expect(page.locator("[data-title]")).to_have_text("一个解码，一个预填充分块")
    expect(page.locator("pw-schedule .prompt").first).to_have_text("提示词")
    enter_zh = page.locator('pw-schedule input[data-req="A"][data-step="1"]')
    enter_zh.fill("完成")
    enter_zh.press("Enter")
    expect(enter_zh).to_have_value("完成")
    expect(page.locator('pw-schedule td[data-mark="finish"]')).to_have_count(1)


LONG = "request-" + "x" * 120
RIGHT_TO_LEFT = "שלום"
SPILLS = """() => [...document.querySelectorAll('pw-schedule *, pw-schedule-menu *, pw-inspector *, pw-board *')]
  .filter(one => !one.closest('.vh, .scroll, .callout, .beside') && one.clientWidth > 0
    && one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX === 'visible')
  .map(one => `${one.tagName}.${one.className}: ${one.scrollWidth} in ${one.clientWidth}`)"""


@pytest.mark.parametrize("width", [1440, 390])
def test_a_name_stays_in_its_place_however_long_it_is(new_page: NewPage, width: int) -> None:
    page = new_page(viewport={"width": width, "height": 900})
    counts = [{"num_scheduled_tokens": [[LONG, 31], [RIGHT_TO_LEFT, 16]]}, {"num_scheduled_tokens": [[LONG, 1]]}]
    requests = [{"req_id": LONG, "prompt_len": 31}, {"req_id": RIGHT_TO_LEFT, "prompt_len": 24}]
    open_draft(page, {"version": 1, "start_step": 1, "requests": requests, "steps": counts})
    open_page(page, "/?draft=test&stage=all")
    box = field(page, LONG, 1)
    box.fill("40")
    box.press("Shift+Enter")
    callout = page.locator("#schedule-faults")
    expect(callout).to_contain_text("exactly 1 token")
    assert callout.evaluate("box => box.scrollWidth <= box.clientWidth")
    assert callout.evaluate("box => box.getBoundingClientRect().right <= innerWidth")
    box.press("Alt+Enter")
    expect(page.locator("#schedule-details")).to_be_visible()
    assert page.evaluate(SPILLS) == []
    page.locator("[data-detail=drafts]").press("Escape")
    page.keyboard.press("Alt+ArrowDown")
    menu = page.locator("pw-schedule-menu").bounding_box()
    assert menu
    assert menu["x"] >= 0
    assert menu["x"] + menu["width"] <= width
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.keyboard.press("Escape")
    # A name from right to left turns nothing around it.
    below = page.locator(f'pw-schedule input[data-req="{RIGHT_TO_LEFT}"][data-step="1"]')
    below.fill("x")
    below.press("Enter")
    expect(callout).to_contain_text(f"\u2068{RIGHT_TO_LEFT}\u2069, step 1: type a whole number")
