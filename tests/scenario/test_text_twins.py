"""The browser's readers of YAML and JSON accept what the server's accept, and take it for the same document.

What the browser writes as YAML, the server reads as the same scenario; so does a plain YAML reader, with text for keys.
Node runs the browser's half, once for many texts. `yaml_texts.json` holds texts of which both say that the same is wrong;
here both find something wrong with the same texts, whatever they are.
"""

from __future__ import annotations

import itertools
import json
import random
import shutil
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.errors import ScenarioError
from app.examples import examples
from app.scenario import load_plan
from app.scenario.format.compact import compact
from app.scenario.format.parse import parse_json
from app.scenario.format.parse_yaml import parse_yaml
from tests.scenario.test_link_twins import generated
from tests.strategies import valid_scenarios

SCRIPT = Path(__file__).with_name("texts.mjs")


def browser(lines: Iterable[dict[str, Any]]) -> list[Any]:
    """What the browser answers to each line."""
    executable = shutil.which("node")
    assert executable, "node is needed: it runs the browser's half"
    text = "".join(json.dumps(line) + "\n" for line in lines)
    run = subprocess.run([executable, str(SCRIPT)], input=text, capture_output=True, text=True, timeout=240, check=False)
    assert run.returncode == 0, run.stderr
    return [json.loads(line) for line in run.stdout.split("\n") if line]


def test_what_the_browser_writes_the_server_reads() -> None:
    scenarios = [example.scenario for example in examples().values()]
    scenarios += [in_order(scenario) for scenario in generated(40, valid_scenarios())]
    for scenario, text in zip(scenarios, browser({"write": scenario} for scenario in scenarios), strict=True):
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


# ---- readers

YAML_CHARACTERS = "a -?:,[]{}#'\"|>&!\n"
JSON_CHARACTERS = 'a -:,[]{}"1\\\n'
BOTH = [
    "a",
    "1",
    "-1",
    "0",
    "00",
    "1.5",
    " ",
    "\n",
    "\t",
    "\r",
    "\r\n",
    "\x85",
    "\u2028",
    "\\",
    "\\n",
    "\\u0041",
    "\\ud83d",
    "\\q",
]
BOTH += ["[", "]", "{", "}", ",", ":", '"', '"a"', "null", "true", "😀", "é", "\ufeff", "\x7f", "#", "-", "1e999", "9" * 20]
YAML_PIECES = [
    *BOTH,
    "\n  ",
    "\n    ",
    "\n- ",
    "- ",
    "?",
    "? ",
    ": ",
    ", ",
    " #",
    "'",
    "''",
    "|",
    ">",
    "|-",
    ">+",
    "|2",
    ">1-",
]
YAML_PIECES += [
    "&x",
    "*x",
    "!",
    "!!str ",
    "%",
    "@",
    "`",
    "\\x41",
    "\\\n",
    "---",
    "\n---\n",
    "...",
    "\n...\n",
    "\n--- ",
    "~",
    "\u2029",
]
YAML_PIECES += ["a: ", "\na: ", "\n  b: ", "\n  b: |\n  ", "'y'", '"a\n b"', "\n\n", "\\U0001f600", "x" * 1030]
JSON_PIECES = [
    *BOTH,
    '"b": ',
    '"a": 1',
    '"a": {"b": [1, 2]}',
    "[1, 2]",
    "'a'",
    "NaN",
    "Infinity",
    "nul",
    "\\ud83d\\ude00",
    "\x00",
    "\x01",
]


def short(characters: str, length: int) -> list[str]:
    """All texts up to a length."""
    return ["".join(text) for count in range(length + 1) for text in itertools.product(characters, repeat=count)]


def put_together(pieces: list[str], count: int) -> list[str]:
    """Texts of up to 12 pieces, the same ones every time."""
    chance = random.Random(len(pieces))
    return ["".join(chance.choices(pieces, k=chance.randint(1, 12))) for _ in range(count)]


def mutated(texts: list[str], pieces: list[str], count: int) -> list[str]:
    """Texts that a few slips of the hand made of good ones, the same ones every time."""
    chance = random.Random(count)
    made = []
    for _ in range(count):
        text = chance.choice(texts)
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(text) + 1)
            text = text[:at] + chance.choice(["", chance.choice(pieces)]) + text[at + chance.randint(0, 2) :]
        made.append(text)
    return made


def check_readers(texts: list[str], notation: str, read: Callable[[bytes], Any]) -> None:
    """Both accept the same texts, as the same documents."""
    answers = browser({"read": text, "notation": notation} for text in texts)
    accepted = 0
    for text, answer in zip(texts, answers, strict=True):
        try:
            document = read(text.encode())
        except ScenarioError:
            assert "fault" in answer, text
            continue
        if has_other_numbers(document):  # read by the server, to be refused by the schema with the number in the sentence
            assert answer["fault"] == "text.number", text
        else:
            assert answer == {"document": as_pairs(document)}, text
            accepted += 1
    assert accepted > len(texts) // 100


def has_other_numbers(document: Any) -> bool:
    """Numbers that no field of a scenario holds: fractions, and beyond what JavaScript counts exactly."""
    if isinstance(document, dict | list):
        return any(map(has_other_numbers, document.values() if isinstance(document, dict) else document))
    return isinstance(document, float) or (type(document) is int and abs(document) >= 2**53)


def as_pairs(document: Any) -> Any:
    if isinstance(document, dict):
        return {"map": [[key, as_pairs(value)] for key, value in document.items()]}
    return [as_pairs(value) for value in document] if isinstance(document, list) else document


def yaml_samples() -> list[str]:
    return browser({"write": in_order(example.scenario)} for example in list(examples().values())[3:20])


def json_samples() -> list[str]:
    return [json.dumps(example.scenario) for example in list(examples().values())[3:20]]


def test_both_readers_take_any_yaml_for_the_same() -> None:
    slips = mutated(yaml_samples(), YAML_PIECES, 3_000)
    check_readers([*short(YAML_CHARACTERS, 3), *put_together(YAML_PIECES, 6_000), *slips], "yaml", parse_yaml)


def test_both_readers_take_any_json_for_the_same() -> None:
    slips = mutated(json_samples(), JSON_PIECES, 3_000)
    check_readers([*short(JSON_CHARACTERS, 3), *put_together(JSON_PIECES, 3_000), *slips], "json", parse_json)


@pytest.mark.slow
def test_both_readers_take_very_many_texts_for_the_same() -> None:
    check_readers([*short(YAML_CHARACTERS, 4), *put_together(YAML_PIECES, 200_000)], "yaml", parse_yaml)
    check_readers(mutated(yaml_samples(), YAML_PIECES, 30_000), "yaml", parse_yaml)
    check_readers([*short(JSON_CHARACTERS, 4), *put_together(JSON_PIECES, 100_000)], "json", parse_json)
