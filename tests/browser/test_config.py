"""The config form: changing a size and seeing the board, what cannot be, the way back to the defaults."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import NewPage

GAP = """() => {
  const [pool, below] = ['state-pool', 'flatten'].map((stage) => document.querySelector(`.panel[data-stage=${stage}]`));
  return below.getBoundingClientRect().top - pool.getBoundingClientRect().bottom;
}"""


def open_config(page: Page, path: str = "/") -> None:
    page.goto(path)
    expect(page.locator("[data-workbench][data-ready]")).to_be_visible()
    page.get_by_role("button", name="Config", exact=True).click()
    expect(page.locator("#config-title")).to_be_focused()


def field(page: Page, name: str) -> Locator:
    return page.locator(f"[id='field-config-{name}']")


def enter(page: Page, name: str, text: str) -> None:
    field(page, name).fill(text)
    field(page, name).press("Enter")


def slots(page: Page) -> Locator:
    return page.locator('pw-board td[data-cell="slot_mappings.0.0"]')


def test_a_size_is_changed_and_the_board_follows(page: Page) -> None:
    open_config(page)
    expect(slots(page)).to_contain_text("207")  # 12 * 16 + 15
    block_size = "kv_cache_groups-0-block_size"
    enter(page, block_size, "32")
    # B's position 31 is in logical block 0 now, which is 37: 37 * 32 + 31 = 1215
    expect(slots(page)).to_contain_text("1215")
    changed = page.locator('[data-field="kv_cache_groups.block_size"]')
    expect(changed).to_have_attribute("data-changed", "")
    expect(changed).to_contain_text("default 16")
    enter(page, "max_num_reqs", "4")
    expect(page.locator('pw-board td[data-cell="idx_mapping.0"]').first).to_contain_text("3")  # handed out from the end of 4

    changed.get_by_role("button", name="Reset block_size to its default: 16").click()
    expect(slots(page)).to_contain_text("207")
    expect(field(page, block_size)).to_be_focused()
    expect(changed).not_to_have_attribute("data-changed", "")
    page.get_by_role("button", name="Reset all to defaults").click()
    expect(field(page, "max_num_reqs")).to_have_value("8")
    expect(page.locator('pw-board td[data-cell="idx_mapping.0"]').first).to_contain_text("7")
    page.keyboard.press("Control+z")  # one step of undo for each change
    expect(field(page, "max_num_reqs")).to_have_value("4")

    page.locator("#config-title").focus()
    page.keyboard.press("Escape")
    expect(page.locator("pw-config")).to_be_hidden()
    expect(page.get_by_role("button", name="Config", exact=True)).to_be_focused()


def test_undo_in_a_field_takes_back_what_was_typed_there_and_then_the_last_edit(page: Page) -> None:
    open_config(page)
    rows, longest = field(page, "max_num_reqs"), field(page, "max_model_len")
    before = longest.input_value()
    rows.click()
    page.keyboard.press("Control+a")
    page.keyboard.type("4")
    page.keyboard.press("Tab")
    longest.click()
    page.keyboard.press("Control+a")
    page.keyboard.type("64")
    idx_mapping = page.locator('pw-board td[data-cell="idx_mapping.0"]').first
    expect(idx_mapping).to_contain_text("3")
    page.keyboard.press("Control+z")
    expect(longest).to_have_value(before)
    expect(rows).to_have_value("4")
    page.keyboard.press("Control+z")
    expect(rows).to_have_value("8")
    expect(idx_mapping).to_contain_text("7")  # the board runs with what the field shows


def test_what_cannot_be_is_said_at_its_field_and_repaired_there(page: Page) -> None:
    open_config(page)
    enter(page, "max_num_reqs", "many")
    wrong = page.locator('[data-field="max_num_reqs"]')
    expect(wrong.locator(".fault")).to_contain_text("must be a whole number")
    expect(field(page, "max_num_reqs")).to_have_value("many")
    expect(field(page, "max_num_reqs")).to_have_attribute("aria-invalid", "true")
    expect(slots(page)).to_contain_text("207")  # the last board that could be
    expect(page.locator("[data-open-config]")).to_contain_text("something here is invalid")
    enter(page, "max_num_reqs", "5000")
    wrong.get_by_role("button", name="Use 4096").click()
    expect(field(page, "max_num_reqs")).to_have_value("4096")
    expect(wrong.locator(".fault")).to_have_count(0)

    # A group more: the blocks that the steps name are of one group. All of them are let go at once.
    page.get_by_role("button", name="+ group").click()
    page.get_by_role("button", name="Let the pool allocate these blocks (2)").click()
    expect(page.locator("pw-config .wrong")).to_have_count(0)
    expect(page.locator('pw-board [data-cell^="slot_mappings.1."]').first).to_be_attached()
    enter(page, "kv_cache_groups-1-sliding_window", "8")
    page.get_by_role("button", name="Remove group group1").click()
    expect(page.locator("[data-group]")).to_have_count(1)
    expect(page.locator('pw-board [data-cell^="slot_mappings.1."]')).to_have_count(0)
    assert page.evaluate(GAP) <= 16  # the pool's heads are lower again, and what is below comes up

    # No step to open at: said, and not lost while one looks at it.
    start = page.locator("#field-start_step")
    start.fill("last")
    start.press("Enter")
    expect(page.locator('[data-field="start_step"] .fault')).to_contain_text("“last” is not a step")
    expect(start).to_have_value("last")


def test_on_a_phone_the_form_leaves_the_board_in_sight(new_page: NewPage) -> None:
    page = new_page(viewport={"width": 390, "height": 844}, locale="zh-CN", color_scheme="dark")
    page.goto("/")
    page.get_by_role("button", name="配置", exact=True).click()
    expect(page.locator("#config-title")).to_have_text("配置")
    box = page.locator("pw-config").bounding_box()
    assert box
    assert box["height"] < 844 * 0.6
    assert box["width"] == 390
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    enter(page, "num_speculative_tokens", "3")
    expect(page.locator('[data-field="num_speculative_tokens"]')).to_contain_text(re.compile("默认 0"))
    page.get_by_role("button", name="关闭配置").click()
    expect(page.get_by_role("button", name="配置", exact=True)).to_be_focused()
