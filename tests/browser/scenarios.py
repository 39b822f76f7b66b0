"""What tests do with the dialog of scenarios."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect


def open_gallery(page: Page) -> Locator:
    """The dialog, opened by its button, once the list of the gallery is there."""
    page.locator("[data-gallery='']").click()
    dialog = page.locator("dialog.gallery[open]")
    expect(dialog.locator("[data-section=group-0]")).to_be_attached()
    return dialog


def choose_example(page: Page, name: str) -> None:
    """Opens an example of the gallery. It may take its time to arrive."""
    dialog = open_gallery(page)
    dialog.locator("[data-section=group-0]").press("Enter")  # a mouse would go on to hover over the board
    dialog.locator(f"[data-example='{name}'] h4 a").press("Enter")
    expect(dialog).to_be_hidden()
    page.mouse.move(0, 0)  # what lies below the dialog is not what is looked at
