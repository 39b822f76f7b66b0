"""Where things stand in the picture: title and facts, then the walk from batch rows over tokens to slots and blocks."""

from __future__ import annotations

from collections.abc import Sequence

from app.i18n import DEFAULT_LANGUAGE, Language, translate
from app.web.picture.canvas import HEIGHT, LARGE, MARGIN, RADIUS, RIGHT, SCALE, SMALL, TEXT, WIDTH, Canvas
from app.web.picture.content import Block, Card, SchedulePicture, StepPicture, Token
from app.web.picture.lettering import Lettering
from app.web.picture.palette import mix

_LABELS = 190  # what the names of the tensors take, left of everything
_LEFT = MARGIN + _LABELS


def fonts() -> Lettering:
    """The fonts of this machine, at the size of the drawing."""
    return Lettering(SCALE)


def drawable_language(language: Language, lettering: Lettering) -> Language:
    """The language that a picture speaks to such a reader: English where the machine has no font for it."""
    return language if lettering.is_readable(translate(language, "picture.empty", {})) else DEFAULT_LANGUAGE


def render(card: Card, language: Language, lettering: Lettering) -> bytes:
    """The card as PNG, its words in a language that can be drawn."""
    canvas = Canvas(lettering)
    _Picture(canvas, language).draw(card)
    return canvas.png()


