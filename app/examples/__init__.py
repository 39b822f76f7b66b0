"""The gallery: scenarios that each teach one thing, as data.

A file `<name>.yaml` beside this module holds `group` and `scenario`; the scenario's own title and description introduce it.
For every other language, a key named like it holds `group`, `title` and `description` in that language.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from app.i18n import DEFAULT_LANGUAGE, LANGUAGES, Language

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Example:
    """One scenario of the gallery. `name` is what links call it, `words` its group, title and description by language."""

    name: str
    scenario: dict[str, Any]
    words: Mapping[Language, Mapping[str, str]]

    def describe(self, language: Language = DEFAULT_LANGUAGE) -> dict[str, str]:
        return {"name": self.name, **self.words[language]}

    def scenario_in(self, language: Language) -> dict[str, Any]:
        """The scenario, introduced in a language."""
        words = self.words[language]
        return {**self.scenario, "title": words["title"], "description": words["description"]}


@functools.cache
def examples() -> dict[str, Example]:
    """All examples by name, in the order in which a reader should meet them."""
    found: dict[str, Example] = {}
    for path in sorted(_FOLDER.glob("*.yaml")):
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
        name = path.stem.partition("-")[2]  # files start with their place in the order
        scenario = document["scenario"]
        for step in scenario["steps"]:
            # Pairs keep their order wherever they are read; JavaScript reorders keys that look like integers.
            step["num_scheduled_tokens"] = [list(pair) for pair in step.get("num_scheduled_tokens", {}).items()]
        words: dict[Language, dict[str, str]] = {
            DEFAULT_LANGUAGE: {
                "title": scenario["title"],
                "description": scenario["description"],
                "group": document["group"],
            }
        }
        for language in LANGUAGES:
            if language != DEFAULT_LANGUAGE:
                words[language] = {key: document[language][key] for key in ("title", "description", "group")}
        found[name] = Example(name, scenario, words)
    return found
