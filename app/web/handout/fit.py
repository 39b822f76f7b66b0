"""How wide and high things are on paper, roughly: where a table has to go on below, and what fits beside what.

Numbers are set in 7.1 pt monospace (static/handout.css), so a character has one width; sentences are estimated.
"""

from collections.abc import Sequence

from app.web.handout.model import Head, Panel

SHEET_WIDTH = 706.0  # CSS pixels between the margins of A4
DIGIT, ROOM = 5.8, 7.0  # of one character, and around a number
GAP = 12.0  # between tables
BLANK_WIDTH = 40.0  # of a cell that is written in by hand
SHORT_NAME = 9  # characters of a name that stays on one line
SHORT_REQ_ID = 9  # characters that are shown of a request's name behind its letter
_NOTES_WIDTH = 260.0  # the least that formulas take beside a table
_LETTER, _LINE = 5.4, 12.5  # of words; of a row and of a line of words


def is_better_beside(panel: Panel) -> bool:
    """Whether words and formulas to the left of the tables take less of the sheet than above and beside them. Roughly."""
    room = SHEET_WIDTH - sum(table.width + GAP for table in panel.tables)
    if room < _NOTES_WIDTH:
        return False
    height = max(table.num_lines for table in panel.tables) * _LINE
    words, notes = f"{panel.title}    {panel.what}", [*panel.rules, *panel.notes, *panel.states]
    beside = max(height, _height([words], room) + _height(notes, room))
    above = _height([words], SHEET_WIDTH) + max(height, _height(notes, room))
    return beside <= above


def _height(texts: Sequence[str], width: float) -> float:
    widths = [sum(_LETTER if letter.isascii() else 2 * _LETTER for letter in text) for text in texts]
    return _LINE * sum(1 + int(text_width / width) for text_width in widths)


def text_width(name: str, note: str) -> float:
    return (len(name) + (len(note) + 1 if note else 0)) * DIGIT + ROOM


def word_width(name: str, note: str) -> float:
    """Of a name on as many lines as the head of a column gives it."""
    return max(text_width(lines, "") for lines in [*name_lines(f"{name} {note}".strip())])


def name_lines(name: str) -> list[str]:
    """A long name on two lines of about one length, broken behind an underscore."""
    breaks = [place + 1 for place, letter in enumerate(name) if letter == "_"]
    if len(name) <= SHORT_NAME or not breaks:
        return [name]
    best = min(breaks, key=lambda place: max(place, len(name) - place))
    return [name[:best], name[best:]]


def request_width(heads: Sequence[Head]) -> float:
    """Of the widest mark of a request, each spread over its columns."""
    widths = [0.0]
    for head in heads:
        label = head.text
        if head.request is not None:
            name = "" if head.request.letter == head.request.name else " " + head.request.name
            label = head.request.letter + name[: SHORT_REQ_ID + 1]
        widths.append((len(label) * DIGIT + ROOM) / head.columns)
    return max(widths)
