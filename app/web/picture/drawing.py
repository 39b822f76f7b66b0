"""Where things stand in the picture: title and facts above, then the walk from batch rows over tokens to slots and blocks.

Drawn at twice the size and halved, so that every edge is smooth. Units are those of the finished 1200 x 630 picture.
"""

from __future__ import annotations

import io
from collections.abc import Sequence

from PIL import Image, ImageDraw

from app.i18n import DEFAULT_LANGUAGE, Language, translate
from app.web.identity import Identity
from app.web.picture.content import Block, Card, SchedulePicture, StepPicture, Token
from app.web.picture.lettering import Lettering
from app.web.picture.palette import Colour, mix, tokens

WIDTH, HEIGHT = 1200, 630
_SCALE = 2
_MARGIN = 56
_LABELS = 190  # what the names of the tensors take, left of everything
_LEFT = _MARGIN + _LABELS
_RIGHT = WIDTH - _MARGIN
_RADIUS = 6
_SMALL, _TEXT, _LARGE = 20, 24, 30


def fonts() -> Lettering:
    """The fonts of this machine, at the size of the drawing."""
    return Lettering(_SCALE)


def drawable_language(language: Language, lettering: Lettering) -> Language:
    """The language that a picture speaks to such a reader: English where the machine has no Chinese font."""
    return language if lettering.is_readable(translate(language, "picture.empty", {})) else DEFAULT_LANGUAGE


def render(card: Card, language: Language, lettering: Lettering) -> bytes:
    """The card as PNG, its words in a language that can be drawn."""
    picture = _Picture(lettering, language)
    picture.draw(card)
    return picture.png()


