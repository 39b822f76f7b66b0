"""How quickly the page answers, in a real Chromium: the second half of `make bench`.

Times are from an input event to the end of the second frame after it, beside what two idle frames take in the same run; the
first board is beside an empty page of the same server. The aim is two frames for a hover and 100 ms for a step.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

import uvicorn
from playwright.sync_api import Page, sync_playwright

from app.__main__ import address, listen
from app.main import create_app
from tests.browser.conftest import ARGUMENTS, SYSTEM_CHROMIUM

# Installed before the page's own scripts: collects the time from each event to the second frame after it.
PROBE = """
window.times = [];
const probe = () => {
  const start = performance.now();
  requestAnimationFrame(() => requestAnimationFrame(() => window.times.push(performance.now() - start)));
};
addEventListener('pointermove', probe, true);
addEventListener('keydown', probe, true);
"""
EXAMPLES = {"worked example": "worked-example", "256 requests, 16,384 tokens": "256-requests"}


@contextmanager
def served() -> Iterator[str]:
    """The address of a server of our own."""
    sockets = listen("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(create_app(), log_level="warning", access_log=False))
    thread = threading.Thread(target=server.run, args=(sockets,), daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield address("127.0.0.1", sockets[0])
    server.should_exit = True
    thread.join(timeout=10)


def load_ms(page: Page, url: str, ready: str) -> float:
    """Time from asking for an address to `ready` being there."""
    start = time.perf_counter()
    page.goto(url, wait_until="commit")
    page.wait_for_selector(ready, state="attached")
    return (time.perf_counter() - start) * 1e3


def collected(page: Page, count: int) -> list[float]:
    """The times of `count` events; forgets them."""
    page.wait_for_function("count => window.times.length >= count", arg=count)
    times: list[float] = page.evaluate("window.times.splice(0)")
    return times


def idle_frames(page: Page) -> float:
    """What two frames take when nothing happens."""
    return float(
        page.evaluate(
            """async () => {
              const times = [];
              for (let turn = 0; turn < 20; turn += 1) {
                const start = performance.now();
                await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
                times.push(performance.now() - start);
              }
              return times.sort((a, b) => a - b)[10];
            }"""
        )
    )


def hover(page: Page) -> list[float]:
    """Move over the cells of the slot row in sight."""
    boxes = [box for cell in page.locator('td[data-cell^="slot_mappings."]').all()[:12] if (box := cell.bounding_box())]
    times = []
    for box in boxes * 2:
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        times += collected(page, 1)
    return times


def change_steps(page: Page) -> list[float]:
    """Go to and fro between two steps that are loaded."""
    page.keyboard.press("Shift+ArrowLeft")
    page.wait_for_timeout(1_000)
    page.evaluate("window.times.splice(0)")
    times = []
    for turn in range(10):
        page.keyboard.press("Shift+ArrowRight" if turn % 2 == 0 else "Shift+ArrowLeft")
        times += collected(page, 1)
    return times


def main() -> None:
    with served() as url, sync_playwright() as playwright:
        path = str(SYSTEM_CHROMIUM) if SYSTEM_CHROMIUM.exists() else None
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
        context.add_init_script(PROBE)
        page = context.new_page()
        load_ms(page, f"{url}/", "[data-workbench][data-ready]")  # fills the caches
        for title, name in EXAMPLES.items():
            empty = median(load_ms(page, f"{url}/healthz", "body") for _ in range(5))
            place = f"{url}/?example={name}&stage=slot-mapping"
            first = median(load_ms(page, place, "[data-workbench][data-ready]") for _ in range(3))
            idle = idle_frames(page)
            hovers = sorted(hover(page))
            worst = hovers[-1]
            steps = change_steps(page)
            print(f"page, {title} (two idle frames: {idle:.0f} ms)")
            print(f"  first board / empty page   {first / empty:6.1f}   ({first:.0f} ms)")
            print(
                f"  hover / two frames         {median(hovers) / idle:6.2f}   ({median(hovers):.0f} ms, worst {worst:.0f})"
            )
            print(f"  step change / two frames   {median(steps) / idle:6.2f}   ({median(steps):.0f} ms)")
        browser.close()


if __name__ == "__main__":
    main()
