"""Scenarios: the format, its checks, and the plan that a scenario amounts to, step by step.

`parse` reads a document into a `Scenario` (model), `planner` walks its steps and fills in every block, draft and token id.
"""

from typing import Any

from app.errors import ScenarioError
from app.scenario.locate import locate
from app.scenario.parse import parse_scenario
from app.scenario.plan import Plan
from app.scenario.planner import plan_scenario


def load_plan(document: Any) -> Plan:
    """Check a JSON-like document and plan its steps.

    Raises:
        ScenarioError: with every fault found, each pointing into `document`.
    """
    scenario = parse_scenario(document)
    try:
        return plan_scenario(scenario)
    except ScenarioError as error:
        raise locate(error, document) from None