class _Picture:
    def __init__(self, canvas: Canvas, language: Language) -> None:
        self._canvas = canvas
        self._language: Language = language

    def draw(self, card: Card) -> None:
        below = self._head(card)
        if card.step is not None:
            self._step(card.step, below)
            return
        below += 24
        if card.sentence:
            self._canvas.write(MARGIN, below + 24, card.sentence, LARGE - 2, "ink")
            below += 56
        if card.schedule is not None:
            self._schedule(card.schedule, below)
        else:
            self._empty_schedule(below + 12)

    # ---- above

    def _head(self, card: Card) -> float:
        """Title and facts; returns where what is below them may begin."""
        self._canvas.rect((0, 0, WIDTH, 10), "ink")
        self._canvas.write(MARGIN, 66, "PageWalk", 28, "ink", weight=0.5)
        if card.place:
            self._canvas.write(RIGHT, 66, card.place, 28, "soft", align="right")
        title = self._canvas.lettering.drawable(card.title) if self._canvas.lettering.is_readable(card.title) else ""
        # A title that cannot be drawn stands beside the picture all the same: an unfurled link has it in words.
        title = title or (self._say("title") if card.title else translate(self._language, "scenario.untitled", {}))
        width = RIGHT - MARGIN
        y = 136.0
        if self._canvas.lettering.width(title, 54) <= width:
            self._canvas.write(MARGIN, y, title, 54, "ink", weight=0.6)
        else:
            y -= 8
            lines = self._canvas.lettering.wrap(title, 42, width, 2)
            for index, line in enumerate(lines):
                self._canvas.write(MARGIN, y + 50 * index, line, 42, "ink", weight=0.5)
            y += 50 * (len(lines) - 1)
        y += 44
        self._canvas.write(MARGIN, y, "  ·  ".join(card.facts), TEXT, "soft")
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
        self._canvas.label("idx_mapping", "sp-batch", y + 30)
        x: float = _LEFT
        num_shown = 0
        for row in step.rows:
            if x > RIGHT - 250 and row.batch_idx < step.num_rows - 1:
                break
            num_shown += 1
            self._canvas.tag((x, y, x + 44, y + 44), row.identity, 26)
            x += 58
            x = self._canvas.write(x, y + 31, str(row.batch_idx), 26, "sp-batch") + 10
            self._canvas.arrow(x, y + 22, 30)
            x = self._canvas.write(x + 40, y + 31, str(row.req_state_idx), 26, "sp-req", weight=0.4) + 34
        if num_shown < step.num_rows:
            self._canvas.write(x, y + 31, self._say("more", n=step.num_rows - num_shown), SMALL, "soft")

    def _strip(self, step: StepPicture, y: float) -> None:
        """Tokens with their positions and slots; y is the top of the line of indices."""
        self._canvas.label("flat_token_idx", "sp-tok", y + 18, size=SMALL - 2)
        self._canvas.label("positions", "sp-pos", y + 118)
        self._canvas.label("slot_mappings", "sp-slot", y + 160)
        more = 150 if step.num_more_tokens else 0
        num_gaps = sum(token is None for token in step.tokens)
        num_cells = len(step.tokens) - num_gaps
        cell = min(92.0, (RIGHT - _LEFT - more - 40 * num_gaps) / max(num_cells, 1))
        shown = [token for token in step.tokens if token is not None]
        position_size = self._canvas.size([str(token.position) for token in shown], cell)
        slot_size = self._canvas.size([_slot(token) for token in shown], cell)
        x: float = _LEFT
        previous: Token | None = None
        for token in step.tokens:
            if token is None:
                self._canvas.write(x + 20, y + 66, "…", LARGE, "faint", align="centre")
                x += 40
                continue
            centre = x + cell / 2
            follows = previous is not None and previous.identity == token.identity
            self._canvas.write(centre, y + 17, str(token.flat_token_idx), SMALL - 3, "faint", align="centre")
            self._canvas.tag((x + (0 if follows else 2), y + 28, x + cell - 2, y + 84), token.identity, 30)
            self._canvas.write(centre, y + 119, str(token.position), position_size, "ink", align="centre")
            self._canvas.write(centre, y + 161, _slot(token), slot_size, "sp-slot", align="centre", weight=0.5)
            x += cell
            previous = token
        if step.num_more_tokens:
            self._canvas.write(x + 14, y + 66, self._say("more", n=step.num_more_tokens), SMALL, "soft")
        self._canvas.rect((_LEFT, y + 130, x, y + 131), "line-strong")

    def _blocks(self, step: StepPicture, y: float) -> None:
        """Physical blocks that the step writes to, slot by slot."""
        self._canvas.label("KV cache", "sp-blk", y + 62)
        more = 150 if step.num_more_blocks else 0
        count = max(len(step.blocks), 2)
        gap = 28
        width = (RIGHT - _LEFT - more - gap * (count - 1)) / count
        for index, block in enumerate(step.blocks):
            self._block(block, _LEFT + index * (width + gap), y, width)
        if step.num_more_blocks:
            x = _LEFT + len(step.blocks) * (width + gap) - 14
            self._canvas.write(x, y + 62, self._say("more", n=step.num_more_blocks), SMALL, "soft")

    def _block(self, block: Block, x: float, y: float, width: float) -> None:
        name, written = self._say("block", id=str(block.block_id)), self._say("written", n=len(block.written))
        self._canvas.write(x, y + 20, name, SMALL, "ink")
        self._canvas.write(x + width, y + 20, written, SMALL, "soft", align="right")
        top, bottom = y + 32, y + 80
        fill, ink = self._canvas.of(block.identity)
        self._canvas.rect((x, top, x + width, bottom), "sunk", radius=RADIUS)
        slot = width / block.block_size
        earlier = mix(self._canvas.colours["paper"], fill, 0.55)
        if block.num_filled:
            self._canvas.rect((x, top, x + slot * block.num_filled, bottom), earlier, radius=RADIUS)
        for first, last in _runs(block.written):
            self._canvas.hatched((x + slot * first, top, x + slot * (last + 1), bottom), block.identity, radius=4)
            self._canvas.frame((x + slot * first, top, x + slot * (last + 1), bottom), ink, 2.5)
        if slot >= 8:
            for index in range(1, block.block_size):
                self._canvas.rect((x + slot * index - 0.5, top, x + slot * index + 0.5, bottom), "line-strong")
        self._canvas.frame((x, top, x + width, bottom), self._canvas.colours["line-strong"], 1)

    # ---- a schedule

    def _schedule(self, schedule: SchedulePicture, y: float) -> None:
        num_steps = max((len(row) for row in schedule.counts), default=0)
        left = MARGIN + 76
        cell = min(132.0, (RIGHT - left) / max(num_steps, 1))
        room = HEIGHT - 48 - y - 30 - (34 if schedule.num_more_requests else 0)
        height = min(64.0, room / max(len(schedule.counts), 1))
        for index in range(num_steps):
            number = str(schedule.first_step + index)
            self._canvas.write(left + (index + 0.5) * cell, y + 18, number, SMALL - 2, "faint", align="centre")
        y += 30
        size = self._canvas.size([str(count) for counts in schedule.counts for count in counts], cell - 8)
        for place, (identity, counts) in enumerate(zip(schedule.requests, schedule.counts, strict=True)):
            line = y + place * height
            self._canvas.tag((MARGIN, line + 3, MARGIN + 56, line + height - 3), identity, 26)
            for index, count in enumerate(counts):
                box = (left + index * cell + 3, line + 3, left + (index + 1) * cell - 3, line + height - 3)
                if count:
                    self._canvas.hatched(box, identity, radius=RADIUS)
                    _, ink = self._canvas.of(identity)
                    at = ((box[0] + box[2]) / 2, line + height / 2 + size * 0.36)
                    self._canvas.write(*at, str(count), size, ink, align="centre", weight=0.3)
                else:
                    self._canvas.rect(box, "sunk", radius=RADIUS)
        bottom = y + len(schedule.counts) * height
        if 0 <= schedule.current < num_steps:
            x = left + schedule.current * cell
            self._canvas.frame((x, y, x + cell, bottom), self._canvas.colours["ink"], 2, radius=RADIUS)
        if schedule.num_more_requests:
            self._canvas.write(MARGIN, bottom + 30, self._say("more", n=schedule.num_more_requests), SMALL, "soft")

    def _empty_schedule(self, y: float) -> None:
        for row in range(3):
            self._canvas.rect((MARGIN, y + row * 64, MARGIN + 56, y + row * 64 + 58), "sunk", radius=RADIUS)
            for column in range(7):
                x = MARGIN + 76 + column * 132
                self._canvas.rect((x + 3, y + row * 64, x + 129, y + row * 64 + 58), "sunk", radius=RADIUS)

    def _say(self, key: str, **params: object) -> str:
        return translate(self._language, f"picture.{key}", params)


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
