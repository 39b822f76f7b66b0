"""What a request looks like: letter + hatch + colour, the same as in static/js/core/identity.js.

In: the req_ids of a scenario, in its order. Out: per req_id a letter (the id itself if it is one character, else the next
unused letter), one of twelve colours and one of six hatches. What is drawn by the server and what by the browser agree.
"""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from string import ascii_lowercase, ascii_uppercase

COLOURS = 12
HATCHES = 6
BLANK = "␣"
_BLANKS = {"Zs", "Zl", "Zp", "Cc", "Cf"}
_SHAPELESS = "\u115f\u1160\u2800\u3164"
_LETTERS = ascii_uppercase + ascii_lowercase


@dataclass(frozen=True)
class Identity:
    req_id: str
    letter: str
    colour: int
    hatch: int

    @property
    def css(self) -> str:
        """Class names that give an element the request's colours and hatch (static/css/request.css)."""
        return f"rq rq-c{self.colour} rq-h{self.hatch}"

    @property
    def name(self) -> str:
        """The name, as it can be seen."""
        return seen(self.req_id)


def identities(req_ids: Sequence[str]) -> Mapping[str, Identity]:
    letters = _unused_letters({req_id for req_id in req_ids if len(req_id) == 1})
    return {
        req_id: Identity(
            req_id,
            seen(req_id) if len(req_id) == 1 else next(letters),
            index % COLOURS,
            (index + index // COLOURS) % HATCHES,
        )
        for index, req_id in enumerate(req_ids)
    }


def seen(name: str) -> str:
    """A name as it can be seen: blanks at its ends are drawn, and so is all of a name that is nothing else."""
    if all(_is_blank(one) for one in name):
        return BLANK * len(name)
    start = next(place for place, one in enumerate(name) if not _is_space(one))
    end = next(place for place, one in enumerate(reversed(name)) if not _is_space(one))
    return BLANK * start + name[start : len(name) - end] + BLANK * end


def _is_space(one: str) -> bool:
    return one.isspace() or one == "\ufeff"


def _is_blank(one: str) -> bool:
    return one.isspace() or unicodedata.category(one) in _BLANKS or one in _SHAPELESS


def _unused_letters(taken: set[str]) -> Iterator[str]:
    """Letters that no request is called by; beyond 52 they repeat with a digit."""
    yield from (letter for letter in _LETTERS if letter not in taken)
    for place in count(len(_LETTERS)):
        yield f"{_LETTERS[place % 26]}{place // 26}"
