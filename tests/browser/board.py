"""The board as a reader opens it, and the tools at the top of the page."""

from __future__ import annotations

from playwright.sync_api import Page, expect


def open_board(page: Page, path: str = "/") -> None:
    """Opens a page and waits for its board."""
    page.goto(path)
    expect(page.locator("[data-workbench][data-ready]")).to_be_visible()


def more_tools(page: Page, selector: str) -> None:
    """Presses a tool at the top of the page."""
    page.locator(f".masthead .tools {selector}").click()
