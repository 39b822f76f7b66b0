"""How many values a step holds is known before any is made: as many as are then sent."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings

from app.examples import examples
from app.scenario import load_plan
from app.trace import trace as trace_module
from app.trace.step import StepTensors
from app.trace.trace import trace_scenario
from tests import strategies

Scenario = dict[str, Any]
SOME = settings(max_examples=50, deadline=None, derandomize=True, database=None)


def test_examples(subtests: pytest.Subtests) -> None:
    for name in examples():
        with subtests.test(name):
            counts_what_is_sent(examples()[name].scenario)


@SOME
@given(strategies.valid_scenarios())
def test_strict_scenarios(scenario: Scenario) -> None:
    counts_what_is_sent(scenario)


@SOME
@given(strategies.valid_scenarios(strict=False))
def test_lenient_scenarios(scenario: Scenario) -> None:
    counts_what_is_sent(scenario)


def counts_what_is_sent(scenario: Scenario) -> None:
    counted: list[int] = []
    count_values = trace_module.count_values

    def listen(step: StepTensors) -> int:
        counted.append(count_values(step))
        return counted[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trace_module, "count_values", listen)
        trace = trace_scenario(load_plan(scenario), torch.device("cpu"), lambda key, params: key)
    sent = [sum(num_values(space["values"]) for space in step["spaces"].values()) for step in trace["steps"]]
    assert counted == sent


def num_values(values: Any) -> int:
    """Numbers and texts in nested lists."""
    return sum(map(num_values, values)) if isinstance(values, list) else 1
