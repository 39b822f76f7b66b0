"""Embed mode inside a page of another origin: its messages, the history of the page around it, who may frame what."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from playwright.sync_api import Browser, Frame, Page, expect

from tests.browser.conftest import NewPage
from tests.browser.stages import stages_of, title_of

HOST = """<!doctype html><title>A course</title><script>
var heard = []; // what the frame says, with where it says it from
addEventListener('message', (event) => heard.push([event.origin, event.data]));
function tell(message) { document.querySelector('iframe').contentWindow.postMessage(message, '*'); }
</script><h1>A course</h1>"""


@pytest.fixture
def host(browser: Browser) -> Iterator[Page]:
    """A page of another origin that notes every message it gets."""

    class Course(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(HOST.encode())

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Course) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        context = browser.new_context(viewport={"width": 900, "height": 700}, locale="en-US", reduced_motion="reduce")
        page = context.new_page()
        page.goto(f"http://localhost:{server.server_port}/course")
        yield page
        context.close()
        server.shutdown()


def frame_of(host: Page, url: str) -> Frame:
    host.evaluate(
        """(src) => {
          const frame = Object.assign(document.createElement('iframe'), { width: 800, height: 450, src });
          document.body.append(frame);
        }""",
        url,
    )
    handle = host.locator("iframe").first.element_handle()
    assert handle is not None
    frame = handle.content_frame()
    assert frame is not None
    return frame


def hears(host: Page, message: dict[str, Any]) -> None:
    """Waits for the last message to be this one."""
    host.wait_for_function(
        "wanted => heard.length > 0 && JSON.stringify(heard.at(-1)[1]) === JSON.stringify(wanted)", arg=message
    )


def test_a_page_around_steers_the_frame(host: Page, live_server: str, page: Page) -> None:
    after = stages_of(page).after("flatten")
    entries = host.evaluate("history.length")
    host.evaluate("document.body.style.paddingTop = '2000px'")  # it answers where nobody sees it yet
    query = "?view=embed&example=worked-example&step=1&stage=batch&steps=1-1"
    frame = frame_of(host, f"{live_server}/{query}")
    hears(host, {"type": "pagewalk:step", "step": 1, "stage": "batch", "pin": None})
    title = "One decode, one prefill chunk"
    assert host.evaluate("heard") == [
        [live_server, {"type": "pagewalk:ready", "version": 1, "steps": [1, 1], "title": title}],
        [live_server, {"type": "pagewalk:step", "step": 1, "stage": "batch", "pin": None}],
    ]

    host.evaluate("document.body.style.paddingTop = 0")
    host.evaluate("tell({ type: 'pagewalk:goto', stage: 'slot-mapping', pin: 'slot_mappings.0.0' })")
    hears(host, {"type": "pagewalk:step", "step": 1, "stage": "slot-mapping", "pin": "slot_mappings.0.0"})
    expect(frame.locator("[data-formula-bar]")).to_contain_text(
        re.compile(r"slot_mappings\[0\]\[0\] = 12 \* 16 \+ 15 = 207")
    )

    # Messages of others pass unanswered, ours that make no sense are refused, and nothing moves.
    before = host.evaluate("heard.length")
    host.evaluate("[null, 7, 'pagewalk:goto', [], { type: 'other' }, { kind: 'pagewalk:goto', step: 0 }].forEach(tell)")
    for wrong in [
        "step: '0'",
        "step: 1, stage: 'nowhere'",
        "stage: 'update', pin: 'slot_mappings'",
        "stage: 'update', pin: 'slot_mappings.0.99'",
        "stage: 'update', pin: 'slot_mappings' + '.0'.repeat(1e6)",
        "stage: 'update', pin: '__proto__.0'",
        "step: 1, pin: {}",
    ]:
        host.evaluate(f"tell({{ type: 'pagewalk:goto', {wrong} }})")
    host.evaluate("tell({ type: 'pagewalk:close' })")
    host.wait_for_function(f"heard.length === {before + 8}")
    assert {message["type"] for _, message in host.evaluate("heard")[before:]} == {"pagewalk:error"}
    expect(frame.locator(".panel[data-current]")).to_have_attribute("data-stage", "slot-mapping")

    # Nobody but the window around is listened to, not even a frame beside.
    host.evaluate(
        """new Promise((done) => {
          const beside = document.createElement('iframe');
          beside.srcdoc = `<script>parent.frames[0].postMessage({ type: 'pagewalk:goto', stage: 'update' }, '*')<\\/script>`;
          beside.onload = done;
          document.body.append(beside);
        })"""
    )
    host.evaluate("tell({ type: 'pagewalk:goto', step: 0, stage: 'flatten', pin: null })")  # 0 is outside of 1-1
    hears(host, {"type": "pagewalk:step", "step": 1, "stage": "flatten", "pin": None})
    assert not any(message.get("stage") == "update" for _, message in host.evaluate("heard"))

    # Keys work where the keyboard is, and the page around keeps its history.
    frame.locator("[data-next]").focus()
    host.keyboard.press("ArrowRight")
    hears(host, {"type": "pagewalk:step", "step": 1, "stage": after, "pin": None})
    assert host.evaluate("history.length") == entries
    assert frame.evaluate("location.search") == query
    assert host.evaluate("scrollY") == 0
    before = host.evaluate("heard.length")
    host.evaluate("tell({ type: 'pagewalk:hello' })")
    host.wait_for_function(f"heard.length === {before + 2}")
    assert [message["type"] for _, message in host.evaluate("heard")[before:]] == ["pagewalk:ready", "pagewalk:step"]

    full = frame.locator("[data-full-view]")
    expect(full).to_have_attribute("href", f"/?example=worked-example&step=1&stage={after}")
    assert (full.get_attribute("target"), full.get_attribute("rel")) == ("_blank", "noopener")
    with host.context.expect_page() as opened:
        full.click()
    expect(opened.value.locator(".panel[data-current] h2").first).to_have_text(title_of(after))


def test_others_may_frame_the_embed_view_alone(host: Page, live_server: str, page: Page) -> None:
    def ancestors(path: str) -> str:
        policy = page.request.get(path).headers["content-security-policy"]
        return policy.split("frame-ancestors ")[1]

    assert ancestors("/?view=embed&step=1") == "*"
    for path in [
        "/",
        "/?view=present",
        "/?view=board",
        "/?view=embed&view=board",
        "/?view=board&view=embed",
        "/?a&amp;view=board&view=embed",
        "/?view=EMBED",
        "/?VIEW=board&view=embed",
    ]:
        assert ancestors(path) == "'self'", path
    frame = frame_of(host, f"{live_server}/?stage=batch")
    host.wait_for_function("document.readyState === 'complete'")
    expect(host.frame_locator("iframe").locator("[data-workbench]")).to_have_count(0)
    assert live_server not in frame.url


def test_a_frame_is_read_only_and_fits(new_page: NewPage) -> None:
    page = new_page(viewport={"width": 480, "height": 320})
    page.goto("/?view=embed&step=1&stage=slot-mapping&pin=slot_mappings.0.0&lang=zh")
    expect(page.locator("[data-formula-bar]")).to_contain_text("207")
    expect(page.get_by_role("heading", level=1)).to_have_text("一个解码，一个预填充分块")
    expect(page.locator(".embed-line")).to_contain_text("第 1 步")
    assert page.locator("input:visible, [data-edit]:visible, pw-inspector:visible, .masthead h1:visible").count() == 0
    expect(page.locator("html")).to_have_js_property("scrollHeight", 320)  # type is fitted after the first drawing
    assert page.evaluate("document.documentElement.scrollWidth") == 480
    href = page.locator("[data-full-view]").get_attribute("href")
    assert href == "/?example=worked-example&step=1&stage=slot-mapping&pin=slot_mappings.0.0&lang=zh"
    page.keyboard.press("Control+z")
    page.locator("[data-go-stage=schedule]").click()
    expect(page.locator("pw-plan td.now").first).to_have_text("1")
    assert page.locator("pw-plan input").count() == 0
    assert page.evaluate("localStorage.length + sessionStorage.length") == 0  # nothing is kept
    assert page.evaluate("location.search").startswith("?view=embed&step=1&stage=slot-mapping")  # as it was asked for


def test_a_range_of_steps_is_kept_to(page: Page) -> None:
    stages = stages_of(page)
    step = page.locator(".embed-line .step")
    notices = page.locator("pw-notices")
    kept = {"0-0": ("Step 0", ""), "7-9": ("Step 1", "Only step 1 is shown here.")}  # there are two: 7 becomes the last
    for steps, (shown, said) in kept.items():
        page.goto(f"/?view=embed&stage={stages.first}&steps={steps}&step=0")
        expect(step).to_have_text(shown)
        expect(notices).to_contain_text(said)
        expect(page.locator("[data-back]")).to_be_disabled()
        page.keyboard.press("Shift+ArrowLeft")
        page.keyboard.press("ArrowRight")
        expect(page.locator(".panel[data-current]").last).to_have_attribute("data-stage", stages.after(stages.first))
        expect(step).to_have_text(shown)
    page.goto("/?view=embed&steps=1-0")
    expect(notices).to_contain_text("steps")
    page.keyboard.press("Shift+ArrowLeft")
    expect(step).to_have_text("Step 0")
