"""Present mode as a lecture uses it: without a mouse, at 1280 by 720, from a link to the last stop and out again."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from app.i18n import Language, translate
from app.scenario.format.link import encode_link
from tests.browser.conftest import NewPage
from tests.browser.stages import Stages, stages_of, title_of

ROOM = {"width": 1280, "height": 720}


def at_stop(page: Page, stages: Stages, step: int, stage: str, lang: Language = "en") -> None:
    expect(page.locator("[data-stop]")).to_have_attribute("data-stop", str(stages.stop(step, stage)))
    name = translate(lang, "step.now", {"step": str(step)})
    expect(page.locator(".talk-line .where")).to_have_text(re.compile(rf"^{name} {title_of(stage, lang)}"))


def test_a_whole_talk_without_a_mouse(new_page: NewPage) -> None:
    page = new_page(viewport=ROOM)
    stages = stages_of(page)
    page.goto(f"/?view=present&step=0&stage={stages.before(stages.last)}")
    at_stop(page, stages, 0, stages.before(stages.last))
    for gone in [".masthead h1", "pw-schedule", "pw-inspector", "pw-rail"]:
        expect(page.locator(gone)).to_be_hidden()
    expect(page.get_by_role("heading", level=1)).to_have_text("One decode, one prefill chunk")

    page.keyboard.press("PageDown")
    at_stop(page, stages, 0, stages.last)
    page.keyboard.press("PageDown")  # on into the next step
    at_stop(page, stages, 1, stages.first)
    expect(page.locator("pw-plan td.now").first).to_have_text("1")
    expect(page).to_have_url(re.compile(rf"step=1&stage={stages.first}&view=present"))
    expect(page.locator("[data-live]")).to_have_text("Step 1, Schedule: 9 tokens of 2 requests")
    page.keyboard.press("PageUp")
    at_stop(page, stages, 0, stages.last)
    page.keyboard.press("End")
    at_stop(page, stages, 1, stages.last)
    page.keyboard.press("PageDown")  # there is no further one
    for _ in range(stages.between("slot-mapping", stages.last)):
        page.keyboard.press("ArrowLeft")
    at_stop(page, stages, 1, "slot-mapping")

    # Which slot? 12 * 16 + 15 is asked before 207 is told, by nothing on the way there either.
    slots = re.compile(r"\b(?:207|704|711)\b")

    def said() -> set[str]:
        return set(slots.findall(page.locator("main").inner_text() + page.locator("[data-live]").inner_text()))

    page.keyboard.press("PageUp")
    page.keyboard.press("r")
    expect(page.locator("[data-asking]")).to_be_visible()
    assert said() == set()
    page.keyboard.press("PageDown")
    at_stop(page, stages, 1, "slot-mapping")
    assert said() == set()
    page.keyboard.press("]")
    formula = page.locator("[data-formula-bar] .line")
    expect(formula).to_have_text(re.compile(r"slot_mappings\[0\]\[0\] = 12 \* 16 \+ 15 = \?$"))
    assert said() == set()
    page.keyboard.press("r")
    expect(formula).to_have_text(re.compile(r"= 12 \* 16 \+ 15 = 207$"))
    assert said() == {"207", "704", "711"}
    expect(page.locator("[data-live]")).to_have_text("Step 1, Slot mapping: 9 slots to write: 207, 704–711")
    page.keyboard.press("]")  # the next one is asked for in its turn
    expect(formula).to_have_text(re.compile(r"slot_mappings\[0\]\[1\] = 44 \* 16 \+ 0 = \?$"))
    page.keyboard.press("[")
    expect(formula).to_have_text(re.compile(r"= 207$"))

    # The spotlight: what the slot was computed from is lit, its neighbour stands back.
    def ink(cell: str) -> str:
        return page.locator(f'pw-strip [data-cell="{cell}"] .v').evaluate("cell => getComputedStyle(cell).color")

    assert ink("block_offsets.0.0") != ink("block_offsets.0.1") == ink("slot_mappings.0.1")
    page.keyboard.press("s")
    expect(page.locator("html[data-spotlight]")).to_have_count(0)
    assert ink("block_offsets.0.0") == ink("block_offsets.0.1")

    page.keyboard.down(".")
    page.keyboard.down(".")  # held a moment too long
    page.keyboard.up(".")
    blank = page.get_by_role("dialog")
    expect(blank).to_be_visible()
    box = blank.bounding_box()
    assert box == {"x": 0, "y": 0, **ROOM}
    assert blank.evaluate("dialog => getComputedStyle(dialog).backgroundColor") == "rgb(0, 0, 0)"
    page.keyboard.press("PageDown")  # any key: it brings the board back, and does nothing else
    expect(blank).to_have_count(0)
    at_stop(page, stages, 1, "slot-mapping")

    page.keyboard.press("l")
    at_stop(page, stages, 1, "slot-mapping", "zh")
    expect(page.locator("[data-formula-bar] .line")).to_have_text(re.compile(r"= 207$"))
    expect(page).to_have_url(re.compile(r"pin=slot_mappings\.0\.0&view=present&lang=zh"))
    page.keyboard.press("PageUp")
    at_stop(page, stages, 1, stages.before("slot-mapping"), "zh")

    page.keyboard.press("Escape")  # the pin first
    expect(page.locator("[data-formula-bar]")).to_have_count(0)
    at_stop(page, stages, 1, stages.before("slot-mapping"), "zh")
    page.keyboard.press("Escape")
    expect(page.locator(".masthead h1")).to_be_visible()
    expect(page.locator("[data-present]")).to_be_focused()
    expect(page).to_have_url(re.compile(rf"step=1&stage={stages.before('slot-mapping')}&lang=zh"))
    page.keyboard.press("PageDown")  # on the board page keys just scroll
    page.keyboard.press("Enter")
    at_stop(page, stages, 1, stages.before("slot-mapping"), "zh")


NUMBERS = """() => {
  const frame = document.querySelector('.left');
  const seen = (selector) => [...frame.querySelectorAll(selector)].filter((one) => one.checkVisibility());
  const cells = seen('.c:not([data-dtype="str"]) > .v, .pastnow .v');
  return {
    least: Math.min(...cells.map((cell) => parseFloat(getComputedStyle(cell).fontSize) * cell.currentCSSZoom)),
    below: frame.scrollHeight - frame.clientHeight,
    beside: seen('.panel .scroll').filter((one) => one.scrollWidth > one.clientWidth + 1).length,
    page: [document.documentElement.scrollHeight - innerHeight, document.documentElement.scrollWidth - innerWidth],
  };
}"""


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_back_row_reads_every_number_of_the_worked_example(new_page: NewPage, lang: str) -> None:
    page = new_page(viewport=ROOM)
    stages = stages_of(page)
    page.goto(f"/?view=present&step=1&stage={stages.first}&lang={lang}")
    for stage in stages.names:
        expect(page.locator("[data-stop]")).to_have_attribute("data-stop", str(stages.stop(1, stage)))
        if stage == "slot-mapping":
            page.keyboard.press("]")
            expect(page.locator("[data-formula-bar]")).to_be_visible()
        found = page.evaluate(NUMBERS)
        assert found["least"] >= 22, (stage, found)
        assert found["page"] == [0, 0]
        assert found["below"] <= 1, (stage, found)
        assert found["beside"] == 0, (stage, found)
        page.keyboard.press("PageDown")


def test_large_steps_scroll_inside_and_say_so(new_page: NewPage) -> None:
    page = new_page(viewport=ROOM)
    page.goto("/?view=present&example=256-requests&step=0&stage=slot-mapping")
    window = page.locator(".panel[data-current] pw-strip .window")
    expect(window).to_be_visible()
    whole = page.evaluate(
        """() => {
          const strip = document.querySelector('.panel[data-current] pw-strip');
          const { right } = strip.querySelector('.scroll').getBoundingClientRect();
          const columns = [...strip.querySelectorAll('thead th[data-index]')];
          return columns.filter((column) => column.getBoundingClientRect().right <= right + 1).length;
        }"""
    )
    expect(window).to_have_text(f"Tokens 0 to {whole - 1} of 16,384 are in sight; scroll for the others.")
    found = page.evaluate(NUMBERS)
    assert found["page"] == [0, 0]
    assert found["least"] >= 22
    for view in ["board", "present", "embed"]:  # the style sheets and the scripts agree about rows
        assert page.evaluate(
            """async (mode) => {
              const { rowHeight } = await import('/static/js/ui/board/columns.js');
              document.documentElement.dataset.view = mode;
              const token = (name) => parseFloat(getComputedStyle(document.documentElement).getPropertyValue(name));
              return rowHeight({ mode }, true) === token('--row-big') && rowHeight({ mode }, false) === token('--row');
            }""",
            view,
        ), view


def test_what_is_presented_is_not_edited_and_back_is_the_board(page: Page) -> None:
    page.goto("/?step=1")
    count = page.locator("pw-schedule tr[data-req=A] td").nth(1)
    count.click()
    page.keyboard.type("7")
    page.keyboard.press("Enter")
    expect(page.locator("pw-schedule .sentence")).to_have_text("8 tokens of 2 requests")
    page.locator("[data-present]").click()
    counts = page.locator("pw-plan td.now")
    expect(counts).to_have_text(["1", "7"])
    page.keyboard.press("Control+z")
    page.keyboard.press("PageDown")
    stages = stages_of(page)
    at_stop(page, stages, 1, stages.after(stages.first))
    page.keyboard.press("PageUp")
    expect(counts).to_have_text(["1", "7"])
    page.go_back()
    expect(page.locator(".masthead h1")).to_be_visible()
    expect(page).not_to_have_url(re.compile("view="))

    # Where there is no grid, it is said all the same why a schedule cannot be run.
    steps = [{"num_scheduled_tokens": {"A": 8}}, {"num_scheduled_tokens": {"A": 5}}]  # five tokens of one that decodes
    link = encode_link({"version": 1, "requests": [{"req_id": "A", "prompt_len": 8}], "steps": steps})
    page.goto(f"/?view=present&s={link}")
    reason = re.compile("This schedule cannot be run. Step 1: A .* decodes: exactly 1 token a step, not 5")
    expect(page.locator("[data-notice=cannot-run]")).to_have_text(reason)


def test_fingers_find_the_stops(new_page: NewPage) -> None:
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True)
    page.goto("/?view=present&step=1&stage=batch")
    forward = page.locator('[data-stop-by="1"]')
    box = forward.bounding_box()
    assert box is not None and box["height"] >= 44 and box["width"] >= 44
    forward.tap()
    stages = stages_of(page)
    at_stop(page, stages, 1, stages.after("batch"))
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    beside = page.locator(".left").evaluate("stage => stage.scrollWidth - stage.clientWidth")
    assert beside <= 1  # tables scroll by themselves
