"""The KV cache: the map of the pool and the list of blocks answer to pointer, touch and keys, at every size."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

NewPage = Callable[..., Page]

PANEL = 'section[data-stage="kv-cache"]'
REJECTED = "/?example=two-groups-drafts-padding-preemption&step=2&stage=kv-cache"


def open_page(page: Page, path: str = "/?stage=kv-cache") -> None:
    page.goto(path)
    expect(page.locator("[data-workbench][data-ready]")).to_be_visible()


def test_the_pool_is_walked_by_keys_and_a_block_is_pinned(page: Page) -> None:
    open_page(page)
    pool = page.locator("[data-pool]")
    pool.focus()
    expect(pool).to_have_attribute("aria-valuenow", "12")
    page.keyboard.press("ArrowRight")
    expect(pool).to_have_attribute("aria-valuetext", re.compile("Block 13: free"))
    expect(page.locator("[data-readout]")).to_contain_text("Block 13: free")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowDown")  # 32 blocks a line
    expect(pool).to_have_attribute("aria-valuenow", "44")
    page.keyboard.press("Enter")
    expect(page.locator("[data-inspected]")).to_have_attribute("data-inspected", "kv_block_ids.2")
    page.keyboard.press("Home")
    expect(page.locator("[data-readout]")).to_contain_text("the null block")


def test_the_map_answers_the_pointer(page: Page) -> None:
    open_page(page)
    pool = page.locator("[data-pool]")
    pool.hover(position={"x": 12 * 22 + 8, "y": 8})
    expect(page.locator("[data-readout]")).to_contain_text("Block 12, held by B: 16 of 16")
    expect(page.locator("[data-inspected]")).to_have_attribute("data-inspected", "kv_block_ids.0")
    pool.click(position={"x": 12 * 22 + 8, "y": 30})
    expect(page).to_have_url(re.compile(r"pin=kv_block_ids\.2"))


def test_every_slot_answers(page: Page) -> None:
    open_page(page)
    page.locator(f'{PANEL} [data-slot="206"]').hover()
    expect(page.locator("[data-readout]")).to_have_text(
        "Slot 206: holds a token, readable in this step. Block 12, offset 14: position 30 of B."
    )
    page.locator(f'{PANEL} [data-slot="206"]').click()
    expect(page.locator("[data-inspected]")).to_have_attribute("data-inspected", "kv_block_ids.0")
    page.locator(f'{PANEL} [data-slot="712"]').click()
    expect(page.locator("[data-readout]")).to_contain_text("Slot 712: reserved, empty")
    page.locator(f'{PANEL} [data-slot="207"]').click()
    expect(page.locator("[data-inspected]")).to_have_attribute("data-inspected", "slot_mappings.0.0")


def test_slots_are_walked_by_keys(page: Page) -> None:
    open_page(page)
    page.locator(f'{PANEL} [data-slot="207"]').focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(f'{PANEL} [data-slot="206"]')).to_be_focused()
    expect(page.locator("[data-readout]")).to_contain_text("Slot 206")
    page.keyboard.press("ArrowDown")
    expect(page.locator(f'{PANEL} [data-block="81"] :focus')).to_have_count(1)
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"pin=kv_block_ids\.0"))


def test_what_lies_between_the_blocks_is_said(page: Page) -> None:
    open_page(page)
    expect(page.locator(f'{PANEL} [data-gap="13-36"]')).to_have_text("… 24 free")
    expect(page.locator(f'{PANEL} [data-gap="82-127"]')).to_have_text("… 46 free")
    expect(page.locator("[data-sight]")).to_contain_text("4 of 4 held blocks")


def test_a_rejected_draft_says_so_to_touch(new_page: NewPage) -> None:
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True)
    open_page(page, REJECTED)
    expect(page.locator("[data-legend=rejected]")).to_contain_text("the next step writes it again")
    slot = page.locator(f'{PANEL} [data-kv-group="0"] [data-kind="rejected"]').first
    slot.scroll_into_view_if_needed()
    slot.tap()
    expect(page.locator("[data-fate]")).to_contain_text("rejected")
    expect(page.locator('[data-kv-group="0"] [data-readout]')).to_contain_text("the draft was rejected")


def test_usage_is_a_row_for_each_group_with_its_own_bytes(page: Page) -> None:
    open_page(page, REJECTED)
    rows = page.locator("[data-usage-group]")
    expect(rows).to_have_count(2)
    expect(rows.nth(1).locator("[data-slots=waste]")).to_contain_text("1")
    expect(rows.nth(1).locator("[data-slots=waste]")).to_contain_text("4096 B per layer")


def test_bytes_in_both_layouts(page: Page) -> None:
    open_page(page)
    shown = page.locator("[data-kv-bytes]")
    expect(shown.locator('[data-cell="byte_offsets_nhd.0.0"]')).to_have_text("847,872")  # 207 * 4096
    expect(shown.locator('[data-cell="byte_offsets_hnd.0.0"]')).to_have_text("794,112")  # (12 * 8 * 16 + 15) * 512
    expect(shown.locator("[data-mark31]")).to_contain_text("stays below 2³¹")


def test_a_pool_of_4096_blocks_follows_the_pin_and_hover_is_quick(page: Page) -> None:
    open_page(page, "/?example=256-requests&stage=kv-cache&pin=slot_mappings.0.7000")
    expect(page.locator("[data-readout]")).to_contain_text("Slot 15913")
    expect(page.locator(f'{PANEL} [data-block="994"]')).to_be_visible()
    expect(page.locator("[data-sight]")).to_contain_text("3135 held blocks")
    pool = page.locator("[data-pool]")
    pool.hover(position={"x": 200, "y": 50})
    spent = page.evaluate(
        """async () => {
          const pool = document.querySelector('[data-pool]');
          const box = pool.getBoundingClientRect();
          const spent = [];
          for (let place = 0; place < 30; place += 1) {
            await new Promise(requestAnimationFrame);
            const from = performance.now();
            const at = { clientX: box.left + 20 * place, clientY: box.top + 60 };
            pool.dispatchEvent(new PointerEvent('pointermove', { bubbles: true, ...at }));
            await new Promise(requestAnimationFrame);
            spent.push(performance.now() - from);
          }
          return spent.sort((a, b) => a - b)[15];
        }"""
    )
    assert spent < 100, f"{spent:.0f} ms"  # two frames where nothing else runs


def open_draft(page: Page, scenario: dict[str, Any]) -> None:
    kept = json.dumps([{"id": "large", "saved": 1, "title": "", "scenario": scenario}])
    page.add_init_script(f"localStorage.setItem('pagewalk.drafts', {json.dumps(kept)})")
    open_page(page, "/?draft=large&stage=kv-cache")


def test_a_pool_of_16_million_blocks_is_summed_up(page: Page) -> None:
    open_draft(
        page,
        {
            "version": 1,
            "config": {
                "num_blocks": 2**24,
                "max_model_len": 256,
                "max_num_batched_tokens": 256,
                "kv_cache_groups": [{"name": "full", "block_size": 128}],
            },
            "requests": [{"req_id": "A", "prompt_len": 200}],
            "steps": [{"num_scheduled_tokens": {"A": 150}}],
        },
    )
    pool = page.locator("[data-pool]")
    pool.focus()
    expect(pool).to_have_attribute("aria-valuetext", re.compile(r"Blocks \d+ to \d+: \d held, [\d,]+ free"))
    page.keyboard.press("End")
    expect(pool).to_have_attribute("aria-valuenow", str(2**24 - 1))
    expect(page.locator("[data-mark31]")).to_contain_text("lies in block 4096")  # 2^31 / (128 * 4096)
    box = page.locator(f"{PANEL} .fillbar").first
    box.click(position={"x": 4, "y": 4})
    expect(page.locator("[data-inspected]")).to_have_attribute(
        "data-inspected", re.compile(r"(slot_mappings|kv_block_ids)\.")
    )


def test_a_shared_block_is_drawn_and_counted_once(page: Page) -> None:
    open_page(page, "/?example=shared-prefix-blocks&step=1&stage=kv-cache")
    shared = page.locator(f'{PANEL} [data-block="10"]')
    expect(shared).to_have_count(1)
    expect(shared.locator("[data-others]")).to_have_text("+2")
    expect(page.locator(f'{PANEL} [data-block="20"] [data-others]')).to_have_count(0)
    row = page.locator("[data-usage-group]")
    expect(row.locator("[data-slots=held]")).to_contain_text("20")  # 5 blocks of 4
    expect(row.locator("[data-slots=held]")).to_contain_text("81,920 B")
    expect(row.locator("[data-slots=filled]")).to_contain_text("15")
    expect(row.locator("[data-slots=waste]")).to_contain_text("5")


def test_loaded_slots_are_told_from_computed_ones(page: Page) -> None:
    """Y's hit of 11 in blocks of 4 ends inside block 14: 3 slots were loaded, the 4th is written."""
    scenario = {
        "version": 1,
        "config": {"kv_cache_groups": [{"block_size": 4}]},
        "start_step": 1,
        "requests": [{"req_id": "X", "prompt_len": 12}, {"req_id": "Y", "prompt_len": 12}],
        "steps": [
            {"num_scheduled_tokens": {"X": 12}, "new_block_ids": {"X": [[5, 9, 3]]}},
            {"num_scheduled_tokens": {"Y": 1}, "num_computed_tokens": {"Y": 11}, "new_block_ids": {"Y": [[5, 9, 14]]}},
        ],
    }
    open_draft(page, scenario)
    expect(page.locator(f'{PANEL} [data-block="14"] [data-kind="loaded"]')).to_have_count(3)
    expect(page.locator(f'{PANEL} [data-kind="loaded"]')).to_have_count(3)
    expect(page.locator("[data-legend=loaded]")).to_contain_text("not computed here")
    page.locator(f'{PANEL} [data-slot="57"]').hover()  # 14 * 4 + 1
    expect(page.locator("[data-readout]")).to_contain_text("loaded from outside")
