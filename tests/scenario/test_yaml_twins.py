"""What the browser writes as YAML, the server reads as the same scenario; so does a plain YAML reader, with text for keys.

Node runs the browser's writer, once for many scenarios. The texts that both readers must agree on are in `yaml_texts.json`.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import yaml

from app.examples import examples
from app.scenario import load_plan
from app.scenario.format.compact import compact
from app.scenario.format.parse_yaml import parse_yaml
from tests.scenario.test_link_twins import generated
from tests.strategies import valid_scenarios

SCRIPT = Path(__file__).with_name("write_yaml.mjs")


def written(scenarios: list[dict[str, Any]]) -> list[str]:
    executable = shutil.which("node")
    assert executable, "node is needed: it runs the browser's writer"
    lines = "".join(json.dumps(scenario) + "\n" for scenario in scenarios)
    run = subprocess.run([executable, str(SCRIPT)], input=lines, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


def test_what_the_browser_writes_the_server_reads() -> None:
    scenarios = [example.scenario for example in examples().values()]
    scenarios += [in_order(scenario) for scenario in generated(40, valid_scenarios())]
    for scenario, text in zip(scenarios, written(scenarios), strict=True):
        document = parse_yaml(text.encode())
        assert compact(in_order(document)) == compact(in_order(scenario)), text
        load_plan(document)
        # Nothing in it is a number, a date or a truth value to an older reader, where a text is meant.
        assert same_texts(yaml.safe_load(text), document), text


def in_order(scenario: dict[str, Any]) -> dict[str, Any]:
    """With counts as pairs: an object of them would not keep its order on the way to Node."""
    steps = [{**step, "num_scheduled_tokens": pairs(step.get("num_scheduled_tokens", []))} for step in scenario["steps"]]
    return {**scenario, "steps": steps}


def pairs(counts: Any) -> list[Any]:
    return [list(pair) for pair in (counts.items() if isinstance(counts, dict) else counts)]


def same_texts(plain: Any, ours: Any) -> bool:
    if isinstance(ours, dict):
        return list(plain) == list(ours) and all(same_texts(plain[key], ours[key]) for key in ours)
    if isinstance(ours, list):
        return len(plain) == len(ours) and all(map(same_texts, plain, ours))
    return type(plain) is type(ours) and bool(plain == ours)
