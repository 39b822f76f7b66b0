"""The two codecs are one format: what the browser writes the server reads, and the other way round, to equal documents.

Node runs the browser's codec, once for many lines. tests/links/corpus.jsonl holds links of every format there ever was, as
they were made at the time, with the scenario that each must open, normalised. **It only grows**: a line is never changed or
taken out, for somebody has that link. `python -m tests.scenario.test_link_twins` appends what is not in it yet.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import ScenarioError
from app.examples import examples
from app.scenario import load_plan
from app.scenario.format.compact import compact, to_json
from app.scenario.format.link import decode_link, encode_link
from app.scenario.format.parse import parse_scenario
from tests.links.varied import varied
from tests.scenario.test_link import DAMAGE, LINK, WITH_A_TAIL, WRITTEN
from tests.strategies import invalid_scenarios, valid_scenarios

Scenario = dict[str, Any]
CORPUS = Path(__file__).parents[1] / "links" / "corpus.jsonl"
NODE_SCRIPT = CORPUS.with_name("node.mjs")


def node(lines: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the browser's codec makes of each line."""
    executable = shutil.which("node")
    assert executable, "node is needed: it runs the browser's half of the codec"
    text = "".join(json.dumps(line) + "\n" for line in lines)
    run = subprocess.run(
        [executable, str(NODE_SCRIPT)], input=text, capture_output=True, text=True, timeout=240, check=False
    )
    assert run.returncode == 0, run.stderr
    return [json.loads(line) for line in run.stdout.split("\n") if line]


def generated(count: int, strategy: st.SearchStrategy[Any], *, derandomize: bool = True) -> list[Any]:
    """So many scenarios, drawn once."""
    found: list[Any] = []

    @settings(max_examples=count, deadline=None, derandomize=derandomize, database=None)
    @given(strategy)
    def draw(scenario: Any) -> None:
        found.append(scenario)

    draw()
    return found


def agree(scenarios: list[Scenario]) -> None:
    """Both directions, and the compact form, for each."""
    compacted = [compact(scenario) for scenario in scenarios]
    links = [encode_link(scenario) for scenario in scenarios]
    answers = node(
        [{"encode": scenario} for scenario in compacted]
        + [{"decode": link} for link in links]
        + [{"compact": parse_scenario(scenario).model_dump()} for scenario in scenarios]
    )
    theirs, read, small = (answers[part * len(links) : (part + 1) * len(links)] for part in range(3))
    for scenario, document, their, taken, made in zip(scenarios, compacted, theirs, read, small, strict=True):
        assert taken == {"scenario": document}  # keys like integers may be in another order in an object, never in pairs
        assert decode_link(their["link"]) == document
        assert parse_scenario(decode_link(their["link"])) == parse_scenario(scenario)
        assert made == {"compact": compact(parse_scenario(scenario).model_dump())}


def test_both_codecs_agree_on_every_example_and_on_varied_scenarios() -> None:
    agree([*(example.scenario for example in examples().values()), *varied().values()])


def test_both_codecs_agree_on_hundreds_of_scenarios() -> None:
    agree(generated(300, valid_scenarios()))


@pytest.mark.slow
def test_both_codecs_agree_on_thousands_of_scenarios() -> None:
    agree(generated(4_000, st.one_of(valid_scenarios(), valid_scenarios(strict=False)), derandomize=False))


def test_both_codecs_leave_what_cannot_be_run_to_be_said() -> None:
    cases = [scenario for scenario, _ in generated(200, invalid_scenarios())]
    answers = node({"decode": encode_link(scenario)} for scenario in cases)
    for scenario, answer in zip(cases, answers, strict=True):
        try:
            expected: dict[str, Any] = {"scenario": decode_link(encode_link(scenario))}
        except ScenarioError as error:
            expected = {"kind": error.faults[0].code.removeprefix("link_"), "params": dict(error.faults[0].params)}
        assert answer == expected


def test_both_codecs_refuse_the_same_for_the_same_reason() -> None:
    # Node's engine, unlike those of browsers, does not mind what follows the end of the data.
    cases = [case for case in DAMAGE if len(case[0]) < 2_000_000 and case[0] != WITH_A_TAIL]
    answers = node({"decode": text} for text, _, _ in cases)
    assert answers == [{"kind": kind, "params": params} for _, kind, params in cases]


def test_both_codecs_forgive_the_same() -> None:
    answers = node({"decode": text} for text in WRITTEN)
    assert answers == [{"scenario": decode_link(LINK)}] * len(WRITTEN)


# ---- old links for ever


@cache
def corpus() -> list[dict[str, Any]]:
    return [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").split("\n") if line]


def test_the_corpus_has_links_of_both_codecs() -> None:
    assert {entry["by"] for entry in corpus()} == {"server", "browser"}
    assert len(corpus()) >= 38
    assert len({entry["link"] for entry in corpus()}) == len(corpus())


def test_the_server_opens_every_link_there_ever_was() -> None:
    for entry in corpus():
        assert parse_scenario(decode_link(entry["link"])) == parse_scenario(entry["scenario"]), entry["name"]


def test_the_browser_opens_every_link_there_ever_was() -> None:
    answers = node({"decode": entry["link"]} for entry in corpus())
    for entry, answer in zip(corpus(), answers, strict=True):
        assert parse_scenario(answer["scenario"]) == parse_scenario(entry["scenario"]), entry["name"]


def test_what_the_corpus_opens_is_spelled_out_and_can_be_run() -> None:
    for entry in corpus():
        assert parse_scenario(entry["scenario"]).model_dump(mode="json") == entry["scenario"], entry["name"]
        load_plan(entry["scenario"])


def grow() -> None:
    """Appends the links of today that the corpus does not have."""
    gallery = {name: example.scenario for name, example in examples().items() if len(example.scenario["requests"]) < 32}
    scenarios = {**gallery, **varied()}
    made = node({"encode": compact(scenario)} for scenario in scenarios.values())
    known = {entry["link"] for entry in corpus()} if CORPUS.exists() else set()
    with CORPUS.open("a", encoding="utf-8") as file:
        for (name, scenario), theirs in zip(scenarios.items(), made, strict=True):
            whole = parse_scenario(scenario).model_dump(mode="json")
            for by, link in (("server", encode_link(scenario)), ("browser", theirs["link"])):
                if link not in known:
                    known.add(link)
                    entry = {"name": name, "by": by, "link": link, "scenario": whole}
                    file.write(to_json(entry).decode() + "\n")


if __name__ == "__main__":
    grow()
