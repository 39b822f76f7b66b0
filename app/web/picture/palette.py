"""The colours of the page in its light theme, read from static/css/tokens.css: one place decides them."""

import functools
import re
from collections.abc import Mapping
from pathlib import Path

Colour = tuple[int, int, int]

_TOKENS = Path(__file__).resolve().parents[3] / "static" / "css" / "tokens.css"
_TOKEN = re.compile(r"--([\w-]+):\s*light-dark\(#([0-9a-f]{6}),")


@functools.cache
def tokens() -> Mapping[str, Colour]:
    """Name of a token, as `c0-ink`, to its colour."""
    css = _TOKENS.read_text(encoding="utf-8")
    return {name: (int(value[:2], 16), int(value[2:4], 16), int(value[4:], 16)) for name, value in _TOKEN.findall(css)}


def mix(under: Colour, over: Colour, share: float) -> Colour:
    """`over` laid on `under` with the opacity `share`."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(under, over, strict=True))
    return red, green, blue
