"""The find box, stepping inside a stage, states that are not plain data, and steps without a board."""

from __future__ import annotations

import json
from typing import Any

from playwright.sync_api import Page, expect


def open_page(page: Page, path: str = "/") -> None:
    page.goto(path)
    expect(page.locator("[data-workbench][data-ready]")).to_be_visible()


def open_draft(page: Page, scenario: dict[str, Any], query: str = "") -> None:
    """Opens a scenario as the reader's own draft."""
    page.goto("/")
    page.evaluate(
        "text => localStorage.setItem('pagewalk.drafts', text)",
        json.dumps([{"id": "test", "saved": 1, "title": "", "scenario": scenario}]),
    )
    open_page(page, f"/?draft=test{query}")


def test_a_stage_is_walked_token_by_token(page: Page) -> None:
    open_page(page, "/?stage=slot-mapping")
    place = page.locator('[data-stage="slot-mapping"] [data-element-place]')
    expect(place).to_have_text("9 tokens")
    page.get_by_role("button", name="Next one").click()
    expect(place).to_have_text("token 0")
    expect(page.locator("[data-value]")).to_have_text("207")
    page.keyboard.press("]")
    expect(page.locator("[data-value]")).to_have_text("704")
    page.keyboard.press("[")
    expect(page.locator("[data-value]")).to_have_text("207")
    page.locator("pw-rail [data-go-stage=block-tables]").click()
    expect(page.locator('[data-stage="block-tables"] [data-element-place]')).to_have_text("batch row 0")


def test_a_stale_block_says_what_it_is(page: Page) -> None:
    open_page(page, "/?example=a-row-is-recycled&step=1&stage=state-pool")
    stale = page.locator('[data-cell="block_tables.0.7.2"]').first
    expect(stale).to_have_attribute("data-state", "stale")
    stale.click()
    expect(page.locator("pw-inspector .state")).to_have_text("stale")
    expect(page.locator("[data-note]")).to_contain_text("left by an earlier owner")
    expect(page.locator('[data-stage="state-pool"] [data-cell="prompt_len.7"]')).to_contain_text("12")
    expect(page.locator('[data-stage="state-pool"] [data-cell="prompt_len.7"] .was')).to_contain_text("40")


def test_an_empty_scenario_invites_the_first_request(page: Page) -> None:
    open_draft(page, {"version": 1, "requests": [], "steps": []})
    page.get_by_role("button", name="Add the first request").click()
    count = page.get_by_role("textbox", name="A, step 0: tokens scheduled")
    expect(page.locator("[data-empty=step]")).to_contain_text("Step 0 schedules nothing")
    count.fill("16")
    count.press("Enter")
    expect(page.locator('[data-cell="slot_mappings.0.15"]').first).to_be_attached()
    page.get_by_role("button", name="+ step").click()
    page.get_by_role("button", name="step 1", exact=True).click()
    expect(page.locator("[data-empty=step]")).to_contain_text("Step 1 schedules nothing")


def test_a_pool_that_runs_out_says_so_where_it_stops(page: Page) -> None:
    scenario = {
        "version": 1,
        "config": {"num_blocks": 4},
        "requests": [{"req_id": "A", "prompt_len": 40}, {"req_id": "B", "prompt_len": 40}],
        "steps": [{"num_scheduled_tokens": [["A", 40]]}, {"num_scheduled_tokens": [["B", 40]]}],
    }
    open_draft(page, scenario)
    expect(page.locator("[data-notice=stopped]")).to_contain_text("The trace stops before step 1")
    page.keyboard.press("Shift+ArrowRight")
    expect(page.locator("[data-empty=stopped]")).to_contain_text("Step 1 needs 3 blocks")
    page.keyboard.press("Shift+ArrowLeft")
    expect(page.locator('[data-cell="slot_mappings.0.0"]').first).to_be_visible()


def test_a_draft_that_cannot_run_is_opened_with_its_faults(page: Page) -> None:
    scenario = {
        "version": 1,
        "requests": [{"req_id": "A", "prompt_len": 4}],
        "steps": [{"num_scheduled_tokens": [["A", 5]]}],
    }
    open_draft(page, scenario)
    expect(page.locator("[data-notice=last-valid]")).to_contain_text("cannot be run yet")
    page.get_by_role("button", name="Use 4").click()
    expect(page.locator('[data-cell="slot_mappings.0.3"]').first).to_be_visible()


def test_only_what_is_in_sight_is_in_the_document(page: Page) -> None:
    names = [f"r{number}" for number in range(240)]
    scenario = {
        "version": 1,
        "config": {"max_num_reqs": 256, "max_num_batched_tokens": 16384, "max_model_len": 4096, "num_blocks": 4096},
        "requests": [{"req_id": name, "prompt_len": 68} for name in names],
        "steps": [{"num_scheduled_tokens": [[name, 68] for name in names]}],
    }
    open_draft(page, scenario, "&stage=slot-mapping")
    expect(page.locator('section[data-stage="slot-mapping"]')).to_contain_text("of 16,320 are in sight")
    assert page.locator("[data-cell]").count() < 1500
    page.keyboard.press("/")
    box = page.get_by_role("dialog").get_by_role("combobox")
    box.fill("flat token 16000")
    box.press("Enter")
    expect(page.locator("[data-inspected]")).to_have_attribute("data-inspected", "positions.16000")
    expect(page.locator('[data-stage="flatten"] [data-cell="positions.16000"]')).to_be_in_viewport()
    expect(page.locator('td[data-cell="slot_mappings.0.16000"]')).to_be_visible()
    expect(page.locator('[data-stage="batch"] tr[data-index="235"]')).to_be_visible()
