"""What the page shows of a draft before the server has answered is what the server then says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from app.examples import examples
from app.scenario import load_plan
from app.scenario.plan.plan import PlannedStep
from app.trace.counts.summary import summarise
from app.trace.normalise import normalise
from tests.strategies import valid_scenarios

ROOT = Path(__file__).parent.parent
NODE = shutil.which("node", path=f"{ROOT / '.venv' / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}")

pytestmark = pytest.mark.skipif(NODE is None, reason="needs node")


def differences(cases: list[tuple[str, dict[str, Any]]]) -> str:
    plans = [(name, load_plan(scenario)) for name, scenario in cases]
    # JavaScript reorders keys that look like numbers: what the page gets are pairs.
    told = [(name, normalise(plan, 0, -1), [*map(_told, plan.steps, summarise(plan))]) for name, plan in plans]
    assert NODE is not None
    script = ROOT / "tests" / "js" / "compare-walks.mjs"
    run = subprocess.run(
        [NODE, script], input=json.dumps(told, default=_plain), capture_output=True, text=True, timeout=60, check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout[:2000]


def _told(step: PlannedStep, summary: dict[str, Any]) -> dict[str, Any]:
    """What the server says of a step, as the page guesses it: of each request what it does, and who left."""
    admitted = step.admitted_req_ids
    works = [
        {
            "name": request.req_id,
            "kind": kind,
            "computed": request.num_computed_tokens,
            "num_drafts": request.num_draft_tokens,
            "isAdmitted": request.req_id in admitted,
        }
        for request, kind in zip(step.scheduled, summary["kinds"], strict=True)
    ]
    return {"works": works, "removed": step.removed, "num_live": step.num_live}


def _plain(model: Any) -> Any:
    return model.model_dump()


def test_the_summary_says_what_kind_of_work_each_request_does() -> None:
    scenario = {
        "version": 1,
        "config": {"num_speculative_tokens": 2},
        "requests": [{"req_id": "A", "prompt_len": 20}, {"req_id": "B", "prompt_len": 8}],
        "steps": [
            {"num_scheduled_tokens": {"A": 12, "B": 8}},  # 12 of 20; 8 of 8
            {"num_scheduled_tokens": {"B": 3, "A": 9}, "draft_token_ids": {"B": 2, "A": 1}},  # 1 + 2 drafts; 8 + 1 draft
            {"num_scheduled_tokens": {"A": 1}},
        ],
    }
    kinds = [["prefill", "prefill_end"], ["decode_drafts", "prefill_end"], ["decode"]]
    assert [line["kinds"] for line in summarise(load_plan(scenario))] == kinds


def test_what_every_example_does_is_guessed_right() -> None:
    assert differences([(name, example.scenario) for name, example in examples().items()]) == ""


def test_what_any_valid_scenario_does_is_guessed_right() -> None:
    drawn: list[dict[str, Any]] = []

    @settings(max_examples=25, phases=[Phase.generate], suppress_health_check=list(HealthCheck), deadline=None)
    @given(valid_scenarios())
    def draw(scenario: dict[str, Any]) -> None:
        drawn.append(scenario)

    draw()
    assert differences([(str(number), scenario) for number, scenario in enumerate(drawn)]) == ""
