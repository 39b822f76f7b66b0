"""The board where the screen is not as usual: on paper, in the reader's own colours, and at 200 % zoom."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import NewPage


def open_page(page: Page, path: str) -> None:
    page.goto(path)
    expect(page.locator("[data-workbench][data-ready]")).to_be_visible()


def test_the_printed_board_is_whole_and_says_what_it_shows(page: Page) -> None:
    open_page(page, "/?example=two-groups-drafts-padding-preemption&step=2&stage=all")
    page.evaluate(
        """addEventListener('beforeprint', () => {
        window.cut = [...document.querySelectorAll('.workbench .scroll')].filter((one) => {
          const table = one.querySelector('table');
          return table && table.getBoundingClientRect().right > one.getBoundingClientRect().right + 1;
        }).map((one) => one.closest('[data-stage]')?.dataset.stage);
        window.said = document.querySelector('[data-printed]').textContent;
      });"""
    )
    sheets = page.pdf(format="A4", prefer_css_page_size=True)
    assert page.evaluate("[window.cut, window.said]") == [[], "Step 2 · All · Mirrors vLLM 0.33.0"]
    pages = re.findall(rb"/MediaBox ?\[ ?0 0 ([\d.]+) ([\d.]+) ?\]", sheets)
    assert len(pages) <= 6
    assert {(round(float(width)), round(float(height))) for width, height in pages} == {(842, 595)}, "A4, lying"
    expect(page.locator("html:not([data-printing])")).to_be_attached()
    assert page.locator("table[style*=zoom]").count() == 0, "printed, it is as it was"


def test_a_dark_board_is_printed_dark_on_white(new_page: NewPage) -> None:
    page = new_page(color_scheme="dark")
    open_page(page, "/?step=1&stage=kv-cache")
    page.get_by_role("button", name="Glossary", exact=True).click()
    expect(page.locator("dialog.glossary[open]")).to_be_visible()
    page.evaluate(
        """addEventListener('beforeprint', () => Promise.resolve().then(() => {
        const canvas = document.querySelector('pw-pool canvas');
        const [square] = [canvas.getContext('2d').getImageData(canvas.width - 6, 6, 1, 1).data];
        window.printed = [square[0], getComputedStyle(document.body).backgroundColor];
      }));"""
    )
    sheets = page.pdf(format="A4", prefer_css_page_size=True)
    square, paper = page.evaluate("window.printed")
    assert square > 200, "a free block of the pool is light"
    assert paper == "rgb(255, 255, 255)"
    assert len(re.findall(rb"/Type\s*/Page\b", sheets)) <= 4
    expect(page.locator("html:not([data-theme])")).to_be_attached()


def test_in_forced_colours_bars_hatches_and_light_are_still_seen(new_page: NewPage) -> None:
    for scheme, paper, ink in (
        ("light", "rgb(255, 255, 255)", "rgb(0, 0, 0)"),
        ("dark", "rgb(0, 0, 0)", "rgb(255, 255, 255)"),
    ):
        page = new_page(forced_colors="active", color_scheme=scheme)
        open_page(page, "/?step=1&stage=slot-mapping&pin=slot_mappings.0.0")
        style = """(element, name) => getComputedStyle(element)[name]"""
        tag = page.locator("pw-board .tag").first
        assert tag.evaluate(style, "backgroundImage") != "none"
        assert tag.evaluate(style, "backgroundColor") == paper
        now = page.locator("pw-schedule thead th.now [data-go-step]")
        assert [now.evaluate(style, "backgroundColor"), now.evaluate(style, "color")] == [ink, paper]
        pinned = page.locator('pw-board [data-cell="slot_mappings.0.0"]').first
        expect(pinned).to_have_attribute("data-lit", "self")
        assert pinned.evaluate(style, "outlineStyle") == "solid"
        read = page.locator('pw-board [data-cell="block_numbers.0.0"]').first
        assert read.evaluate(style, "outlineStyle") == "dashed"


def test_in_forced_colours_a_talk_and_the_legend_are_read(new_page: NewPage) -> None:
    page = new_page(forced_colors="active", color_scheme="dark")
    open_page(page, "/?view=present&step=1&stage=slot-mapping&pin=slot_mappings.0.0")
    number = page.locator('pw-board .panel [data-cell="slot_mappings.0.0"] .v').first
    colours = "element => [getComputedStyle(element).color, getComputedStyle(element.closest('td')).backgroundColor]"
    assert number.evaluate(colours) == ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]
    open_page(page, "/?stage=kv-cache&step=1")
    look = """element => ['backgroundColor', 'backgroundImage', 'outlineStyle', 'borderStyle']
      .map((name) => getComputedStyle(element)[name])"""
    legend = page.locator("pw-board .legend [data-legend] i").all()
    looks = [str(sample.evaluate(look)) for sample in legend]
    assert len(looks) >= 6
    assert len(set(looks)) == len(looks), "each is told apart by form"


def test_at_200_percent_zoom_nothing_is_lost_sideways(new_page: NewPage) -> None:
    # A window of 1280 pixels at 200 % is one of 640 CSS pixels.
    page = new_page(viewport={"width": 640, "height": 450}, device_scale_factor=2)
    for stage in ("state-pool", "slot-mapping", "all"):
        open_page(page, f"/?stage={stage}&pin=slot_mappings.0.8")
        assert page.evaluate("document.documentElement.scrollWidth") == 640
        expect(page.locator("pw-inspector [data-value]")).to_have_text("711")
