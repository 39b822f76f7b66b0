"""What the tests of the gallery share: an example's trace by the names of its requests, and the numbers its text tells.

A text is checked by saying its numbers: `story.said(207, 12 * 16 + 15, slot)` holds if all of them are the same. `@tells`
makes a test of a function that does so and compares afterwards: a number that the text has and nobody said, or that was said
and is not in the text, fails.
"""

import functools
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import torch

from app.examples import Example, examples
from app.i18n import LANGUAGES, Language, translator
from app.scenario import load_plan
from app.trace.trace import trace_scenario

NUMBER = re.compile(r"(?<![A-Za-z0-9_.])-?\d{1,3}(?:,\d{3})+(?!\d)|(?<![A-Za-z0-9_.])-?\d+")
WORDS = ("title", "description", "question", "answer")


@functools.cache
def trace_of(name: str) -> dict[str, Any]:
    return trace_scenario(load_plan(examples()[name].scenario), torch.device("cpu"), translator("en"))


def numbers_in(text: str) -> Counter[int]:
    """The numbers written in digits, how often each. Digits behind a letter belong to a name."""
    return Counter(int(number.replace(",", "")) for number in NUMBER.findall(text))


def numbers_told(example: Example, language: Language) -> set[int]:
    words = example.describe(language)
    return {number for word in WORDS for number in numbers_in(words[word])}


class Step:
    """One step of a trace: `step["positions"]` is a space or a field, `step.of("positions", "B")` the part of a request."""

    def __init__(self, step: dict[str, Any]) -> None:
        self.step = step

    def __getitem__(self, name: str) -> Any:
        spaces = self.step["spaces"]
        return spaces[name]["values"] if name in spaces else self.step[name]

    def row(self, req_id: str) -> int:
        return int(self.step["req_id_to_index"][req_id])

    def batch_idx(self, req_id: str) -> int:
        return int(self.step["req_ids"].index(req_id))

    def tokens(self, req_id: str) -> slice:
        """Where a request's tokens stand on the flat axis."""
        starts, batch_idx = self["query_start_loc"], self.batch_idx(req_id)
        return slice(starts[batch_idx], starts[batch_idx + 1])

    def of(self, name: str, req_id: str, group: int = 0) -> Any:
        """The cell, row or run of a space that belongs to a request."""
        values, dims = self[name], self.step["spaces"][name]["dims"]
        if dims[0] == "group":
            values, dims = values[group], dims[1:]
        if dims[0] == "req_state_idx":
            return values[self.row(req_id)]
        if dims[0].startswith("batch_idx"):
            return values[self.batch_idx(req_id)]
        assert dims[0].startswith("flat_token_idx"), dims
        return values[self.tokens(req_id)]

    def blocks(self, req_id: str, group: int = 0) -> list[int | None]:
        """The valid entries of a request's row in the persistent table."""
        found: list[int | None] = self.of("block_tables", req_id, group)[: self.of("num_blocks", req_id, group)]
        return found

    @property
    def num_used_blocks(self) -> int:
        return int(self.step["kv_cache"]["num_used_blocks"])

    @property
    def num_free_blocks(self) -> int:
        return int(self.step["kv_cache"]["num_free_blocks"])


class Story:
    """An example and its trace. `step` is the one it opens at."""

    def __init__(self, name: str) -> None:
        self.example = examples()[name]
        self.trace = trace_of(name)
        self.steps = [Step(step) for step in self.trace["steps"]]
        self.step = self.steps[self.example.scenario.get("start_step", 0)]
        self.prompt_lens = {
            request["req_id"]: request.get("prompt_len") or len(request["prompt_token_ids"])
            for request in self.example.scenario["requests"]
        }
        self._said: set[int] = set()

    def config(self, name: str) -> Any:
        """A field of the scenario's config, defaults filled in."""
        return self.trace["scenario"]["config"][name]

    def said(self, number: int, *values: int) -> None:
        """The text says a number, and every value that it stands for is the same."""
        assert values, f"nothing to compare {number} with"
        assert all(value == number for value in values), f"the text says {number}, not {values}"
        self._said.add(number)

    def at_step(self, *indices: int) -> None:
        """The text names steps by their number."""
        for index in indices:
            self.said(index, self.trace["summary"][index]["index"])

    def finish(self) -> None:
        for language in LANGUAGES:
            told = numbers_told(self.example, language)
            assert told == self._said, (
                f"{self.example.name} ({language}): told but not checked {sorted(told - self._said)}, "
                f"checked but not told {sorted(self._said - told)}"
            )


def tells(name: str) -> Callable[[Callable[[Story], None]], Callable[[], None]]:
    """A test of the numbers in an example's text."""

    def make(check: Callable[[Story], None]) -> Callable[[], None]:
        def test() -> None:
            story = Story(name)
            check(story)
            story.finish()

        test.__name__, test.__doc__ = check.__name__, check.__doc__
        return test

    return make
