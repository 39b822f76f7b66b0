"""A real Chromium on the real server. A page on which anything goes wrong unasked fails its test.

Wrong is: an uncaught exception, an error or a warning in the console, a request to another origin. A refused scenario is
an answer, not a fault: Chromium reports the 422 of an API call as a console error, and that one is expected. Others can be:
`@pytest.mark.console("pattern")` allows the console errors that match.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, expect, sync_playwright

# The shell is the same engine without a browser's own windows, so a page comes sooner.
SYSTEM_CHROMIUM = next(
    (path for path in map(Path, ("/usr/bin/chromium-headless-shell", "/usr/bin/chromium")) if path.exists()),
    Path("/usr/bin/chromium"),
)
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


class Contexts:
    """Browser contexts, kept from test to test for their cache: a page then loads in a third of the time.

    A context is given out as if it were new: its pages are closed, and what it has stored is cleared
    before it is used again.
    """

    def __init__(self, browser: Browser, origin: str) -> None:
        self.browser = browser
        self.origin = origin
        self.faults: list[str] = []  # of the test that runs
        self.expected: list[re.Pattern[str]] = []  # console errors
        self._free: dict[str, list[BrowserContext]] = {}
        self._used: list[tuple[str, BrowserContext]] = []

    def take(self, options: dict[str, Any]) -> Page:
        key = json.dumps(options, sort_keys=True, default=str)
        free = self._free.get(key, [])
        context = free.pop() if free else self._new(options)
        self._used.append((key, context))
        page = context.new_page()
        session = context.new_cdp_session(page)
        session.send(
            "Storage.clearDataForOrigin", {"origin": self.origin, "storageTypes": "cookies,local_storage,indexeddb"}
        )
        session.detach()
        return page

    def _new(self, options: dict[str, Any]) -> BrowserContext:
        context = self.browser.new_context(**options)
        context.on("request", lambda sent: self.faults.extend(_of_request(sent, self.origin)))
        context.on("console", lambda message: self.faults.extend(_of_console(message, self.origin, self.expected)))
        context.on("weberror", lambda error: self.faults.append(f"uncaught: {error.error}"))
        return context

    def give_back(self) -> None:
        """The test is over: its pages say what they still have to say, and go."""
        for key, context in self._used:
            for page in context.pages:
                page.evaluate("1")  # a round trip: what the page said before it has arrived
                page.close()
            context.unroute_all()
            self._free.setdefault(key, []).append(context)
        self._used = []


@pytest.fixture(scope="session")
def contexts(browser: Browser, live_server: str) -> Contexts:
    return Contexts(browser, live_server)


@pytest.fixture
def new_page(contexts: Contexts, live_server: str, request: pytest.FixtureRequest) -> Iterator[NewPage]:
    """Opens pages, each in a context of its own: `new_page(color_scheme="dark", viewport={"width": 390, "height": 844})`.

    Takes what Playwright's `browser.new_context` takes. Paths given to `goto` are the live server's.
    """
    contexts.expected = [re.compile(marker.args[0]) for marker in request.node.iter_markers("console")]
    contexts.faults = []

    def open_page(**options: Any) -> Page:
        defaults = {"viewport": {"width": 1440, "height": 900}, "locale": "en-US", "reduced_motion": "reduce"}
        return contexts.take({"base_url": live_server, **defaults, **options})

    yield open_page
    contexts.give_back()
    assert not contexts.faults, "\n".join(["the page did what it should not:", *contexts.faults])


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
