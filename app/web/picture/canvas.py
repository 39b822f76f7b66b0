"""The strokes of a picture: text, boxes and frames, tags in a request's colours and hatch.

Drawn at twice the size and halved, so that every edge is smooth. Units are those of the finished 1200 x 630 picture.
"""

from __future__ import annotations

import io
from collections.abc import Sequence

from PIL import Image, ImageDraw

from app.web.identity import Identity
from app.web.picture.lettering import Lettering
from app.web.picture.palette import Colour, mix, tokens

WIDTH, HEIGHT = 1200, 630
SCALE = 2
MARGIN = 56
RIGHT = WIDTH - MARGIN
RADIUS = 6
SMALL, TEXT, LARGE = 20, 24, 30

Box = tuple[float, float, float, float]  # left, top, right, bottom


class Canvas:
    """An empty picture; `colours` are the tokens of the page, `lettering` its fonts."""

    def __init__(self, lettering: Lettering) -> None:
        self.colours = tokens()
        self.lettering = lettering
        self._image = Image.new("RGB", (WIDTH * SCALE, HEIGHT * SCALE), self.colours["paper"])
        self._draw = ImageDraw.Draw(self._image)

    def png(self) -> bytes:
        """The picture as it is."""
        out = io.BytesIO()
        self._image.resize((WIDTH, HEIGHT), Image.Resampling.BOX).save(out, "PNG")
        return out.getvalue()

    def of(self, identity: Identity) -> tuple[Colour, Colour]:
        return self.colours[f"c{identity.colour}"], self.colours[f"c{identity.colour}-ink"]

    def label(self, text: str, colour: str, y: float, size: float = SMALL) -> None:
        self.write(MARGIN, y, text, size, colour)

    def size(self, texts: Sequence[str], width: float) -> float:
        """How large texts may be that each have so much room."""
        size: float = TEXT
        while size > 10 and any(self.lettering.width(text, size) > width - 8 for text in texts):
            size -= 1
        return size

    def write(
        self,
        x: float,
        y: float,
        text: str,
        size: float,
        colour: str | Colour,
        align: str = "left",
        weight: float = 0,
    ) -> float:
        """Write one line on the baseline y; returns where it ends. No text leaves the margins."""
        text = self.lettering.drawable(text)
        text = self.lettering.fit(text, size, RIGHT - MARGIN)
        width = self.lettering.width(text, size)
        x -= {"left": 0, "centre": width / 2, "right": width}[align]
        self.lettering.draw(self._draw, (x, y), text, size, self._colour(colour), weight)
        return x + width

    def tag(self, box: Box, identity: Identity, size: float) -> None:
        self.hatched(box, identity, radius=RADIUS)
        letter = self.lettering.drawable(identity.letter) or str(identity.colour)
        _, ink = self.of(identity)
        self.write((box[0] + box[2]) / 2, (box[1] + box[3]) / 2 + size * 0.36, letter, size, ink, align="centre", weight=0.8)

    def hatched(self, box: Box, identity: Identity, radius: float) -> None:
        """A rectangle in a request's colours and hatch."""
        left, top, right, bottom = (round(side * SCALE) for side in box)
        width, height = max(right - left, 1), max(bottom - top, 1)
        fill, ink = self.of(identity)
        stroke = mix(fill, ink, 0.2)
        tile = Image.new("RGB", (width, height), fill)
        _hatch(ImageDraw.Draw(tile), width, height, identity.hatch, stroke)
        mask = Image.new("L", (width, height), 0)
        ImageDraw.Draw(mask).rounded_rectangle((0, 0, width - 1, height - 1), radius * SCALE, fill=255)
        self._image.paste(tile, (left, top), mask)

    def arrow(self, x: float, y: float, length: float) -> None:
        colour = self.colours["edge"]
        ends = [(x * SCALE, y * SCALE), ((x + length) * SCALE, y * SCALE)]
        self._draw.line(ends, fill=colour, width=2 * SCALE)
        tip = (x + length) * SCALE
        self._draw.polygon([(tip + 4, y * SCALE), (tip - 14, y * SCALE - 10), (tip - 14, y * SCALE + 10)], fill=colour)

    def rect(self, box: Box, colour: str | Colour, radius: float = 0) -> None:
        left, top, right, bottom = (round(side * SCALE) for side in box)
        if right > left and bottom > top:
            self._draw.rounded_rectangle((left, top, right - 1, bottom - 1), radius * SCALE, fill=self._colour(colour))

    def frame(self, box: Box, colour: Colour, width: float, radius: float = 4) -> None:
        left, top, right, bottom = (round(side * SCALE) for side in box)
        if right > left and bottom > top:
            self._draw.rounded_rectangle(
                (left, top, right - 1, bottom - 1), radius * SCALE, outline=colour, width=round(width * SCALE)
            )

    def _colour(self, colour: str | Colour) -> Colour:
        return self.colours[colour] if isinstance(colour, str) else colour


def _hatch(draw: ImageDraw.ImageDraw, width: int, height: int, hatch: int, stroke: Colour) -> None:
    """The six patterns of static/css/request.css, a little larger: pictures are shown small."""
    pitch, line = 8 * SCALE, 3
    if hatch == 0:
        for x in range(pitch // 2, width, pitch):
            for y in range(pitch // 2, height, pitch):
                draw.ellipse((x - 2, y - 2, x + 2, y + 2), fill=stroke)
    if hatch in (1, 3):
        for start in range(-height, width + height, pitch):
            ends = (start, height, start + height, 0) if hatch == 1 else (start, 0, start + height, height)
            draw.line(ends, fill=stroke, width=line)
    if hatch in (2, 5):
        for x in range(pitch // 2, width, pitch):
            draw.line((x, 0, x, height), fill=stroke, width=line)
    if hatch in (4, 5):
        for y in range(pitch // 2, height, pitch):
            draw.line((0, y, width, y), fill=stroke, width=line)
