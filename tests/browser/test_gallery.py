"""The dialog of scenarios: the gallery by keyboard, what this browser keeps and gives back, and an example's question."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import NewPage
from tests.browser.scenarios import choose_example, open_gallery
from tests.browser.test_accessibility import violations

SCENARIO: dict[str, Any] = {
    "version": 1,
    "requests": [{"req_id": "B", "prompt_len": 31}],
    "steps": [{"num_scheduled_tokens": [["B", 31]]}],
}


def open_page(page: Page, path: str = "/") -> None:
    page.goto(path)
    expect(page.locator("[data-workbench][data-ready]:not([data-busy])")).to_be_visible()


def title(page: Page) -> Locator:
    return page.locator("[data-title]")


def keep_drafts(page: Page, *titles: str) -> None:
    """Drafts `d0`, `d1`, ... with these titles, the first one used last."""
    drafts = [
        {"id": f"d{n}", "saved": 1_000_000 - n, "title": text, "scenario": {**SCENARIO, "title": text}}
        for n, text in enumerate(titles)
    ]
    text = json.dumps(json.dumps(drafts))
    page.add_init_script(f"if (!localStorage.getItem('pagewalk.drafts')) localStorage.setItem('pagewalk.drafts', {text})")


def show_own(page: Page) -> Locator:
    dialog = open_gallery(page)
    dialog.locator("[data-section=drafts]").click()
    expect(dialog.locator("#gallery-drafts")).to_be_focused()
    return dialog


def act(dialog: Locator, draft: str, kind: str) -> Locator:
    return dialog.locator(f"[data-draft='{draft}'] [data-act={kind}]")


def field_of(page: Page) -> Locator:
    return page.get_by_role("textbox", name="G, step 1: tokens scheduled")


def test_found_chosen_and_left_again_by_keyboard(page: Page) -> None:
    open_page(page)
    page.get_by_role("button", name="Scenarios").press("Enter")
    dialog = page.get_by_role("dialog", name="Scenarios")
    search = dialog.get_by_role("searchbox")
    expect(search).to_be_focused()
    entries = dialog.locator("[data-example]")
    expect(entries.first).to_contain_text("open now")
    assert entries.count() > 10
    page.keyboard.type("qqq")
    expect(dialog.locator("[data-found]")).to_have_text("No scenario matches “qqq”.")
    expect(entries).to_have_count(0)
    search.fill("recycled row")  # words in any order
    expect(dialog.locator("[data-found]")).to_have_text("1 scenario matches “recycled row”.")
    page.keyboard.press("ArrowDown")
    link = entries.get_by_role("link", name="A row is recycled")
    expect(link).to_be_focused()
    answer = dialog.locator("details p")
    expect(answer).to_be_hidden()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(answer).to_be_visible()
    link.press("Enter")
    expect(dialog).to_be_hidden()
    expect(title(page)).to_have_text("A row is recycled")
    expect(page).to_have_url(re.compile(r"example=a-row-is-recycled&.*stage=state-pool.*pin="))
    expect(page.locator("[data-inspected]")).to_be_visible()
    page.go_back()
    expect(title(page)).to_have_text("One decode, one prefill chunk")


def test_an_example_opens_at_its_lesson_named_by_hand_or_elsewhere(page: Page) -> None:
    page.mouse.move(500, 700)
    open_page(page, "/?lang=zh&example=a-step-that-schedules-nothing")
    expect(page.locator("[data-workbench]")).to_have_attribute("data-stage", "state-pool")
    expect(page.locator("[data-inspected]")).to_have_attribute("data-inspected", "row_status.7")
    expect(page).to_have_url(re.compile(r"\?lang=zh&example=a-step-that-schedules-nothing$"))  # as it was typed
    dialog = open_gallery(page)
    expect(dialog.locator("h3").first).to_have_text("示例")
    link = dialog.locator("[data-example='a-row-is-recycled'] a")
    with page.context.expect_page() as opened:
        link.click(modifiers=["ControlOrMeta"])
    other = opened.value
    expect(title(other)).to_have_text("池行的复用")
    other.close()
    expect(dialog).to_be_visible()
    expect(title(page)).to_have_text("空的一步：没有调度任何请求")
    link.click()  # and leaves the pointer where the board comes to lie under it
    expect(title(page)).to_have_text("池行的复用")
    expect(page.locator("[data-inspected]")).to_have_attribute("data-inspected", "block_tables.0.7.1")


@pytest.mark.console("Failed to load resource")
def test_without_a_server_what_the_browser_keeps_is_there_and_the_gallery_can_be_tried_again(page: Page) -> None:
    keep_drafts(page, "Mine")
    open_page(page)
    page.route("**/api/examples?*", lambda route: route.abort())
    page.locator("[data-gallery='']").click()
    dialog = page.locator("dialog.gallery")
    expect(dialog.get_by_role("alert")).to_contain_text("could not be fetched")
    dialog.locator("[data-section=drafts]").click()
    expect(dialog.get_by_role("link", name="Mine")).to_be_visible()
    dialog.get_by_role("searchbox").fill("mine")
    expect(dialog.locator("[data-draft]")).to_have_count(1)
    dialog.get_by_role("searchbox").fill("")
    dialog.get_by_role("button", name="All examples").click()
    page.unroute("**/api/examples?*")
    dialog.get_by_role("button", name="Try again").click()
    dialog.get_by_role("searchbox").fill("recycled")
    expect(dialog.locator("[data-example]").first).to_be_visible()


def test_own_scenarios_are_renamed_copied_opened_deleted_and_had_back(page: Page) -> None:
    keep_drafts(page, "First", "Second", "")
    open_page(page)
    dialog = show_own(page)
    expect(dialog.locator("[data-draft] h4")).to_have_text(["First", "Second", "B in 1 step"])
    act(dialog, "d1", "rename").click()
    page.keyboard.type("What if?")
    page.keyboard.press("Enter")
    expect(act(dialog, "d1", "rename")).to_be_focused()
    act(dialog, "d1", "duplicate").click()
    expect(dialog.locator("[data-draft] h4")).to_have_text(["What if? (copy)", "First", "What if?", "B in 1 step"])
    act(dialog, "d1", "delete").click()
    gone = dialog.locator("[data-gone=d1]")
    expect(gone.get_by_role("button", name="Undo")).to_be_focused()
    page.keyboard.press("Escape")
    dialog = show_own(page)
    expect(dialog.locator("section").last).to_contain_text("Recently deleted")
    gone.get_by_role("button", name="Restore").click()
    expect(dialog.locator("[data-draft=d1] a")).to_be_focused()
    expect(dialog.locator("[data-draft]")).to_have_count(4)
    page.keyboard.press("Enter")
    expect(title(page)).to_have_text("What if?")
    page.locator("[data-edited]").click()  # whose it is leads to all that are kept
    expect(dialog.locator("#gallery-drafts")).to_be_focused()
    expect(dialog.locator("[data-draft=d1]")).to_contain_text("open now")


def test_the_open_one_stays_on_screen_when_it_is_deleted_and_is_kept_with_the_next_change(page: Page) -> None:
    keep_drafts(page, "Mine", "Other")
    open_page(page, "/?draft=d0")
    other = page.context.new_page()
    open_page(other, "/?draft=d1")
    dialog = show_own(page)
    others = show_own(other)
    expect(dialog.locator("[data-draft=d0]")).to_contain_text("open now")
    act(dialog, "d0", "delete").click()
    expect(dialog.locator("[data-gone=d0]")).to_contain_text("It stays on screen")
    expect(others.locator("[data-draft=d0]")).to_have_count(0)  # one list for all tabs
    page.keyboard.press("Escape")
    expect(title(page)).to_have_text("Mine")
    expect(page.locator("[data-kept]")).to_have_text("not kept")
    expect(page).to_have_url(re.compile("s="))  # the address holds it
    page.reload()
    expect(title(page)).to_have_text("Mine")
    field = page.get_by_role("textbox", name="B, step 0: tokens scheduled")
    field.fill("20")
    field.press("Enter")
    expect(page.locator("[data-kept]")).to_have_text("in this browser only")
    others.get_by_role("searchbox").fill("mine")
    expect(others.locator("[data-draft]")).to_have_count(1)


def test_a_new_page_after_a_crash_finds_the_draft_what_was_opened_and_what_was_answered(page: Page) -> None:
    open_page(page)
    question = page.locator("pw-question")
    expect(question).to_contain_text("Which slot does B's token write")
    expect(question).not_to_contain_text("207")
    question.get_by_role("button", name="Answer").click()
    expect(question.locator("[data-answer]")).to_contain_text("Slot 207")
    boxes = [question.locator(part).bounding_box() for part in (".ask", "[data-answer]")]
    assert boxes[0] and boxes[1]
    assert boxes[1]["y"] >= boxes[0]["y"] + boxes[0]["height"]  # under the question, not beside it
    question.get_by_role("button", name="Hide this question").click()
    expect(question).to_be_hidden()
    choose_example(page, "a-row-is-recycled")
    expect(title(page)).to_have_text("A row is recycled")
    expect(question).to_contain_text("Ask yourself")
    field_of(page).fill("11")
    field_of(page).press("Enter")
    expect(page.locator("[data-edited]")).to_be_visible()
    page.close(run_before_unload=False)  # nothing of ours runs any more
    page = page.context.new_page()
    open_page(page)
    expect(title(page)).to_have_text("One decode, one prefill chunk")
    expect(page.locator("pw-question")).to_be_hidden()
    dialog = show_own(page)
    expect(dialog.locator("[data-draft] h4")).to_have_text("A row is recycled")
    recent = dialog.locator("[data-recent]")
    expect(recent).to_contain_text(["example · now"])
    dialog.locator("[data-draft] a").click()
    expect(field_of(page)).to_have_value("11")
    dialog = show_own(page)
    recent.get_by_role("button", name="Forget").click()
    expect(recent).to_have_count(0)
    expect(dialog.locator("#gallery-recents")).to_be_focused()


@pytest.mark.parametrize(("width", "scheme", "lang"), [(1440, "light", "en"), (390, "dark", "zh")])
def test_accessible_and_nothing_cut_off(new_page: NewPage, width: int, scheme: Any, lang: str) -> None:
    page = new_page(viewport={"width": width, "height": 844}, color_scheme=scheme)
    keep_drafts(page, "Mine", "")
    open_page(page, f"/?lang={lang}&example=a-row-is-recycled")
    dialog = open_gallery(page)
    dialog.locator("summary").first.click()
    for section in ("group-0", "drafts"):
        dialog.locator(f"[data-section={section}]").click()
        if section == "drafts":
            act(dialog, "d0", "delete").click()
        assert violations(page, "dialog[open]") == []
        shelf = dialog.locator(".shelf")
        assert shelf.evaluate("shelf => shelf.scrollWidth - shelf.clientWidth") <= 1


def test_a_draft_is_found_again_whatever_its_id_is(page: Page) -> None:
    text = json.dumps([{"id": 'it\'s "mine" ]\\', "saved": 1, "title": "Odd", "scenario": SCENARIO}])
    keep = f"localStorage.setItem('pagewalk.drafts', {json.dumps(text)})"
    page.add_init_script(f"if (!localStorage.getItem('pagewalk.drafts')) {keep}")
    open_page(page)
    dialog = show_own(page)
    card = dialog.locator("[data-draft]")
    card.locator("[data-act=rename]").click()
    page.keyboard.press("Escape")
    expect(card.locator("[data-act=rename]")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.type("Even")
    page.keyboard.press("Enter")
    expect(card.locator("h4")).to_contain_text("Even")
    expect(card.locator("[data-act=rename]")).to_be_focused()
    card.locator("[data-act=delete]").click()
    expect(dialog.locator("[data-gone] button")).to_be_focused()
    page.keyboard.press("Enter")
    expect(card.locator("h4 a")).to_be_focused()
