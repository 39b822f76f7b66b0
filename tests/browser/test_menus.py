"""Menus of the schedule: every item that is on changes what it says it does, and is sent as it is when chosen."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

# Every item of a cell's, a request's and a step's menu: what it makes of a draft, and what the page hears when it is chosen.
CHOOSE_EVERYTHING = """async () => {
  const { cellItems, requestItems, stepItems } = await import('/static/js/ui/schedule/menu.js');
  const { changed } = await import('/static/js/page/state/editing.js');
  const step = (...pairs) => ({ num_scheduled_tokens: pairs });
  const draft = {
    version: 1,
    start_step: 1,
    requests: ['A', 'B', 'C'].map((req_id) => ({ req_id, prompt_len: 4 })),
    steps: [step(['A', 4], ['B', 2]), step(['C', 3], ['A', 1]), step()],
  };
  const text = (value) => JSON.stringify(Object.entries(value).sort());
  const view = { t: (key) => key, draft, index: 0 };
  const menus = {
    cell: cellItems(view, { row: 0, column: 1 }),
    request: requestItems(view, 1),
    first: requestItems(view, 0),
    step: stepItems(view, 1),
    last: stepItems(view, 2),
  };
  const menu = document.body.appendChild(document.createElement('pw-schedule-menu'));
  const opener = document.body.appendChild(document.createElement('button'));
  let heard = [];
  for (const kind of ['edit', 'go', 'rename', 'details']) {
    opener.addEventListener(`pw-${kind}`, (event) => {
      event.stopPropagation();
      heard.push([kind, event.detail]);
    });
  }
  const found = [];
  for (const [name, items] of Object.entries(menus)) {
    items.forEach((item, place) => {
      if (!item) return;
      const { edit } = item.says;
      const changes = edit ? text(changed(draft, edit)) !== text(draft) : null;
      heard = [];
      menu.open(name, items, opener);
      menu.querySelector(`[data-item="${place}"]`).click();
      found.push({ name, words: item.words, isOff: item.isOff ?? false, says: item.says, changes, heard });
      menu.hidePopover();
    });
  }
  menu.remove();
  opener.remove();
  return found;
}"""


def test_every_item_does_something(page: Page) -> None:
    page.goto("/")
    expect(page.locator("[data-workbench][data-ready]")).to_be_visible()
    items: list[dict[str, Any]] = page.evaluate(CHOOSE_EVERYTHING)
    assert {item["name"] for item in items} == {"cell", "request", "first", "step", "last"}
    for item in items:
        if item["isOff"]:
            assert item["changes"] is not True, f"{item['words']} is off and would change the schedule"
            assert item["heard"] == [], f"{item['words']} is off and was sent"
            continue
        assert item["changes"] is not False, f"{item['words']} of the {item['name']} menu changes nothing"
        assert len(item["heard"]) == 1, f"{item['words']} sends {len(item['heard'])} messages"
        kind, detail = item["heard"][0]
        assert kind in item["says"]
        said = item["says"][kind]
        assert detail == {"go": {"step": said}, "rename": {"row": said}}.get(kind, said)
    assert any(item["isOff"] for item in items)


def test_another_step_begins_at_its_first_token(new_page: Any) -> None:
    """A strip that was scrolled keeps its place from stage to stage; what it showed of one step says nothing of the next."""
    page = new_page(viewport={"width": 900, "height": 800})
    page.goto("/?example=64-decodes-and-one-long-prefill&step=0&stage=flatten")
    expect(page.locator("[data-workbench][data-ready]")).to_be_visible()
    strip = page.locator('[data-stage="flatten"] pw-strip').first
    strip.locator(".scroll").evaluate("(scroller) => (scroller.scrollLeft = 1500)")
    expect(strip.locator("[data-cell='positions.0']")).to_have_count(0)
    page.keyboard.press("Shift+ArrowRight")
    expect(page.locator(".board")).to_have_attribute("data-step", "1")
    expect(strip.locator("[data-cell='positions.0']")).to_be_in_viewport()
    assert strip.locator(".scroll").evaluate("(scroller) => scroller.scrollLeft") == 0
