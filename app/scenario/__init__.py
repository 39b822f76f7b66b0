"""Scenarios: the format, its checks, and the plan that a scenario amounts to, step by step.

`parse` reads a document into a `Scenario` (model), `limits` checks what its fields decide together, `planner` walks its
steps and fills in every block, draft and token id.
"""

from typing import Any

from app.errors import ScenarioError
from app.scenario.format.limits import limit_faults, prevents_planning
from app.scenario.format.locate import locate
from app.scenario.format.parse import parse_scenario
from app.scenario.plan.plan import Plan
from app.scenario.plan.planner import plan_scenario


def load_plan(document: Any) -> Plan:
    """Check a JSON-like document and plan its steps.

    Raises:
        ScenarioError: with every fault found, each pointing into `document`. If single fields are wrong, these alone are
            reported; else all the rest is.
    """
    scenario = parse_scenario(document)
    faults = list(limit_faults(scenario))
    if any(map(prevents_planning, faults)):
        raise ScenarioError(faults)
    try:
        return plan_scenario(scenario, faults)
    except ScenarioError as error:
        raise locate(error, document, num_located=len(faults)) from None
