"""The product against vLLM 0.33.0's own kernels: every recording, every step, every key, no difference."""

import pytest
import torch

from app.i18n import translator
from app.scenario import load_plan
from app.trace.trace import trace_scenario
from tests.conformance.recordings import as_recorded, load


def test_agrees_with_the_recording(subtests: pytest.Subtests, device: torch.device) -> None:
    for recording in load():
        with subtests.test(recording.name):
            trace = trace_scenario(load_plan(recording.scenario), device, translator("en"))
            assert trace["stopped"] is None
            assert len(trace["steps"]) == len(recording.expected)
            for step, expected in zip(trace["steps"], recording.expected, strict=True):
                spaces = {name: space["values"] for name, space in step["spaces"].items()}
                assert as_recorded(step, spaces, set(expected)) == expected, f"step {step['index']}"
                assert [check["name"] for check in step["checks"] if not check["holds"]] == []


def test_a_window_holds_the_same_steps(subtests: pytest.Subtests, device: torch.device) -> None:
    """Earlier steps only advance the state, buffers with stale content included."""
    for recording in load()[:18]:
        with subtests.test(recording.name):
            plan = load_plan(recording.scenario)
            whole = trace_scenario(plan, device, translator("en"))
            for first in range(len(whole["steps"])):
                window = trace_scenario(plan, device, translator("en"), first, first)
                assert window["steps"] == [whole["steps"][first]]
                assert window["summary"] == whole["summary"]
