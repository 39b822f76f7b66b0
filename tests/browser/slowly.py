"""A page that is slow: frames that are drawn when the test says so, and answers that come when it says so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page, Route

TRACE = "**/api/trace*"

HOLD_FRAMES = """() => {
  const late = [];
  const real = [window.requestAnimationFrame.bind(window), window.cancelAnimationFrame.bind(window)];
  window.requestAnimationFrame = (run) => late.push(run);
  window.cancelAnimationFrame = (number) => delete late[number - 1];
  window.letFramesGo = () => {
    [window.requestAnimationFrame, window.cancelAnimationFrame] = real;
    return new Promise((drawn) => real[0](() => {
      for (const run of late) run?.(performance.now());
      real[0](drawn);
    }));
  };
}"""


@contextmanager
def no_frames(page: Page) -> Iterator[None]:
    """Within it nothing is drawn: every key comes before the draw that belongs to the one before it."""
    page.evaluate(HOLD_FRAMES)
    yield
    page.evaluate("() => window.letFramesGo()")


@contextmanager
def no_answers(page: Page, url: str = TRACE) -> Iterator[list[Route]]:
    """Within it the server does not answer; afterwards it answers all that it was asked."""
    held: list[Route] = []
    page.route(url, lambda route: held.append(route))
    yield held
    page.unroute(url)  # lets go of what is held


def slow_down(page: Page, times: int) -> None:
    """The page's own work takes so many times as long."""
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": times})
