"""Text in a picture: which glyphs there are, how wide they run, and what is left out.

Pillow brings one font, of ASCII alone; the machine may have others for more, Chinese among them. A character that no font
has is written without its accents, or left out: never as a box. Scripts that run from right to left, or whose letters
change shape side by side, need more than placing glyphs in a row and are left out too.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from PIL import ImageDraw, ImageFont

from app.web.picture.palette import Colour

# (file, place in it): looked for in the folders where each system keeps its fonts.
_MORE_FONTS = (
    ("NotoSansCJK-Regular.ttc", 2),
    ("NotoSansSC-Regular.otf", 0),
    ("SourceHanSansSC-Regular.otf", 0),
    ("wqy-microhei.ttc", 0),
    ("PingFang.ttc", 0),
    ("Hiragino Sans GB.ttc", 0),
    ("msyh.ttc", 0),
    ("DejaVuSans.ttf", 0),
    ("Arial.ttf", 0),
)
_NOBODYS = "\uffff"  # no character, so no font has a glyph for it
_MAX_CHARACTERS = 400  # of one text: nothing longer fits any picture
_LEFT_TO_RIGHT = {"L", "EN", "ES", "ET", "CS", "ON", "WS"}

Font = ImageFont.FreeTypeFont


@dataclass(frozen=True)
class Run:
    """Characters of one font."""

    text: str
    font: Font
    width: float


class Lettering:
    """Fonts of a picture whose pixels are `scale` to the unit."""

    def __init__(self, scale: int, *, more_fonts: Sequence[tuple[str, int]] = _MORE_FONTS) -> None:
        """`more_fonts` are tried, in this order, for what the built-in font lacks."""
        self._scale = scale
        self._more_fonts = tuple(more_fonts)

    def drawable(self, text: str) -> str:
        """The text in one line, without what cannot be drawn."""
        found: list[str] = []
        for character in " ".join(text[:_MAX_CHARACTERS].split()):
            if self._place(character) is not None:
                found.append(character)
            else:
                plain = unicodedata.normalize("NFKD", character)
                found += [part for part in plain if part.isascii() and part.isprintable()]
        return " ".join("".join(found).split())

    def is_readable(self, text: str) -> bool:
        """Whether what is left of a text is most of it."""
        said = [character for character in text[:_MAX_CHARACTERS] if character.isalnum()]
        kept = [character for character in said if self.drawable(character)]
        return len(kept) > 0.7 * len(said) if said else bool(self.drawable(text))

    def width(self, text: str, size: float) -> float:
        """How wide a drawable text runs."""
        return sum(run.width for run in self._runs(text, size)) / self._scale

    def fit(self, text: str, size: float, width: float) -> str:
        """The text, or as much of it as fits before an ellipsis."""
        if self.width(text, size) <= width:
            return text
        low, high = 0, len(text)
        while low < high:
            middle = (low + high + 1) // 2
            if self.width(text[:middle].rstrip() + "…", size) <= width:
                low = middle
            else:
                high = middle - 1
        return text[:low].rstrip() + "…"

    def wrap(self, text: str, size: float, width: float, lines: int) -> list[str]:
        """The text in at most so many lines, broken at spaces and between Chinese characters; the last may be cut short."""
        words = list(_words(text))
        found: list[str] = []
        while words and len(found) < lines - 1:
            count = 1
            while count < len(words) and self.width("".join(words[: count + 1]).rstrip(), size) <= width:
                count += 1
            found.append(self.fit("".join(words[:count]).strip(), size, width))
            words = words[count:]
        rest = "".join(words).strip()
        return [*found, self.fit(rest, size, width)] if rest else found

    def draw(
        self, canvas: ImageDraw.ImageDraw, at: tuple[float, float], text: str, size: float, colour: Colour, weight: float = 0
    ) -> None:
        """Write a drawable text; `at` is its left end on the baseline, `weight` how much bolder than regular."""
        x, y = at[0] * self._scale, at[1] * self._scale
        for run in self._runs(text, size):
            stroke = weight * self._scale if weight else 0
            canvas.text((x, y), run.text, font=run.font, fill=colour, anchor="ls", stroke_width=stroke, stroke_fill=colour)
            x += run.width

    def _runs(self, text: str, size: float) -> Iterator[Run]:
        start = 0
        places = [self._place(character) or 0 for character in text]
        for end in range(1, len(text) + 1):
            if end == len(text) or places[end] != places[start]:
                font = self._font(places[start], round(size * self._scale))
                yield Run(text[start:end], font, font.getlength(text[start:end]))
                start = end

    def _font(self, place: int, pixels: int) -> Font:
        font = _load(("", 0) if place == 0 else self._more_fonts[place - 1], pixels)
        assert font is not None, place
        return font

    def _place(self, character: str) -> int | None:
        """0 for the built-in font, n for the n-th of the others, None where no font has the character."""
        if not character.isprintable() or unicodedata.bidirectional(character) not in _LEFT_TO_RIGHT:
            return None
        for place, font in enumerate((("", 0), *self._more_fonts)):
            if _has_glyph(font, character):
                return place
        return None


def _words(text: str) -> Iterator[str]:
    """Pieces between which a line may break, with the spaces behind them."""
    start = 0
    for index in range(1, len(text)):
        if text[index - 1] == " " or unicodedata.east_asian_width(text[index - 1]) == "W":
            yield text[start:index]
            start = index
    if text:
        yield text[start:]


@functools.lru_cache(maxsize=64)
def _load(font: tuple[str, int], pixels: int) -> Font | None:
    name, index = font
    if not name:
        built_in = ImageFont.load_default(pixels)
        assert isinstance(built_in, ImageFont.FreeTypeFont), "Pillow is built without FreeType"
        return built_in
    try:
        return ImageFont.truetype(name, pixels, index=index, layout_engine=ImageFont.Layout.BASIC)
    except OSError:
        return None


@functools.lru_cache(maxsize=8192)
def _has_glyph(font: tuple[str, int], character: str) -> bool:
    loaded = _load(font, 24)
    if loaded is None:
        return False
    if character == " ":
        return True
    mask = loaded.getmask(character)
    return bytes(mask) != bytes(loaded.getmask(_NOBODYS)) and mask.getbbox() is not None
