"""The scenario as text: in step with the grid both ways, its faults at their lines, nothing typed lost."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import NewPage


def open_text(page: Page, path: str = "/") -> None:
    page.goto(path)
    expect(page.locator("[data-workbench][data-ready]")).to_be_visible()
    page.get_by_role("button", name="Text", exact=True).click()
    expect(editor(page)).to_be_focused()


def editor(page: Page) -> Locator:
    return page.locator("pw-text .cm-content")


def status(page: Page, kind: str) -> None:
    expect(page.locator("[data-text-status]")).to_have_attribute("data-text-status", kind)


def slot(page: Page) -> Locator:
    return page.locator('pw-board td[data-cell="slot_mappings.0.0"]')


def cell(page: Page, req_id: str, step: int) -> Locator:
    return page.locator(f'pw-schedule input[data-req="{req_id}"][data-step="{step}"]')


DROP = """(target, [name, text]) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([text], name));
  const how = { bubbles: true, cancelable: true, dataTransfer };
  for (const type of ['dragover', 'drop']) target.dispatchEvent(new DragEvent(type, how));
}"""


def type_at_end(page: Page, text: str) -> None:
    """As pasted: the editor closes no bracket by itself."""
    editor(page).focus()
    page.keyboard.press("Control+End")
    page.keyboard.insert_text(text)


def test_text_and_grid_are_one_scenario(page: Page) -> None:
    open_text(page)
    expect(editor(page)).to_have_attribute("aria-label", "Scenario as YAML")
    expect(editor(page)).to_contain_text("- {num_scheduled_tokens: {B: 1, A: 8}}")
    status(page, "in-step")

    cell(page, "A", 1).fill("5")
    cell(page, "A", 1).press("Enter")
    expect(editor(page)).to_contain_text("- {num_scheduled_tokens: {B: 1, A: 5}}")

    type_at_end(page, "  - {num_scheduled_tokens: {A: 3}, finished_req_ids: [B]} # mine\n")
    expect(cell(page, "A", 2)).to_have_value("3")
    expect(cell(page, "B", 2)).to_have_value("finish")
    status(page, "in-step")
    # The grid changes what it is about; what else was written stays.
    cell(page, "A", 2).fill("2")
    cell(page, "A", 2).press("Enter")
    expect(editor(page)).to_contain_text("{A: 2}, finished_req_ids: [B]} # mine")
    page.get_by_role("button", name="Undo").click()
    expect(editor(page)).to_contain_text("{A: 3}, finished_req_ids: [B]} # mine")
    page.get_by_role("button", name="Undo").click()  # the whole line, one step
    expect(cell(page, "A", 2)).to_have_count(0)
    expect(editor(page)).not_to_contain_text("finished_req_ids")
    page.get_by_role("button", name="Redo").click()
    expect(editor(page)).to_contain_text("finished_req_ids: [B]")

    # Undo inside the editor is of the text, and of what came into it from outside.
    editor(page).focus()
    page.keyboard.press("Control+z")
    expect(cell(page, "A", 2)).to_have_count(0)

    page.get_by_role("button", name="JSON").click()
    expect(editor(page)).to_contain_text('{"req_id": "B", "prompt_len": 31},')
    editor(page).focus()
    page.keyboard.press("Tab")  # never a trap
    expect(editor(page)).not_to_be_focused()
    page.get_by_role("button", name="Close the text").click()
    expect(page.get_by_role("button", name="Text", exact=True)).to_be_focused()


def test_broken_text_keeps_the_board_and_survives_a_reload(page: Page) -> None:
    open_text(page)
    type_at_end(page, "  - {num_scheduled_tokens: {A: 1\n")
    status(page, "unread")
    trouble = page.locator(".troubles li")
    expect(trouble).to_contain_text("Line 13")
    expect(trouble).to_contain_text("the bracket that closes the list or object")
    expect(page.locator("pw-text .cm-lint-marker-error")).to_have_count(1)
    expect(page.locator("[data-workbench]")).to_have_attribute("data-text-unread", "")
    expect(slot(page)).to_have_text("207")

    # The grid goes on meanwhile; the text is not overwritten, and goes with what is a draft now.
    cell(page, "A", 1).fill("7")
    cell(page, "A", 1).press("Enter")
    expect(page.locator("pw-text .notice")).to_contain_text("changed elsewhere")
    page.reload()
    expect(editor(page)).to_contain_text("- {num_scheduled_tokens: {A: 1")
    expect(page.locator(".troubles li")).to_contain_text("Line 13")
    expect(page.get_by_role("button", name=re.compile("Text.*cannot be read"))).to_be_visible()
    expect(page.locator("pw-text .notice")).to_contain_text("changed elsewhere")
    expect(page.locator("[data-text-rewrite]")).to_be_visible()
    expect(editor(page)).to_contain_text("A: 8}}")
    expect(cell(page, "A", 1)).to_have_value("7")

    page.locator("[data-go-line]").click()
    expect(editor(page)).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.insert_text("}}")
    status(page, "in-step")
    expect(cell(page, "A", 2)).to_have_value("1")
    expect(page.locator("[data-workbench]")).not_to_have_attribute("data-text-unread", "")
    page.reload()
    expect(cell(page, "A", 2)).to_have_value("1")


def test_what_the_server_finds_is_at_its_line_and_repaired_by_a_click(page: Page) -> None:
    open_text(page)
    type_at_end(page, "  - {num_scheduled_tokens: {B: 1, A: 9}, finishd_req_ids: []}")
    status(page, "not-run")
    trouble = page.locator(".troubles li")
    expect(trouble).to_contain_text("Did you mean “finished_req_ids”?")
    expect(page.locator("pw-text .cm-lintRange-error")).to_have_text("finishd_req_ids")
    expect(slot(page)).to_have_text("207")
    trouble.get_by_role("button", name="Repair").click()
    # A has 24 + 1 tokens after step 1, all prefilled: it decodes, exactly 1.
    expect(trouble).to_contain_text("exactly 1 token")
    expect(page.locator("pw-text .cm-lintRange-error")).to_have_text("9")
    trouble.get_by_role("button", name="Use 1").click()
    status(page, "in-step")
    expect(cell(page, "A", 2)).to_have_value("1")

    # What is not even a list of steps is said by the server too, and the draft stays.
    editor(page).focus()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text("version: 1\nrequests: 5\nsteps: []\n")
    status(page, "not-run")
    expect(page.locator(".troubles li")).to_contain_text("“requests” must be a list, not 5.")
    expect(page.locator(".troubles li")).to_contain_text("Line 2")
    expect(cell(page, "A", 2)).to_have_value("1")


def test_a_file_is_a_scenario_of_its_own(new_page: NewPage) -> None:
    page = new_page(viewport={"width": 390, "height": 844}, color_scheme="dark", locale="zh-CN")
    page.goto("/")
    expect(page.locator("[data-workbench][data-ready]")).to_be_visible()
    page.get_by_role("button", name="文本", exact=True).click()
    expect(editor(page)).to_be_focused()
    type_at_end(page, "  - [mine\n")
    status(page, "unread")
    files = page.locator("pw-text input[type=file]")
    text = "version: 1\ntitle: 来自文件\nrequests: [{req_id: Q, prompt_len: 5}]\nsteps: [{num_scheduled_tokens: {Q: 5}}]\n"
    page.locator("pw-board").evaluate(DROP, ["q.yaml", text])  # anywhere on the page
    expect(page.locator("[data-title]").first).to_have_text("来自文件")
    expect(page).to_have_url(re.compile("draft="))
    expect(editor(page)).to_contain_text("prompt_len: 5")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    files.set_input_files({"name": "q.bin", "mimeType": "text/plain", "buffer": b"\xff\xfe\x00"})
    expect(page.locator("[data-text-message]")).to_contain_text("q.bin")
    files.set_input_files({"name": "huge.json", "mimeType": "application/json", "buffer": b" " * 1_048_577})
    expect(page.locator("[data-text-message]")).to_contain_text("1,048,577")
    page.go_back()
    expect(page.locator("[data-title]").first).to_have_text("一个解码，一个预填充分块")
    expect(editor(page)).to_contain_text("[mine")  # nothing typed is lost to a file
    editor(page).focus()
    page.keyboard.press("Control+z")  # the text of the file is another one's
    page.keyboard.insert_text("#")
    expect(editor(page)).to_contain_text("#")
    expect(editor(page)).to_contain_text("[mine")


@pytest.mark.console("Failed to load resource")
def test_without_a_server_nothing_is_said_of_the_board(page: Page) -> None:
    page.route("**/api/trace*", lambda route: route.abort())
    page.goto("/")
    expect(page.locator("[data-notice=offline]")).to_be_visible()
    page.get_by_role("button", name="Text", exact=True).click()
    status(page, "unreachable")
    page.unroute("**/api/trace*")
    page.get_by_role("button", name="Try again").click()
    status(page, "in-step")


def test_a_text_that_is_too_long_is_refused_in_words(new_page: NewPage) -> None:
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    open_text(page)
    page.evaluate("navigator.clipboard.writeText('#'.repeat(1_048_577))")
    editor(page).focus()
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+v")
    expect(page.locator(".troubles li")).to_contain_text("1,048,577 bytes")
    page.get_by_role("button", name="Close the text").click()
    cell(page, "A", 1).focus()
    page.keyboard.press("Control+v")
    expect(page.locator("pw-schedule [role=status]")).to_contain_text("at most 1,048,576")
    expect(cell(page, "A", 1)).to_have_value("8")


BLOCKED = "Storage.prototype.setItem = () => { throw new DOMException('', 'SecurityError') }"
NO_BYTE = "Storage.prototype.setItem = () => { throw new DOMException('', 'QuotaExceededError') }"


@pytest.mark.parametrize(
    ("how", "is_used", "says"),
    [
        (BLOCKED, True, "does not let the page keep"),
        (NO_BYTE, False, "does not let the page keep"),
        (NO_BYTE, True, "is full"),
    ],
)
@pytest.mark.parametrize("where", ["text", "grid"])
def test_why_nothing_is_kept(page: Page, how: str, is_used: bool, says: str, where: str) -> None:
    if is_used:
        page.add_init_script("localStorage.setItem('pagewalk.drafts', '[]')")
    page.add_init_script(how)
    open_text(page)
    if where == "text":
        type_at_end(page, "  - [mine\n")
    else:
        cell(page, "A", 1).fill("5")
        cell(page, "A", 1).press("Enter")
    expect(page.locator("[data-notice=storage]")).to_contain_text(says)
