"""The find box: asked by key and by click, in both languages, for what is here and for what is in another step."""

from __future__ import annotations

import json
import re

from playwright.sync_api import Locator, Page, expect

EXAMPLE = "/?example=chunked-prefill-and-a-new-block"


def open_page(page: Page, path: str = "/") -> None:
    page.goto(path)
    expect(page.locator("[data-workbench][data-ready]")).to_be_visible()


def box_of(page: Page) -> Locator:
    return page.get_by_role("dialog").get_by_role("combobox")


def ask(page: Page, text: str) -> Locator:
    """Opens the box by its key and types; gives the list of meanings."""
    page.keyboard.press("/")
    box = box_of(page)
    expect(box).to_be_focused()
    box.fill(text)
    return page.get_by_role("listbox").get_by_role("option")


def test_a_number_is_named_with_its_index_space_and_pinned(page: Page) -> None:
    open_page(page, "/?stage=schedule")
    meanings = ask(page, "207")
    expect(meanings).to_have_count(1)
    expect(meanings.first).to_contain_text("slot 207: written by B's token 0")
    expect(meanings.first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.locator("[data-inspected]")).to_have_attribute("data-inspected", "slot_mappings.0.0")
    expect(page).to_have_url(re.compile(r"pin=slot_mappings\.0\.0"))
    # The keyboard goes on from the cell: the next token's slot is one key away.
    page.keyboard.press("ArrowRight")
    expect(page.locator("[data-value]")).to_have_text("704")


def test_every_way_to_ask_of_the_worked_example(page: Page) -> None:
    open_page(page)
    answers = {
        "slot 207": "slot 207: written by B's token 0",
        "block 12": "block 12: logical block 1 of B",
        "token 2016": "token id 2016: flat token 1 of A, position 16",
        "position 31": "position 31 of B: flat token 0",
        "pos 16 of A": "position 16 of A: flat token 1",
        "batch row 1": "batch row 1: A, pool row 6",
        "row 7": "pool row 7: holds B",
        "A": "request A: batch row 1, pool row 6",
        "slot 600": "slot 600: filled by B in an earlier step",
        "block 0": "block 0: the null block",
        "slot_mappings[0, 3]": "slot_mappings[0, 3]: = 706",
    }
    for text, answer in answers.items():
        meanings = ask(page, text)
        expect(meanings.first).to_contain_text(answer)
        page.keyboard.press("Escape")
        expect(page.locator("body")).to_be_focused()  # a frame later than the dialog is gone


def test_arrows_choose_and_the_list_says_which(page: Page) -> None:
    open_page(page)
    meanings = ask(page, "12")
    count = meanings.count()
    assert count > 2
    box = box_of(page)
    page.keyboard.press("ArrowDown")
    expect(meanings.nth(1)).to_have_attribute("aria-selected", "true")
    active = box.get_attribute("aria-activedescendant")
    assert meanings.nth(1).get_attribute("id") == active
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(meanings.nth(count - 1)).to_have_attribute("aria-selected", "true")
    expect(box).to_be_focused()


def test_what_is_in_another_step_is_found_there(page: Page) -> None:
    open_page(page, f"{EXAMPLE}&step=4&stage=flatten")
    meanings = ask(page, "token id 3003")
    expect(meanings.first).to_contain_text("token id 3003: flat token 5 of C, position 3")
    expect(meanings.first.locator("[data-other-step]")).to_have_text("in step 1")
    page.keyboard.press("Enter")
    expect(page.locator("[data-workbench]")).to_have_attribute("data-step", "1")
    expect(page.locator("[data-inspected]")).to_have_attribute("data-inspected", "input_ids.5")


def test_escape_leaves_everything_as_it_was(page: Page) -> None:
    open_page(page, "/?stage=flatten&pin=positions.3")
    cell = page.locator('pw-strip [data-cell="positions.3"]').first
    cell.focus()
    ask(page, "207")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(cell).to_be_focused()
    expect(page).to_have_url(re.compile(r"pin=positions\.3"))


def test_nothing_found_says_so_and_what_can_be_asked(page: Page) -> None:
    open_page(page)
    meanings = ask(page, "12345678")
    expect(meanings).to_have_count(0)
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Nothing here is called “12345678”.")
    expect(dialog).to_contain_text("Ask for a slot, a block, a token id")
    expect(box_of(page)).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("Enter")
    expect(dialog).to_be_visible()


def test_the_button_control_k_and_examples_to_begin_with(page: Page) -> None:
    open_page(page)
    page.get_by_role("button", name="Find").click()
    options = page.get_by_role("listbox").get_by_role("option")
    expect(options.first).to_have_text("slot 207")
    options.filter(has_text="position 31 of B").click()
    expect(box_of(page)).to_have_value("position 31 of B")
    options.first.click()
    expect(page.locator("[data-inspected]")).to_have_attribute("data-inspected", "positions.0")
    page.keyboard.press("Control+k")
    expect(box_of(page)).to_be_focused()


def test_its_key_can_be_switched_off_control_k_not(page: Page) -> None:
    open_page(page)
    page.evaluate("localStorage.setItem('pagewalk.single-keys', 'off')")
    page.keyboard.press("/")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("Control+k")
    expect(box_of(page)).to_be_focused()


def test_in_chinese(page: Page) -> None:
    open_page(page, "/?lang=zh")
    page.keyboard.press("/")
    page.keyboard.insert_text("槽位 207")
    option = page.get_by_role("option").first
    expect(option).to_contain_text("槽位 207：由 B 的 token 0 写入")
    box_of(page).fill("A 的位置 16")
    expect(option).to_contain_text("A 的位置 16：展平 token 1")
    box_of(page).fill("请求 A")
    expect(option).to_contain_text("批行 1，池行 6")


def test_a_word_alone_leads_to_the_glossary(page: Page) -> None:
    open_page(page)
    ask(page, "query start")
    page.keyboard.press("Enter")
    expect(page.locator("[data-open-term]")).to_have_attribute("data-open-term", "query_start_loc")


def test_a_large_step_answers_at_once_and_shows_the_token(page: Page) -> None:
    names = [f"r{number}" for number in range(240)]
    scenario = {
        "version": 1,
        "config": {"max_num_reqs": 256, "max_num_batched_tokens": 16384, "max_model_len": 4096, "num_blocks": 4096},
        "requests": [{"req_id": name, "prompt_len": 68} for name in names],
        "steps": [{"num_scheduled_tokens": [[name, 68] for name in names]}],
    }
    page.goto("/")
    drafts = json.dumps([{"id": "test", "saved": 1, "title": "", "scenario": scenario}])
    page.evaluate("text => localStorage.setItem('pagewalk.drafts', text)", drafts)
    open_page(page, "/?draft=test&stage=slot-mapping")
    meanings = ask(page, "position 40")
    expect(meanings.first).to_contain_text("position 40 of r")
    assert meanings.count() <= 30
    box_of(page).fill("flat token 16000")
    expect(meanings).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator("[data-inspected]")).to_have_attribute("data-inspected", "positions.16000")
    expect(page.locator('[data-stage="flatten"] [data-cell="positions.16000"]')).to_be_in_viewport()
    expect(page.locator('td[data-cell="slot_mappings.0.16000"]')).to_be_visible()
