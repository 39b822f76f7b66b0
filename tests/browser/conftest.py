"""A real Chromium on the real server. A page on which anything goes wrong unasked fails its test.

Wrong is: an uncaught exception, an error or a warning in the console, a request to another origin. A refused scenario is
an answer, not a fault: Chromium reports the 422 of an API call as a console error, and that one is expected. Others can be:
`@pytest.mark.console("pattern")` allows the console errors that match.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect, sync_playwright

SYSTEM_CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
NewPage = Callable[..., Page]

expect.set_options(timeout=10_000)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium: the system's where there is one, else the one Playwright downloaded."""
    with sync_playwright() as playwright:
        executable = SYSTEM_CHROMIUM if SYSTEM_CHROMIUM.exists() else None
        chromium = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture
def new_page(browser: Browser, live_server: str, request: pytest.FixtureRequest) -> Iterator[NewPage]:
    """Opens pages, each in a context of its own: `new_page(color_scheme="dark", viewport={"width": 390, "height": 844})`.

    Takes what Playwright's `browser.new_context` takes. Paths given to `goto` are the live server's.
    """
    expected = [re.compile(marker.args[0]) for marker in request.node.iter_markers("console")]
    contexts = []
    faults: list[str] = []

    def open_page(**options: Any) -> Page:
        defaults = {"viewport": {"width": 1440, "height": 900}, "locale": "en-US", "reduced_motion": "reduce"}
        context = browser.new_context(**{"base_url": live_server, **defaults, **options})
        contexts.append(context)
        context.on("request", lambda sent: faults.extend(_of_request(sent, live_server)))
        context.on("console", lambda message: faults.extend(_of_console(message, live_server, expected)))
        context.on("weberror", lambda error: faults.append(f"uncaught: {error.error}"))
        return context.new_page()

    yield open_page
    for context in contexts:
        for page in context.pages:
            page.evaluate("1")  # a round trip: what the page said before it has arrived
        context.close()
    assert not faults, "\n".join(["the page did what it should not:", *faults])


@pytest.fixture
def page(new_page: NewPage) -> Page:
    """A desktop page, 1440 by 900, in English, light, without motion. Nothing is loaded yet: `page.goto("/")`."""
    return new_page()


def _of_request(sent: Request, origin: str) -> list[str]:
    is_ours = sent.url.startswith((f"{origin}/", "data:", "blob:", "about:"))
    return [] if is_ours else [f"asked another origin: {sent.method} {sent.url}"]


def _of_console(message: ConsoleMessage, origin: str, expected: list[re.Pattern[str]]) -> list[str]:
    if message.type not in {"error", "warning"}:
        return []
    source = message.location.get("url", "")
    is_refusal = "status of 422" in message.text and source.startswith(f"{origin}/api/")
    if is_refusal or any(pattern.search(message.text) for pattern in expected):
        return []
    return [f"console {message.type}: {message.text} ({source})"]
