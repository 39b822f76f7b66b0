"""The board: what a table says of itself, where its arrows lead, and what ordering lights."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import NewPage
from tests.browser.stages import stages_of

TWO_GROUPS = "/?example=two-groups-drafts-padding-preemption&step=2&stage=block-tables"
MANY = "/?example=256-requests"


def open_page(page: Page, path: str) -> None:
    page.goto(path)
    expect(page.locator("[data-workbench][data-ready]")).to_be_visible()


def box(locator: Locator) -> dict[str, float]:
    found = locator.bounding_box()
    assert found is not None
    return {**found, "right": found["x"] + found["width"], "bottom": found["y"] + found["height"]}


def test_a_look_up_shows_what_it_looks_in_and_links_its_indices(page: Page) -> None:
    open_page(page, "/?step=1&stage=slot-mapping&pin=block_numbers.0.0")
    formula = page.locator("pw-inspector [data-formula]")
    expect(formula).to_have_text("block_tables[0, 7, 1] = 12")
    for ref in ("block_tables.0.7.1", "idx_mapping.0", "block_indices.0.0"):
        expect(formula.locator(f'[data-ref="{ref}"]')).to_be_visible()
    expect(page.locator(".panel.now .hint", has_text="block_tables[row][block]")).to_be_visible()


def test_captions_are_those_of_the_case_that_applies(page: Page) -> None:
    open_page(page, "/?example=context-parallel-rank-1-of-2&stage=slot-mapping&step=1")
    expect(page.locator(".panel.now .hint", has_text="positions // (block_size * dcp_size)")).to_be_visible()
    expect(page.locator(".panel.now .sentence")).to_have_text("4 slots to write: 80–83")


@pytest.mark.parametrize("width", [1440, 1024, 390])
def test_reading_and_writing_are_two_arrows_from_the_persistent_table(new_page: NewPage, width: int) -> None:
    page = new_page(viewport={"width": width, "height": 900})
    open_page(page, TWO_GROUPS)
    panel = page.locator(".panel.now")
    persistent, gathered = box(panel.locator(".persistent pw-rows")), box(panel.locator(".gathered pw-rows"))
    read, write = box(panel.locator(".arrow.read")), box(panel.locator(".arrow.write"))
    slots = box(page.locator('section[data-stage="slot-mapping"]'))
    if read["x"] >= persistent["right"]:
        assert read["right"] <= gathered["x"], "from the persistent table to its copy on the right"
        assert persistent["y"] < read["y"] < persistent["bottom"]
    else:
        assert gathered["bottom"] <= read["y"] and read["bottom"] <= persistent["y"], "or up to the copy above it"
    assert persistent["bottom"] <= write["y"] < persistent["bottom"] + 20, "writing begins under the persistent table"
    assert write["bottom"] <= slots["y"], "and leads to the slot mapping, with nothing between"
    assert gathered["bottom"] <= write["bottom"] or gathered["x"] > write["right"]


def test_padded_rows_of_a_table_are_zeroed(page: Page) -> None:
    open_page(page, TWO_GROUPS)
    padded = page.locator('.gathered tr[data-index="2"] .chip[data-state="padding"]')
    expect(padded).to_have_count(2)
    expect(padded.first).to_contain_text("∅ 0 …")
    expect(page.locator(".gathered .caption", has_text="Padded rows are zeroed whole")).to_be_visible()


@pytest.mark.parametrize(
    ("pin", "stage", "dashed"),
    [
        ("slot_mappings.0.1", "slot-mapping", ["sort_key.1.0", "query_start_loc.1"]),
        ("idx_mapping.0", "batch", ["sort_key.0.0", "sort_key.0.2"]),
    ],
)
def test_ordering_lights_what_decides_the_order(page: Page, pin: str, stage: str, dashed: list[str]) -> None:
    open_page(page, f"/?step=1&stage={stage}&pin={pin}")
    page.locator("pw-inspector [data-control]").click()
    for key in dashed:
        expect(page.locator(f'pw-board [data-cell="{key}"]').first).to_have_attribute("data-lit", "control")


def test_ordering_is_offered_only_where_there_is_some(page: Page) -> None:
    open_page(page, "/?step=1&stage=state-pool&pin=prompt_len.7")
    expect(page.locator("pw-inspector [data-value]")).to_have_text("31")
    expect(page.locator("pw-inspector [data-control]")).to_have_count(0)


def test_own_names_and_the_parts_of_the_key_say_so(page: Page) -> None:
    open_page(page, "/?step=1&stage=batch&pin=sort_key.0.1")
    expect(page.locator("pw-inspector h2")).to_contain_text("part 1: not 1+K tokens")
    expect(page.locator("pw-inspector [data-own]")).to_have_text("named by PageWalk")
    expect(page.locator(".panel.now .hint.parts")).to_have_text("no drafts · not 1+K · count")
    expect(page.locator(".panel.now .name.own", has_text="sort_key")).to_be_visible()
    expect(page.locator(".panel.now .name.own", has_text="idx_mapping")).to_have_count(0)


def test_a_long_table_shows_whole_rows_and_says_which(page: Page) -> None:
    open_page(page, f"{MANY}&stage=batch&step=0")
    table = page.locator(".panel.now pw-rows")
    expect(table.locator("[data-window]")).to_have_text("Rows 0 to 8 of 256 are in sight; scroll for the others.")
    sizes = table.evaluate(
        "t => [t.querySelector('.scroll').clientHeight - t.querySelector('thead').offsetHeight,"
        " t.querySelector('tbody tr').offsetHeight]"
    )
    assert sizes[0] % sizes[1] <= 1, "no row is cut"
    table.locator(".scroll").evaluate("scroller => { scroller.scrollTop = 3000; }")
    expect(table.locator("[data-window]")).to_have_text(re.compile("Rows 100 to 108 of 256"))
    page.locator("[data-workbench]").evaluate(
        "() => document.dispatchEvent(new CustomEvent('pw-go', { detail: { step: 1 } }))"
    )
    expect(page.locator("[data-workbench]")).to_have_attribute("data-step", "1")
    expect(table.locator("[data-window]")).to_have_count(0)
    assert table.locator(".scroll").evaluate("scroller => scroller.scrollTop") == 0, "another batch begins at its first row"


def test_a_band_that_began_out_of_sight_shows_where(page: Page) -> None:
    open_page(page, f"{MANY}&stage=flatten&step=0")
    scroller = page.locator(".panel.now pw-strip .scroll").first
    scroller.evaluate("scroller => { scroller.scrollLeft = scroller.scrollWidth; }")
    expect(page.locator(".panel.now td.from")).to_have_text(re.compile(r"^‹\d+$"))


def test_a_pin_that_a_step_does_not_have_leaves_the_address(page: Page) -> None:
    open_page(page, "/?step=1&stage=slot-mapping&pin=slot_mappings.0.8")
    expect(page.locator("pw-inspector [data-value]")).to_have_text("711")
    page.locator("[data-workbench]").evaluate(
        "() => document.dispatchEvent(new CustomEvent('pw-pin',"
        " { detail: { space: 'slot_mappings', at: [0, 40], step: 0 } }))"
    )
    expect(page).to_have_url(re.compile(r"pin=slot_mappings\.0\.40"))
    page.evaluate("document.dispatchEvent(new CustomEvent('pw-go', { detail: { step: 1 } }))")
    expect(page).not_to_have_url(re.compile("pin="))


def test_a_stage_at_rest_has_no_element_chosen(page: Page) -> None:
    open_page(page, "/?step=1&stage=slot-mapping")
    slider = page.locator(".panel.now [data-element]")
    expect(slider).to_have_attribute("data-rest", "")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("pw-inspector [data-value]")).to_have_text("207")
    expect(slider).not_to_have_attribute("data-rest", "")
    small = page.locator(".panel.now th .term").evaluate_all("terms => terms.filter(t => t.offsetHeight < 24).length")
    assert small == 0, "targets of 24 px"


def test_every_stage_of_the_whole_board_says_what_it_does(page: Page) -> None:
    open_page(page, "/?step=1&stage=all")
    expect(page.locator("pw-board .gist-line")).to_have_count(len(stages_of(page).on_board))
