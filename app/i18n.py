"""Sentences by key and language: one catalogue per language, used by Python, templates and scripts alike.

A catalogue is a flat JSON object in app/locales; a sentence has `{name}` placeholders. `{count:block|blocks}` is the number
with the word that goes with it.
"""

import functools
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orjson

Language = str  # a code: the name of a catalogue, as in addresses
DEFAULT_LANGUAGE: Language = "en"

Translate = Callable[[str, Mapping[str, Any]], str]  # (key, params) -> sentence

_LOCALES = Path(__file__).parent / "locales"
# The default, then the others: a catalogue is all that a language takes. `language.name` is its own name for itself,
# `language.tag` what HTML calls it (BCP 47), `language.locale` what Open Graph does.
LANGUAGES: tuple[Language, ...] = (
    DEFAULT_LANGUAGE,
    *sorted(path.stem for path in _LOCALES.glob("*.json") if path.stem != DEFAULT_LANGUAGE),
)
# What is written from right to left (blocks of Unicode that are so as a whole), and controls that turn the order.
_TURNS = re.compile(
    "[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
_PLACEHOLDER = re.compile(r"\{(\w+)(?::([^|{}]+)\|([^|{}]+))?\}")


@functools.cache
def catalogue(language: Language) -> dict[str, str]:
    """All sentences of a language by key."""
    sentences: dict[str, str] = orjson.loads((_LOCALES / f"{language}.json").read_bytes())
    return sentences


def group_digits(value: int) -> str:
    """847872 -> "847,872", as in static/js/core/i18n.js. Four digits stay together: ids are read as names."""
    return f"{value:,}" if abs(value) >= 10_000 else str(value)


def translate(language: Language, key: str, params: Mapping[str, Any]) -> str:
    """The sentence of a key with its placeholders filled in.

    A key with a `.one` twin uses it where the parameter `n`, or the number `value`, is 1, as in static/js/core/i18n.js.
    """
    sentences = catalogue(language)
    is_one = 1 in (params.get("n"), params.get("value"))
    return fill(sentences.get(f"{key}.one", sentences[key]) if is_one else sentences[key], params)


def fill(sentence: str, params: Mapping[str, Any]) -> str:
    """A sentence with its placeholders filled in; whole numbers get separators, and no name turns the order around it."""

    def value_of(match: re.Match[str]) -> str:
        if match[1] not in params:
            return match[0]
        value = params[match[1]]
        text = "?" if value is None else group_digits(value) if type(value) is int else str(value)
        if _TURNS.search(text):
            text = f"\u2068{_closed(text)}\u2069"
        return f"{text} {match[2] if value == 1 else match[3]}" if match[2] else text

    return _PLACEHOLDER.sub(value_of, sentence)


def _closed(text: str) -> str:
    """Embeddings end with the isolate around them; what begins or ends an isolate without its other end is spelt out."""
    open_ones: list[int] = []
    alone = set()
    for place, character in enumerate(text):
        if character in "\u2066\u2067\u2068":
            open_ones.append(place)
        elif character == "\u2069":
            if open_ones:
                open_ones.pop()
            else:
                alone.add(place)
    alone.update(open_ones)
    return "".join(f"\\u{ord(one):04x}" if place in alone else one for place, one in enumerate(text))


def translator(language: Language) -> Translate:
    """`translate` for one language."""
    return functools.partial(translate, language)


def tag_of(language: Language) -> str:
    """What HTML and HTTP call a language: its BCP 47 tag."""
    return catalogue(language)["language.tag"]


def pick_language(explicit: str | None, accept_language: str | None) -> Language:
    """The language of an answer: the one asked for by name, else the best of `Accept-Language`, else English."""
    for language in LANGUAGES:
        if explicit == language:
            return language
    best: tuple[float, Language] = (0.0, DEFAULT_LANGUAGE)
    for part in (accept_language or "").split(","):
        tag, _, quality = part.strip().partition(";")
        weight = re.fullmatch(r"\s*q=([01](?:\.\d{0,3})?)\s*", quality)
        score = float(weight[1]) if weight else 1.0 if not quality else 0.0
        primary = tag.strip().lower().split("-")[0]
        for language in LANGUAGES:
            if primary == language and score > best[0]:
                best = (score, language)
    return best[1]