class _Picture:
    def __init__(self, lettering: Lettering, language: Language) -> None:
        self._colours = tokens()
        self._image = Image.new("RGB", (WIDTH * _SCALE, HEIGHT * _SCALE), self._colours["paper"])
        self._draw = ImageDraw.Draw(self._image)
        self._lettering = lettering
        self._language: Language = language

    def png(self) -> bytes:
        out = io.BytesIO()
        self._image.resize((WIDTH, HEIGHT), Image.Resampling.BOX).save(out, "PNG")
        return out.getvalue()

    def draw(self, card: Card) -> None:
        below = self._head(card)
        if card.step is not None:
            self._step(card.step, below)
            return
        below += 24
        if card.sentence:
            self._write(_MARGIN, below + 24, card.sentence, _LARGE - 2, "ink")
            below += 56
        if card.schedule is not None:
            self._schedule(card.schedule, below)
        else:
            self._empty_schedule(below + 12)

    # ---- above

    def _head(self, card: Card) -> float:
        """Title and facts; returns where what is below them may begin."""
        self._rect((0, 0, WIDTH, 10), "ink")
        self._write(_MARGIN, 66, "PageWalk", 28, "ink", weight=0.5)
        if card.place:
            self._write(_RIGHT, 66, card.place, 28, "soft", align="right")
        title = self._lettering.drawable(card.title) if self._lettering.is_readable(card.title) else ""
        # A title that cannot be drawn stands beside the picture all the same: an unfurled link has it in words.
        title = title or (self._say("title") if card.title else translate(self._language, "scenario.untitled", {}))
        width = _RIGHT - _MARGIN
        y = 136.0
        if self._lettering.width(title, 54) <= width:
            self._write(_MARGIN, y, title, 54, "ink", weight=0.6)
        else:
            y -= 8
            lines = self._lettering.wrap(title, 42, width, 2)
            for index, line in enumerate(lines):
                self._write(_MARGIN, y + 50 * index, line, 42, "ink", weight=0.5)
            y += 50 * (len(lines) - 1)
        y += 44
        self._write(_MARGIN, y, "  ·  ".join(card.facts), _TEXT, "soft")
        return y + 24

    # ---- a step

    def _step(self, step: StepPicture, top: float) -> None:
        room = HEIGHT - 40 - top
        gap = (room - 44 - 176 - 92) / 3
        self._rows(step, top + gap * 0.8)
        self._strip(step, top + gap * 1.6 + 44)
        self._blocks(step, top + gap * 2.6 + 44 + 176)

    def _rows(self, step: StepPicture, y: float) -> None:
        """Batch rows and the pool rows that they point to."""
        self._label("idx_mapping", "sp-batch", y + 30)
        x: float = _LEFT
        num_shown = 0
        for row in step.rows:
            if x > _RIGHT - 250 and row.batch_idx < step.num_rows - 1:
                break
            num_shown += 1
            self._tag((x, y, x + 44, y + 44), row.identity, 26)
            x += 58
            x = self._write(x, y + 31, str(row.batch_idx), 26, "sp-batch") + 10
            self._arrow(x, y + 22, 30)
            x = self._write(x + 40, y + 31, str(row.req_state_idx), 26, "sp-req", weight=0.4) + 34
        if num_shown < step.num_rows:
            self._write(x, y + 31, self._say("more", n=step.num_rows - num_shown), _SMALL, "soft")

    def _strip(self, step: StepPicture, y: float) -> None:
        """Tokens with their positions and slots; y is the top of the line of indices."""
        self._label("flat_token_idx", "sp-tok", y + 18, size=_SMALL - 2)
        self._label("positions", "sp-pos", y + 118)
        self._label("slot_mappings", "sp-slot", y + 160)
        more = 150 if step.num_more_tokens else 0
        num_gaps = sum(token is None for token in step.tokens)
        num_cells = len(step.tokens) - num_gaps
        cell = min(92.0, (_RIGHT - _LEFT - more - 40 * num_gaps) / max(num_cells, 1))
        shown = [token for token in step.tokens if token is not None]
        position_size = self._size([str(token.position) for token in shown], cell)
        slot_size = self._size([_slot(token) for token in shown], cell)
        x: float = _LEFT
        previous: Token | None = None
        for token in step.tokens:
            if token is None:
                self._write(x + 20, y + 66, "…", _LARGE, "faint", align="centre")
                x += 40
                continue
            centre = x + cell / 2
            follows = previous is not None and previous.identity == token.identity
            self._write(centre, y + 17, str(token.flat_token_idx), _SMALL - 3, "faint", align="centre")
            self._tag((x + (0 if follows else 2), y + 28, x + cell - 2, y + 84), token.identity, 30)
            self._write(centre, y + 119, str(token.position), position_size, "ink", align="centre")
            self._write(centre, y + 161, _slot(token), slot_size, "sp-slot", align="centre", weight=0.5)
            x += cell
            previous = token
        if step.num_more_tokens:
            self._write(x + 14, y + 66, self._say("more", n=step.num_more_tokens), _SMALL, "soft")
        self._rect((_LEFT, y + 130, x, y + 131), "line-strong")

    def _blocks(self, step: StepPicture, y: float) -> None:
        """Physical blocks that the step writes to, slot by slot."""
        self._label("KV cache", "sp-blk", y + 62)
        more = 150 if step.num_more_blocks else 0
        count = max(len(step.blocks), 2)
        gap = 28
        width = (_RIGHT - _LEFT - more - gap * (count - 1)) / count
        for index, block in enumerate(step.blocks):
            self._block(block, _LEFT + index * (width + gap), y, width)
        if step.num_more_blocks:
            x = _LEFT + len(step.blocks) * (width + gap) - 14
            self._write(x, y + 62, self._say("more", n=step.num_more_blocks), _SMALL, "soft")

    def _block(self, block: Block, x: float, y: float, width: float) -> None:
        name, written = self._say("block", id=str(block.block_id)), self._say("written", n=len(block.written))
        self._write(x, y + 20, name, _SMALL, "ink")
        self._write(x + width, y + 20, written, _SMALL, "soft", align="right")
        top, bottom = y + 32, y + 80
        fill, ink = self._of(block.identity)
        self._rect((x, top, x + width, bottom), "sunk", radius=_RADIUS)
        slot = width / block.block_size
        earlier = mix(self._colours["paper"], fill, 0.55)
        if block.num_filled:
            self._rect((x, top, x + slot * block.num_filled, bottom), earlier, radius=_RADIUS)
        for first, last in _runs(block.written):
            self._hatched((x + slot * first, top, x + slot * (last + 1), bottom), block.identity, radius=4)
            self._frame((x + slot * first, top, x + slot * (last + 1), bottom), ink, 2.5)
        if slot >= 8:
            for index in range(1, block.block_size):
                self._rect((x + slot * index - 0.5, top, x + slot * index + 0.5, bottom), "line-strong")
        self._frame((x, top, x + width, bottom), self._colours["line-strong"], 1)

    # ---- a schedule

    def _schedule(self, schedule: SchedulePicture, y: float) -> None:
        num_steps = max((len(row) for row in schedule.counts), default=0)
        left = _MARGIN + 76
        cell = min(132.0, (_RIGHT - left) / max(num_steps, 1))
        room = HEIGHT - 48 - y - 30 - (34 if schedule.num_more_requests else 0)
        height = min(64.0, room / max(len(schedule.counts), 1))
        for index in range(num_steps):
            number = str(schedule.first_step + index)
            self._write(left + (index + 0.5) * cell, y + 18, number, _SMALL - 2, "faint", align="centre")
        y += 30
        size = self._size([str(count) for counts in schedule.counts for count in counts], cell - 8)
        for place, (identity, counts) in enumerate(zip(schedule.requests, schedule.counts, strict=True)):
            line = y + place * height
            self._tag((_MARGIN, line + 3, _MARGIN + 56, line + height - 3), identity, 26)
            for index, count in enumerate(counts):
                box = (left + index * cell + 3, line + 3, left + (index + 1) * cell - 3, line + height - 3)
                if count:
                    self._hatched(box, identity, radius=_RADIUS)
                    _, ink = self._of(identity)
                    at = ((box[0] + box[2]) / 2, line + height / 2 + size * 0.36)
                    self._write(*at, str(count), size, ink, align="centre", weight=0.3)
                else:
                    self._rect(box, "sunk", radius=_RADIUS)
        bottom = y + len(schedule.counts) * height
        if 0 <= schedule.current < num_steps:
            x = left + schedule.current * cell
            self._frame((x, y, x + cell, bottom), self._colours["ink"], 2, radius=_RADIUS)
        if schedule.num_more_requests:
            self._write(_MARGIN, bottom + 30, self._say("more", n=schedule.num_more_requests), _SMALL, "soft")

    def _empty_schedule(self, y: float) -> None:
        for row in range(3):
            self._rect((_MARGIN, y + row * 64, _MARGIN + 56, y + row * 64 + 58), "sunk", radius=_RADIUS)
            for column in range(7):
                x = _MARGIN + 76 + column * 132
                self._rect((x + 3, y + row * 64, x + 129, y + row * 64 + 58), "sunk", radius=_RADIUS)

    # ---- strokes

    def _say(self, key: str, **params: object) -> str:
        return translate(self._language, f"picture.{key}", params)

    def _of(self, identity: Identity) -> tuple[Colour, Colour]:
        return self._colours[f"c{identity.colour}"], self._colours[f"c{identity.colour}-ink"]

    def _label(self, text: str, colour: str, y: float, size: float = _SMALL) -> None:
        self._write(_MARGIN, y, text, size, colour)

    def _size(self, texts: Sequence[str], width: float) -> float:
        """How large texts may be that each have so much room."""
        size: float = _TEXT
        while size > 10 and any(self._lettering.width(text, size) > width - 8 for text in texts):
            size -= 1
        return size

    def _write(
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
        text = self._lettering.drawable(text)
        text = self._lettering.fit(text, size, _RIGHT - _MARGIN)
        width = self._lettering.width(text, size)
        x -= {"left": 0, "centre": width / 2, "right": width}[align]
        self._lettering.draw(self._draw, (x, y), text, size, self._colour(colour), weight)
        return x + width

    def _tag(self, box: tuple[float, float, float, float], identity: Identity, size: float) -> None:
        self._hatched(box, identity, radius=_RADIUS)
        letter = self._lettering.drawable(identity.letter) or str(identity.colour)
        _, ink = self._of(identity)
        self._write(
            (box[0] + box[2]) / 2, (box[1] + box[3]) / 2 + size * 0.36, letter, size, ink, align="centre", weight=0.8
        )

    def _hatched(self, box: tuple[float, float, float, float], identity: Identity, radius: float) -> None:
        """A rectangle in a request's colours and hatch."""
        left, top, right, bottom = (round(side * _SCALE) for side in box)
        width, height = max(right - left, 1), max(bottom - top, 1)
        fill, ink = self._of(identity)
        stroke = mix(fill, ink, 0.2)
        tile = Image.new("RGB", (width, height), fill)
        _hatch(ImageDraw.Draw(tile), width, height, identity.hatch, stroke)
        mask = Image.new("L", (width, height), 0)
        ImageDraw.Draw(mask).rounded_rectangle((0, 0, width - 1, height - 1), radius * _SCALE, fill=255)
        self._image.paste(tile, (left, top), mask)

    def _arrow(self, x: float, y: float, length: float) -> None:
        colour = self._colours["edge"]
        ends = [(x * _SCALE, y * _SCALE), ((x + length) * _SCALE, y * _SCALE)]
        self._draw.line(ends, fill=colour, width=2 * _SCALE)
        tip = (x + length) * _SCALE
        self._draw.polygon([(tip + 4, y * _SCALE), (tip - 14, y * _SCALE - 10), (tip - 14, y * _SCALE + 10)], fill=colour)

    def _rect(self, box: tuple[float, float, float, float], colour: str | Colour, radius: float = 0) -> None:
        left, top, right, bottom = (round(side * _SCALE) for side in box)
        if right > left and bottom > top:
            self._draw.rounded_rectangle((left, top, right - 1, bottom - 1), radius * _SCALE, fill=self._colour(colour))

    def _frame(self, box: tuple[float, float, float, float], colour: Colour, width: float, radius: float = 4) -> None:
        left, top, right, bottom = (round(side * _SCALE) for side in box)
        if right > left and bottom > top:
            self._draw.rounded_rectangle(
                (left, top, right - 1, bottom - 1), radius * _SCALE, outline=colour, width=round(width * _SCALE)
            )

    def _colour(self, colour: str | Colour) -> Colour:
        return self._colours[colour] if isinstance(colour, str) else colour


def _hatch(draw: ImageDraw.ImageDraw, width: int, height: int, hatch: int, stroke: Colour) -> None:
    """The six patterns of static/css/request.css, a little larger: pictures are shown small."""
    pitch, line = 8 * _SCALE, 3
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


def _slot(token: Token) -> str:
    return "?" if token.slot is None else "–" if token.slot == -1 else str(token.slot)


def _runs(offsets: Sequence[int]) -> list[tuple[int, int]]:
    """Rising offsets as ranges, both ends inclusive."""
    found: list[tuple[int, int]] = []
    for offset in offsets:
        if found and found[-1][1] == offset - 1:
            found[-1] = (found[-1][0], offset)
        else:
            found.append((offset, offset))
    return found
