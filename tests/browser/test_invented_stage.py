"""A stage that no file of `static/` has heard of: the server says what it is, and the page does there all that it does."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.stages import stages_of

STAGE = {
    "name": "routing",
    "tier": 3,
    "elements": {"space": "expert_loads", "axis": "expert_idx"},
    "asks": "expert_ids",
}
WORDS = {
    "stage.routing": "Routing",
    "stage.routing.what": "Every token is sent to an expert.",
    "stage.routing.why": "So few weights are read.",
    "note.expert_ids": "Position {position} goes to expert {value}.",
    "note.loads": "Tokens of all steps.",
    "note.idle": "Nobody asked for it.",
}


def space(dims: list[str], kind: str, is_key: bool, cases: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "dims": dims,
        "dtype": "int32",
        "stage": "routing",
        "kind": kind,
        "holds": None,
        "exactness": "exact",
        "is_key": is_key,
        "is_detail": False,
        "is_own": False,
        "source": None,
        "vllm": None,
        "cases": cases,
    }


def case(note: str, formula: Any = None, when: Any = None, state: str = "data") -> dict[str, Any]:
    return {"note": note, "formula": formula, "when": when, "state": state, "inputs": [], "control": [], "source": None}


SPACES = {
    "expert_ids": space(
        ["flat_token_idx"], "id", True, [case("expert_ids", ["%", ["@", "positions", "flat_token_idx"], 4])]
    ),
    "expert_loads": space(
        ["expert_idx"],
        "count",
        False,
        [case("idle", when=["==", "value", 0], state="stale"), case("loads")],
    ),
    "expert_order": space(["flat_token_idx"], "index", False, [case("loads")]),
}


def invent(page: Page) -> None:
    """From now on the server has one stage more, between the slot mapping and the KV cache."""

    def described(route: Route) -> None:
        answer = route.fetch()
        html = answer.text()
        schema = embedded(html, "pw-schema")
        place = [stage["name"] for stage in schema["stages"]].index("kv-cache")
        for stage in schema["stages"][place:]:
            stage["tier"] += 1
        schema["stages"].insert(place, STAGE)
        schema["axes"]["expert_idx"] = {"axis": "expert_idx", "across": False, "tag": None, "letter": "e"}
        schema["spaces"] |= SPACES
        html = replaced(html, "pw-schema", schema)
        html = replaced(html, "pw-catalogue", embedded(html, "pw-catalogue") | WORDS)
        route.fulfill(response=answer, body=html)

    def computed(route: Route) -> None:
        answer = route.fetch()
        trace = answer.json()
        for step in trace["steps"]:
            positions = step["spaces"]["positions"]["values"]
            values = {
                "expert_ids": [position % 4 for position in positions],
                "expert_loads": [12_000, 0, 7, 8],
                "expert_order": list(range(len(positions))),
            }
            step["spaces"] |= {
                name: {"dims": SPACES[name]["dims"], "dtype": "int32", "values": values[name]} for name in SPACES
            }
            step["sentences"]["routing"] = f"{len(positions)} tokens to 4 experts"
        route.fulfill(response=answer, json=trace)

    page.route(re.compile(r"^[^?]*//[^/]*/(\?|$)"), described)
    page.route("**/api/trace*", computed)


def tag_of(name: str) -> re.Pattern[str]:
    return re.compile(rf'(<script[^>]*id="{name}"[^>]*>)(.*?)(</script>)', re.DOTALL)


def embedded(html: str, name: str) -> Any:
    found = tag_of(name).search(html)
    assert found is not None
    return json.loads(found[2])


def replaced(html: str, name: str, data: Any) -> str:
    text = json.dumps(data).replace("<", "\\u003c")
    return tag_of(name).sub(lambda found: found[1] + text + found[3], html, count=1)


@pytest.fixture
def invented(page: Page) -> Page:
    invent(page)
    return page


def open_page(page: Page, path: str) -> None:
    page.goto(path)
    expect(page.locator("[data-workbench][data-ready]")).to_be_visible()


def test_it_is_shown_stepped_through_and_found(invented: Page) -> None:
    page = invented
    stages = stages_of(page)
    open_page(page, f"/?step=1&stage={stages.before('kv-cache')}")
    page.keyboard.press("ArrowRight")
    expect(page.locator("[data-workbench]")).to_have_attribute("data-stage", "routing")
    expect(page.locator("[data-live]")).to_have_text("Step 1, Routing: 9 tokens to 4 experts")
    expect(page.locator("pw-rail .stage[aria-current]")).to_have_text(f"{stages.names.index('kv-cache') + 1}Routing")
    panel = page.locator(".panel[data-current]")
    expect(panel.locator(".sentence")).to_have_text("9 tokens to 4 experts")
    expect(panel.locator(".about")).to_contain_text("Every token is sent to an expert.")

    # Tokens are columns, what is counted otherwise are rows; lines stand as they are declared.
    lines = panel.locator("pw-strip tbody th .name")
    expect(lines).to_have_text(["expert_ids", "expert_order"])
    # Step 1 runs position 31 of B and 16 to 23 of A.
    expect(panel.locator("[data-cell^='expert_ids.'] .v")).to_have_text([str(p % 4) for p in (31, *range(16, 24))])
    loads = panel.locator("pw-rows [data-cell^='expert_loads.']")
    expect(loads.locator(".v")).to_have_text(["12,000", "0", "7", "8"])
    expect(loads.nth(1)).to_have_attribute("data-state", "stale")

    place = panel.locator("[data-element-place]")
    expect(place).to_have_text("4 along expert_idx")
    page.keyboard.press("]")
    expect(place).to_have_text("expert_idx 0")
    expect(page.locator("pw-inspector [data-value]")).to_have_text("12,000")
    panel.locator("[data-cell='expert_ids.0']").click()
    expect(page.locator("pw-inspector [data-formula]")).to_have_text("31 % 4 = 3")
    expect(page.locator("pw-inspector [data-note]")).to_have_text("Position 31 goes to expert 3.")
    expect(page.locator("pw-board [data-cell='positions.0']").first).to_have_attribute("data-lit", "input")
    expect(page).to_have_url(re.compile(r"stage=routing&pin=expert_ids\.0$"))

    page.reload()
    expect(page.locator(".panel[data-current]")).to_have_attribute("data-stage", "routing")
    page.locator("[data-go-stage=schedule]").first.click()
    expect(page.locator(".panel[data-stage=routing] pw-strip tbody th .name")).to_have_text(["expert_ids"])
    page.keyboard.press("/")
    box = page.get_by_role("dialog").get_by_role("combobox")
    box.fill("expert_loads[2]")
    box.press("Enter")
    expect(page.locator("[data-inspected]")).to_have_attribute("data-inspected", "expert_loads.2")
    expect(page.locator("[data-workbench]")).to_have_attribute("data-stage", "routing")

    page.emulate_media(media="print")
    printed = page.locator(".panel[data-stage=routing]")
    expect(printed.locator("pw-strip table")).to_be_visible()
    expect(printed.locator("pw-rows table")).to_be_visible()


def test_it_is_a_stop_of_a_talk_and_asks(invented: Page) -> None:
    page = invented
    stages = stages_of(page)
    open_page(page, f"/?view=present&step=0&stage={stages.before('kv-cache')}")
    page.keyboard.press("PageDown")
    stop = page.locator("[data-stop]")
    number = stages.stop(0, "kv-cache")  # its place, from which that moves on
    expect(stop).to_have_attribute("data-stop", str(number))
    expect(stop).to_have_attribute("data-stops", str(2 * (len(stages.names) + 1)))
    values = page.locator(".panel[data-current] [data-cell^='expert_ids.'] .v")
    others = page.locator(".panel[data-current] [data-cell^='expert_order.'] .v")
    sentence = page.locator(".panel[data-current] .sentence")
    expect(sentence).to_be_visible()
    expect(values.first).to_be_visible()
    page.keyboard.press("r")
    expect(page.locator("[data-asking]")).to_be_visible()
    expect(values.first).to_be_hidden()
    expect(sentence).to_be_hidden()
    expect(others.first).to_be_visible()
    page.keyboard.press("r")
    expect(values.first).to_be_visible()
    expect(page.locator("[data-live]")).to_have_text("Step 0, Routing: 47 tokens to 4 experts")
    page.keyboard.press("PageDown")
    expect(stop).to_have_attribute("data-stop", str(number + 1))


def test_a_frame_is_steered_to_it(invented: Page) -> None:
    page = invented
    open_page(page, "/?view=embed&step=1&stage=routing&pin=expert_ids.1")
    expect(page.locator(".panel[data-current]")).to_have_attribute("data-stage", "routing")
    expect(page.locator("[data-formula-bar]")).to_contain_text("expert_ids[1] = 16 % 4 = 0")


def test_another_server_does_not_know_it(page: Page) -> None:
    open_page(page, "/?step=1&stage=routing")
    expect(page.locator("[data-workbench]")).to_have_attribute("data-stage", stages_of(page).first)
    expect(page.locator("pw-notices")).to_contain_text("stage")


def test_what_is_asked_for_stays_hidden_when_it_is_scrolled_to(invented: Page) -> None:
    page = invented
    open_page(page, "/?view=present&example=256-requests&step=0&stage=routing")
    expect(page.locator(".panel[data-current] [data-cell='expert_ids.0'] .v")).to_be_visible()
    page.keyboard.press("r")
    last = page.locator(".panel[data-current] [data-cell='expert_ids.16383'] .v")
    expect(last).to_have_count(0)
    page.locator(".panel[data-current] pw-strip .scroll").evaluate("scroller => { scroller.scrollLeft = 1e9; }")
    expect(last).to_have_count(1)
    expect(last).to_be_hidden()
    page.keyboard.press("r")
    expect(last).to_be_visible()
