"""The gallery: scenarios that each teach one thing, as data.

`groups.yaml` beside this module lists the groups and the examples in each, in the order in which a reader should meet them.
`<name>.yaml` is one example:

- `scenario`, whose own `title` and `description` introduce it and whose `start_step` is where the lesson is
- `question`, to be asked before looking, and `answer`
- `place`, where to look: `stage`, and the cell to `pin`
- for every other language, under a key named like it, `title`, `description`, `question` and `answer` in that language
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from app.i18n import DEFAULT_LANGUAGE, LANGUAGES, Language

_FOLDER = Path(__file__).parent
_WORDS = ("title", "description", "question", "answer")
_SKETCH = (8, 16)  # requests and steps


@dataclass(frozen=True)
class Example:
    """One scenario of the gallery. `name` is what links call it.

    `words` holds its group, title, description, question and answer by language, `place` the stage and cell to open it at.
    """

    name: str
    scenario: dict[str, Any]
    place: Mapping[str, str]
    words: Mapping[Language, Mapping[str, str]]

    def describe(self, language: Language = DEFAULT_LANGUAGE) -> dict[str, Any]:
        """What a list of the gallery says of it: everything but the scenario."""
        return {
            "name": self.name,
            **self.words[language],
            "place": dict(self.place),
            "size": self.size,
            "sketch": self.sketch,
        }

    @property
    def size(self) -> dict[str, int]:
        """How many requests, steps and KV-cache groups it has."""
        groups = self.scenario.get("config", {}).get("kv_cache_groups") or [{}]
        return {"requests": len(self.scenario["requests"]), "steps": len(self.scenario["steps"]), "groups": len(groups)}

    @property
    def sketch(self) -> list[list[int]]:
        """Tokens scheduled, a list of steps for each request: as much of the schedule as a small picture of it shows."""
        num_requests, num_steps = _SKETCH
        steps = [dict(step["num_scheduled_tokens"]) for step in self.scenario["steps"][:num_steps]]
        return [[step.get(request["req_id"], 0) for step in steps] for request in self.scenario["requests"][:num_requests]]

    def scenario_in(self, language: Language) -> dict[str, Any]:
        """The scenario, introduced in a language."""
        words = self.words[language]
        return {**self.scenario, "title": words["title"], "description": words["description"]}


@functools.cache
def examples() -> dict[str, Example]:
    """All examples by name, in the order in which a reader should meet them."""
    return {
        name: _load(name, {language: group.get(language, group[DEFAULT_LANGUAGE]) for language in LANGUAGES})
        for group in _read("groups")
        for name in group["examples"]
    }


def _load(name: str, group: Mapping[Language, str]) -> Example:
    document = _read(name)
    scenario = document["scenario"]
    for step in scenario["steps"]:
        # Pairs keep their order wherever they are read; JavaScript reorders keys that look like integers.
        step["num_scheduled_tokens"] = [list(pair) for pair in step.get("num_scheduled_tokens", {}).items()]
    words: dict[Language, dict[str, str]] = {}
    for language in LANGUAGES:
        said = document.get(language, {**scenario, **document})  # in English where there is no other
        words[language] = {"group": group[language], **{word: said[word] for word in _WORDS}}
    return Example(name, scenario, document["place"], words)


def _read(name: str) -> Any:
    return yaml.safe_load((_FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
