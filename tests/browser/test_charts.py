"""Charts over time in the page: drawn under its policy, read as tables, led by clicks and keys, closed by Back."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import NewPage
from tests.browser.scenarios import choose_example

TWO_GROUPS = "two-groups-drafts-padding-preemption"
CHARTS = ["tokens", "pool", "blocks"]


def open_page(page: Page, path: str) -> None:
    page.goto(path)
    expect(page.locator("[data-workbench][data-ready]")).to_be_visible()


def open_charts(page: Page, path: str) -> None:
    open_page(page, path)
    page.get_by_role("button", name="Charts").click()
    for name in CHARTS:
        expect(plot(page, name).locator(".nsewdrag").first).to_be_attached()


def plot(page: Page, name: str) -> Locator:
    return page.locator(f"[data-plot={name}]")


def reading(page: Page, name: str) -> Locator:
    return page.locator(f"[data-chart={name}] [data-reading]")


def click_step(page: Page, name: str, step: int, num_steps: int) -> None:
    """Somewhere in the column of a step, high up where no bar reaches."""
    area = plot(page, name).locator(".nsewdrag").first
    box = area.bounding_box()
    assert box
    area.click(position={"x": box["width"] * (step + 0.5) / num_steps, "y": 4})


def at_step(page: Page, step: int) -> None:
    expect(page.locator("[data-workbench]")).to_have_attribute("data-step", str(step))


def test_the_script_is_loaded_when_charts_are_opened(page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    open_page(page, "/")
    page.wait_for_load_state("networkidle")
    assert not [url for url in asked if "plotly" in url or "/api/charts" in url]
    page.get_by_role("button", name="Charts").click()
    expect(plot(page, "blocks").locator("svg").first).to_be_visible()
    assert len([url for url in asked if "plotly" in url]) == 1
    expect(page.locator(".modebar, .plotly-notifier")).to_have_count(0)


def top_of(page: Page, name: str) -> float:
    """Where a figure begins in the window."""
    box = plot(page, name).bounding_box()
    assert box is not None
    return box["y"]


@pytest.mark.parametrize("example", [TWO_GROUPS, "256-requests"])
def test_figures_show_each_step_and_clicks_go_there(page: Page, example: str) -> None:
    num_steps = 7 if example == TWO_GROUPS else 2
    open_charts(page, f"/?example={example}&step=0&stage=update&pin=row_status.0")
    for step, name in enumerate(CHARTS):
        step = min(step + 1, num_steps - 1)
        plot(page, name).scroll_into_view_if_needed()
        place = top_of(page, name)
        click_step(page, name, step, num_steps)
        at_step(page, step)
        assert abs(top_of(page, name) - place) <= 2  # the board above changes; the chart stays where it is read
        expect(plot(page, name)).to_have_attribute("aria-valuenow", str(step))
        expect(reading(page, name)).to_contain_text(f"Step {step}:")
        click_step(page, name, 0, num_steps)
        at_step(page, 0)


def test_hover_and_tables_tell_the_numbers_and_colours_follow_the_theme(page: Page) -> None:
    open_charts(page, "/")
    plot(page, "tokens").locator(".nsewdrag").first.hover()
    expect(plot(page, "tokens").locator(".hoverlayer")).to_contain_text("Step")
    expect(plot(page, "tokens").locator(".hoverlayer")).to_contain_text(re.compile(r"prefill ?: ?(47|8)"))
    for name in CHARTS:
        page.locator(f"[data-chart={name}] summary").click()
    tokens = page.get_by_role("table", name="Tokens per step")
    expect(tokens.get_by_role("columnheader")).to_have_text(["step", "prefill", "decode", "all"])
    expect(tokens.get_by_role("row")).to_have_text(
        [re.compile("step"), re.compile(r"^\s*0\s*47\s*0\s*47\s*$"), re.compile(r"^\s*1\s*8\s*1\s*9\s*$")]
    )
    blocks = page.get_by_role("table", name="Who holds which block")
    expect(blocks.get_by_role("row", name=re.compile("^12 ")).get_by_role("cell")).to_have_text(
        ["0", "1", "held", "B", "1", "1", "1", "0", "0"]
    )
    tokens.get_by_role("button", name="0", exact=True).click()
    at_step(page, 0)
    expect(tokens.get_by_role("row").nth(1)).to_have_attribute("aria-current", "step")
    ink = plot(page, "tokens").locator(".xtick text").first
    light = ink.evaluate("text => getComputedStyle(text).fill")
    page.emulate_media(color_scheme="dark")
    expect(ink).not_to_have_css("fill", light)


def test_the_keyboard_alone_goes_through_the_steps_and_back(page: Page) -> None:
    open_page(page, f"/?example={TWO_GROUPS}&step=2&stage=flatten")
    button = page.get_by_role("button", name="Charts")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Over time")).to_be_focused()
    expect(plot(page, "tokens").locator("svg").first).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    slider = page.get_by_role("slider", name="Tokens per step: step")
    expect(slider).to_be_focused()
    for key, step in (("ArrowRight", 3), ("End", 6), ("ArrowLeft", 5), ("Home", 0), ("ArrowLeft", 0), ("ArrowRight", 1)):
        page.keyboard.press(key)
        at_step(page, step)
    expect(slider).to_have_attribute("aria-valuetext", "Step 1: 17 prefill, 1 decode, 14 padding")
    expect(page.locator("[data-workbench]")).to_have_attribute("data-stage", "flatten")
    page.keyboard.press("Escape")
    expect(page.locator("pw-charts")).to_be_hidden()
    expect(button).to_be_focused()
    at_step(page, 1)
    expect(page).to_have_url(re.compile("step=1"))


def test_back_closes_and_forward_opens(page: Page) -> None:
    open_charts(page, "/?example=a-row-is-recycled&step=0")
    click_step(page, "tokens", 2, 3)
    at_step(page, 2)
    page.go_back()
    expect(page.locator("pw-charts")).to_be_hidden()
    at_step(page, 2)
    expect(page).to_have_url(re.compile("step=2"))
    page.go_forward()
    expect(page.locator("pw-charts")).to_be_visible()
    page.reload()
    expect(plot(page, "tokens").locator("svg").first).to_be_visible()


def test_charts_follow_the_schedule(page: Page) -> None:
    open_charts(page, "/")
    expect(reading(page, "tokens")).to_have_text("Step 1: 8 prefill, 1 decode")
    field = page.get_by_role("textbox", name="A, step 1: tokens scheduled")
    field.fill("5")
    field.press("Enter")
    expect(reading(page, "tokens")).to_have_text("Step 1: 5 prefill, 1 decode")
    field.fill("40")
    field.press("Enter")
    expect(page.locator("pw-schedule .fault")).to_be_visible()
    expect(reading(page, "tokens")).to_have_text("Step 1: 5 prefill, 1 decode")
    page.go_back()  # the first edit began an entry of its own: before it is the example, with its charts
    expect(field).to_have_value("8")
    expect(reading(page, "tokens")).to_have_text("Step 1: 8 prefill, 1 decode")
    page.go_back()
    expect(page.locator("pw-charts")).to_be_hidden()
    expect(field).to_have_value("8")


def test_back_past_another_scenario_brings_the_first_one_back(page: Page) -> None:
    open_charts(page, "/?example=worked-example")
    choose_example(page, "a-row-is-recycled")
    expect(plot(page, "tokens")).to_have_attribute("aria-valuemax", "2")
    page.get_by_role("button", name="Close charts").click()
    expect(page.locator("pw-charts")).to_be_hidden()
    page.go_back()
    expect(page.locator("pw-charts")).to_be_visible()
    expect(plot(page, "tokens")).to_have_attribute("aria-valuemax", "1")
    expect(page.locator("[data-title]")).to_have_text("One decode, one prefill chunk")
    page.go_back()
    expect(page.locator("pw-charts")).to_be_hidden()
    expect(page.locator("[data-title]")).to_have_text("One decode, one prefill chunk")


@pytest.mark.console("503")
def test_without_the_script_the_tables_stay(page: Page) -> None:
    page.route("**/vendor/plotly*", lambda route: route.fulfill(status=503, body=""))
    open_page(page, "/")
    page.get_by_role("button", name="Charts").click()
    expect(page.get_by_text("could not be loaded")).to_be_visible()
    page.locator("[data-chart=tokens] summary").click()
    expect(page.get_by_role("table", name="Tokens per step").get_by_role("row")).to_have_count(3)


@pytest.mark.console("503")
def test_the_server_gone_is_said(page: Page) -> None:
    page.route("**/api/charts*", lambda route: route.fulfill(status=503, body=""))
    open_page(page, "/")
    page.get_by_role("button", name="Charts").click()
    expect(page.locator("pw-charts .notice")).to_contain_text("does not answer")


@pytest.mark.console("413")
def test_a_schedule_too_large_for_charts_says_so_and_shows_none(page: Page) -> None:
    open_charts(page, "/")
    problem = {"title": "Too large", "status": 413, "detail": "The steps hand out too many blocks.", "errors": []}
    page.route("**/api/charts*", lambda route: route.fulfill(status=413, json=problem))
    field = page.get_by_role("textbox", name="A, step 1: tokens scheduled")
    field.fill("5")
    field.press("Enter")
    expect(page.locator("pw-charts .notice")).to_have_text("The steps hand out too many blocks.")
    expect(page.locator("[data-chart]")).to_have_count(0)


@pytest.mark.parametrize(("width", "scheme", "lang"), [(1440, "light", "en"), (1024, "dark", "zh"), (390, "light", "zh")])
def test_nothing_is_cut_off(new_page: NewPage, width: int, scheme: str, lang: str) -> None:
    page = new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    open_page(page, f"/?example={TWO_GROUPS}&lang={lang}")
    page.locator("[data-charts]").click()
    expect(plot(page, "blocks").locator("svg").first).to_be_visible()
    for name in CHARTS:
        page.locator(f"[data-chart={name}] summary").click()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.locator(".plot text").evaluate_all(
        "all => all.every((text) => parseFloat(getComputedStyle(text).fontSize) >= 12)"
    )


def test_charts_are_drawn_again_once_a_talk_is_left(page: Page) -> None:
    open_charts(page, f"/?example={TWO_GROUPS}")
    width = plot(page, "blocks").evaluate("box => box.clientWidth")
    page.locator("[data-present]").click()
    expect(page.locator("pw-talk")).to_be_visible()
    page.keyboard.press("Shift+ArrowRight")  # the charts have something to draw afterwards
    page.locator("[data-talk=leave]").click()
    expect(page.locator("pw-talk")).to_have_count(0)
    expect(plot(page, "blocks").locator(".nsewdrag").first).to_be_visible()
    assert plot(page, "blocks").evaluate("box => box.clientWidth") == width
