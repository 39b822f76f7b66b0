"""From a scenario to its handout: which steps, run and laid out as worksheet, answer key or both.

However large the scenario, a handout is bounded: MAX_STEPS steps, MAX_CELLS cells, and in each table what `handout_tables`
allows; what is left out is said.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from app.i18n import Language, Translate, translator
from app.scenario import load_plan
from app.scenario.plan.plan import Plan
from app.trace.trace import trace_scenario
from app.web.handout.model import StepSheet
from app.web.handout.query import Choice
from app.web.handout.sheet import facts_of, step_sheet
from app.web.identity import identities

MAX_STEPS = 8
MAX_CELLS = 16_000  # of one part
MAX_VALUES = 400_000  # that the trace of a handout may hold, roughly; a single step may hold more


@dataclass(frozen=True)
class Part:
    """One pass over the steps: a worksheet, or its answer key."""

    kind: str  # worksheet, key
    sheets: Sequence[StepSheet]


@dataclass(frozen=True)
class Handout:
    """What a scenario amounts to on paper."""

    title: str
    description: str
    facts: Sequence[tuple[str, str]]
    parts: Sequence[Part]
    num_steps: int  # that were computed
    first: int
    last: int  # -1: there is no step
    notices: Sequence[str]


def make_handout(document: Any, choice: Choice, device: torch.device, language: Language) -> Handout:
    """Run a scenario and lay out the steps asked for.

    Raises:
        ScenarioError: the scenario cannot be run, or one step alone is too large.
    """
    in_language = translator(language)
    plan = load_plan(document)
    ignored = in_language("list.separator", {}).join(choice.ignored)
    notices = [in_language("notice.ignored", {"names": ignored})] if ignored else []
    first, last, wanted = _window(plan, choice, in_language, notices)
    trace = trace_scenario(plan, device, in_language, first, last)
    scenario, constants = trace["scenario"], trace["constants"]
    requests = identities([request["req_id"] for request in scenario["requests"]])
    kinds = {"0": ("worksheet",), "1": ("key",), "both": ("worksheet", "key")}[choice.answers]
    blank = {"worksheet": choice.blank, "key": frozenset[str]()}
    sheets: dict[str, list[StepSheet]] = {kind: [] for kind in kinds}
    shown, num_cells = -1, 0
    for step in trace["steps"]:
        made = {kind: step_sheet(step, constants, requests, blank[kind], in_language) for kind in kinds}
        num_cells += max(sheet.num_cells for sheet in made.values())
        if shown >= 0 and num_cells > MAX_CELLS:
            break
        for kind, sheet in made.items():
            sheets[kind].append(sheet)
        shown = step["index"]
    if shown < wanted:
        params = {"first": str(first), "last": str(shown), "wanted": str(wanted)}
        notices.append(in_language("handout.cut.steps", params))
    if trace["stopped"] and wanted >= len(plan.steps) - 1:
        notices.append(trace["stopped"]["message"])
    return Handout(
        title=scenario["title"],
        description=scenario["description"],
        facts=facts_of(scenario, constants),
        parts=[Part(kind, sheets[kind]) for kind in kinds],
        num_steps=len(plan.steps),
        first=first,
        last=shown,
        notices=notices,
    )


def _window(plan: Plan, choice: Choice, in_language: Translate, notices: list[str]) -> tuple[int, int, int]:
    """First and last step of the page, and the last one wanted; (0, -1, -1) where there is none."""
    num_steps = len(plan.steps)
    if num_steps == 0:
        key = "handout.no_requests" if not plan.scenario.requests else "handout.no_steps"
        if plan.stopped is None:
            notices.append(in_language(key, {}))
        return 0, -1, -1
    first, wanted = choice.steps or (plan.scenario.start_step,) * 2
    if not 0 <= first < num_steps:
        asked, first = first, min(max(first, 0), num_steps - 1)
        if choice.steps is not None and not (plan.stopped and asked == plan.stopped.step):
            notices.append(in_language("notice.step", {"asked": str(asked), "step": str(first)}))
    wanted = min(max(wanted, first), num_steps - 1)
    num_groups = len(plan.scenario.config.kv_cache_groups)
    last, num_values = first, 0
    for index in range(first, min(wanted, first + MAX_STEPS - 1) + 1):
        step = plan.steps[index]
        num_tokens = sum(request.num_tokens for request in step.scheduled)
        num_values += num_tokens * (8 + 8 * num_groups) + 2 * step.num_table_entries + 8 * plan.scenario.config.max_num_reqs
        if index > first and num_values > MAX_VALUES:
            break
        last = index
    return first, last, wanted
