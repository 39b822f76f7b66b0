"""What a reader asks of a handout, from the query of its address, and the addresses of other ones.

`step=n` or `steps=a-b` choose steps, `answers` is 0 for a worksheet, 1 for the answer key, `both` for one after the other,
`blank` names the spaces that a worksheet leaves blank (repeated or with commas; `auto`: those a class works out; `` none).
What makes no sense is left out and reported; a query never fails.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, urlencode

from starlette.datastructures import QueryParams

from app.i18n import LANGUAGES
from app.trace.schema import SPACES, worksheet_blanks
from app.web.links.asked import Asked

Answers = Literal["0", "1", "both"]
ANSWERS: tuple[Answers, ...] = ("0", "1", "both")

_NAMES = frozenset(space.name for space in SPACES)


@dataclass(frozen=True)
class Choice:
    """A query that was read. `steps` is inclusive and may name steps that the scenario does not have."""

    steps: tuple[int, int] | None
    answers: Answers
    blank: frozenset[str]
    is_auto: bool
    ignored: Sequence[str]  # names of parameters that could not be read


def read_choice(query: QueryParams) -> Choice:
    ignored: list[str] = []
    steps = None
    for name, pattern in (("steps", r"(\d{1,9})(?:\s*-\s*(\d{1,9}))?"), ("step", r"(-?\d{1,9})")):
        text = query.get(name, "").strip()
        found = re.fullmatch(pattern, text, re.ASCII)
        if found is None:
            ignored += [name] if text else []
        elif steps is None:
            ends = [int(end) for end in found.groups() if end is not None]
            steps = (min(ends), max(ends))
    answers = query.get("answers", "") or "1"
    if answers not in ANSWERS:
        ignored.append("answers")
    named = {name.strip() for text in query.getlist("blank") for name in text.split(",")} - {""}
    is_auto = "blank" not in query or "auto" in named
    unknown = named - _NAMES - {"auto"}
    if unknown:
        ignored.append("blank")
    blank = (named & _NAMES) | (worksheet_blanks() if is_auto else frozenset())
    is_auto = is_auto and blank == worksheet_blanks()
    return Choice(steps, next((one for one in ANSWERS if one == answers), "1"), frozenset(blank), is_auto, ignored)


def handout_address(asked: Asked, query: QueryParams, choice: Choice, **changes: str) -> str:
    """`/handout?...` of the same scenario and choice, changed; the path that the server is reached under goes in front."""
    pairs = scenario_pairs(asked) + kept_language(query)
    if choice.steps is not None:
        pairs.append(("steps", steps_text(*choice.steps)))
    if choice.answers != "1":
        pairs.append(("answers", choice.answers))
    if not choice.is_auto:
        pairs.append(("blank", ",".join(sorted(choice.blank))))
    return _address("/handout", [(name, text) for name, text in pairs if name not in changes] + list(changes.items()))


def handout_of_page(asked: Asked, query: QueryParams) -> str:
    """The handout of what a page of the workbench shows: the same scenario, steps and language."""
    kept = [(name, query[name]) for name in ("step", "steps") if query.get(name)]
    return _address("/handout", scenario_pairs(asked) + kept_language(query) + kept)


def page_query(asked: Asked, query: QueryParams, step: int | None) -> list[tuple[str, str]]:
    """What `/api/qr.svg` takes for the page of the same scenario, at a step."""
    at = [] if step is None else [("step", str(step))]
    return scenario_pairs(asked) + at + kept_language(query)


def page_address(asked: Asked, query: QueryParams, step: int | None) -> str:
    """`/?...` of the same scenario, at a step; `/s/<id>` of a short link."""
    pairs = page_query(asked, query, step)
    if asked.kind != "short":
        return _address("/", pairs)
    return _address(f"/s/{quote(asked.name, safe='')}", [pair for pair in pairs if pair[0] != "short"])


def scenario_pairs(asked: Asked) -> list[tuple[str, str]]:
    """The parameter that says which scenario."""
    names = {"link": "s", "example": "example", "short": "short"}
    return [(names[asked.kind], asked.name)] if asked.kind in names else []


def kept_language(query: QueryParams) -> list[tuple[str, str]]:
    """The language, where the address says it."""
    return [("lang", query["lang"])] if query.get("lang") in LANGUAGES else []


def steps_text(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def _address(path: str, pairs: Sequence[tuple[str, str]]) -> str:
    return f"{path}?{urlencode(pairs, safe='~,')}" if pairs else path
