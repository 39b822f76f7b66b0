"""The gallery: scenarios that each teach one thing, as data.

A file `<name>.yaml` beside this module holds `group` and `scenario`; the scenario's own title and description introduce it.
"""

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Example:
    """One scenario of the gallery. `name` is what links call it."""

    name: str
    group: str
    scenario: dict[str, Any]

    def describe(self) -> dict[str, str]:
        return {
            "name": self.name,
            "title": self.scenario["title"],
            "description": self.scenario["description"],
            "group": self.group,
        }


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
        found[name] = Example(name, document["group"], scenario)
    return found
