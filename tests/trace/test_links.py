"""Every link explains its cell: the formula of each cell of each step gives the cell's value.

The server's reader of links and the page's are to say so, and to find the same cells behind it.
"""

import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest
import torch
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from app.examples import examples
from app.i18n import translator
from app.scenario import load_plan
from app.trace.expressions import Scope, evaluate
from app.trace.schema import SPACES
from app.trace.trace import trace_scenario
from tests.conformance.recordings import load
from tests.trace.links import (
    SCHEMA,
    case_of,
    cells,
    coordinates,
    inputs_and_controls,
    reads_virtual_space,
    scopes,
    variables_of,
)

NODE_SCRIPT = Path(__file__).with_name("compare_links.mjs")
NUM_PARTS = 6  # of the scenarios, for workers side by side
NUM_EXPLAINED = 40  # cells of a space and step of which everything is compared that the inspector says


def trace_of(scenario: dict[str, Any]) -> dict[str, Any]:
    return trace_scenario(load_plan(scenario), torch.device("cpu"), translator("en"))


SCENARIOS = {name: example.scenario for name, example in examples().items()}
SCENARIOS |= {recording.scenario["title"]: recording.scenario for recording in load()[:18]}

SCENARIOS["what only a log leaves open"] = {
    "version": 1,
    "strict": False,
    "config": {
        "num_speculative_tokens": 2,
        "kv_cache_groups": [{"name": "window", "block_size": 4, "sliding_window": 6}],
        "kv_cache": {"layout": "HND"},
    },
    "requests": [
        # Its blocks are not in the log: unknown. Its drafts are placeholders.
        {"req_id": "U", "prompt_len": 9, "initial": {"output_token_ids": 1, "block_ids": [[None, None, None]]}},
        # Below its window: (20 - 5) // 4 = 3 null blocks in front.
        {"req_id": "W", "prompt_len": 24, "initial": {"num_computed_tokens": 20, "block_ids": [[0, 0, 0, 7, 8]]}},
        {"req_id": "S", "prompt_len": 12},
    ],
    "steps": [
        {"num_scheduled_tokens": {"U": 3, "W": 4}, "draft_token_ids": {"U": [-1, -1]}},
        # 12 tokens in blocks of 4, but two blocks given. U and W wait.
        {"num_scheduled_tokens": {"S": 12}, "new_block_ids": {"S": [[5, 6]]}},
        {"num_scheduled_tokens": {"U": 1}},
    ],
}

# Y's hit of 11 ends inside its third block: its first two are X's, 3 slots of the third were loaded.
SCENARIOS["a hit that ends inside a block"] = {
    "version": 1,
    "config": {"kv_cache_groups": [{"block_size": 4}]},
    "requests": [{"req_id": "X", "prompt_len": 12}, {"req_id": "Y", "prompt_len": 12}],
    "steps": [
        {"num_scheduled_tokens": {"X": 12}, "new_block_ids": {"X": [[5, 9, 3]]}},
        {
            "num_scheduled_tokens": {"Y": 1},
            "num_computed_tokens": {"Y": 11},
            "new_block_ids": {"Y": [[5, 9, 14]]},
        },
    ],
}


def read_by_node(cases: Iterable[tuple[dict[str, Any], list[Any]]]) -> Iterator[dict[str, Any]]:
    """What the page's reader finds of each trace other than expected."""
    executable = shutil.which("node")
    assert executable, "node is needed: it runs the page's reader"
    lines = [orjson.dumps(SCHEMA), *(orjson.dumps({"trace": trace, "expected": expected}) for trace, expected in cases)]
    run = subprocess.run(
        [executable, str(NODE_SCRIPT)], input=b"\n".join(lines), capture_output=True, timeout=240, check=False
    )
    assert run.returncode == 0, run.stderr.decode()
    return map(orjson.loads, run.stdout.splitlines())


def read_by_server(title: str, trace: dict[str, Any]) -> list[dict[str, list[Any]]]:
    """For each step and space what is expected of its cells, which the server's own reader says here."""
    expected: list[dict[str, list[Any]]] = []
    num_explained = 0
    for step, scope in scopes(trace):
        expected.append({})
        for name, space in step["spaces"].items():
            found = list(cells(space["values"], len(space["dims"])))
            every = -(-len(found) // NUM_EXPLAINED)
            declared = SCHEMA["spaces"][name]["cases"]
            telling = {
                index
                for index, case in enumerate(declared)
                if case["formula"] is not None and not reads_virtual_space(case["formula"])
            }
            read = expected[-1][name] = []
            for place, (at, value) in enumerate(found):
                variables = variables_of(name, at, value)
                index = case_of(name, variables, scope)
                case = declared[index]
                result = evaluate(case["formula"], variables, scope)
                if index in telling:
                    where = f"{title}, step {step['index']}, {name}{list(at)}"
                    assert result == value, f"{where}: {case['text']} is {result}, not {value}"
                    num_explained += 1
                read.append([index, result, *map(list, inputs_and_controls(case, variables, scope))])
                if place % every == 0:
                    read[-1].append(coordinates(name, at, value, scope))
    assert num_explained > 30, title
    return expected


def check_links(scenarios: Mapping[str, dict[str, Any]]) -> None:
    """Every cell of every step, by both readers."""
    traces = {title: trace_of(scenario) for title, scenario in scenarios.items()}
    expected = {title: read_by_server(title, trace) for title, trace in traces.items()}
    answers = read_by_node((trace, expected[title]) for title, trace in traces.items())
    for title, answer in zip(traces, answers, strict=True):
        assert answer["differences"] == [], title
        assert answer["count"] == sum(len(read) for spaces in expected[title] for read in spaces.values())
        for formula, value in answer["printed"]:  # digits, signs and brackets: Python's own arithmetic
            assert eval(formula, {}) == value, (title, formula)
        assert len(answer["printed"]) > 10, title


@pytest.mark.parametrize("part", range(NUM_PARTS))
def test_every_formula_gives_the_value_of_its_cell_in_both_readers(part: int) -> None:
    check_links(dict(list(SCENARIOS.items())[part::NUM_PARTS]))


STEP = {
    "index": 0,
    "num_reqs": 3,
    "num_tokens": -7,
    "num_reqs_padded": 4,
    "num_tokens_padded": 0,
    "spaces": {
        "numbers": {"dims": ["a"], "dtype": "int32", "values": [0, 5, None, -7, 5]},
        "sums": {"dims": ["b"], "dtype": "int32", "values": [0, 2, 2, 9]},
        "rows": {"dims": ["b", "c"], "dtype": "int32", "values": [[1], [], [4, None, 6], [0]]},
        "names": {"dims": ["b"], "dtype": "str", "values": ["", None, "A", "B"]},
    },
}
CONSTANTS = {"few": [3, 0], "K": 2}


def trees() -> st.SearchStrategy[Any]:
    """Expressions of the language of links, sensible or not."""
    numbers = st.sampled_from([0, 1, 2, 3, 5, -1, -4, None, True, "K", "num_tokens"])
    texts = st.sampled_from([["str", ""], ["str", "A"], ["@", "names", 0], ["@", "names", 1], ["@", "names", 2]])

    def larger(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.one_of(
            st.tuples(st.sampled_from(["+", "-", "*", "<", "<=", ">", ">=", "==", "!=", "and", "or"]), inner, inner),
            st.tuples(st.sampled_from(["//", "%"]), inner, st.sampled_from([1, 2, 4, -3, None])),
            st.tuples(st.sampled_from(["min", "max"]), inner, inner, inner),
            st.tuples(st.sampled_from(["not", "control", "prev"]), inner),
            st.tuples(st.just("if"), inner, inner, inner),
            st.tuples(st.just("@"), st.sampled_from(["numbers", "sums", "few", "missing"]), inner),
            st.tuples(st.just("@"), st.just("rows"), inner, inner),
            st.tuples(st.sampled_from(["find", "bisect", "len"]), st.sampled_from(["sums"]), inner).map(
                lambda tree: tree[:2] if tree[0] == "len" else tree
            ),
            st.tuples(st.just("len"), st.just("rows"), inner),
            st.tuples(st.sampled_from(["==", "!="]), texts, texts),
            st.tuples(st.just("find"), st.just("names"), texts),
        )

    return st.recursive(numbers, larger, max_leaves=6)


def test_both_readers_take_any_expression_for_the_same() -> None:
    """Also what no link of today asks: negative numbers divided, texts that are empty, what is not known compared."""
    drawn: list[Any] = []

    @settings(max_examples=1500, phases=[Phase.generate], derandomize=True, database=None, deadline=None)
    @given(trees())
    def draw(tree: Any) -> None:
        drawn.append(tree)

    draw()
    before = Scope(STEP, CONSTANTS)
    scope = Scope(STEP, CONSTANTS, before)
    expected = [[tree, evaluate(orjson.loads(orjson.dumps(tree)), {}, scope)] for tree in drawn]
    (answer,) = read_by_node([({"steps": [STEP, STEP], "constants": CONSTANTS}, expected)])
    assert answer["differences"] == []


@pytest.mark.slow
def test_every_formula_of_the_random_recordings_in_both_readers() -> None:
    check_links({recording.name: recording.scenario for recording in load()[18:]})


def test_every_case_occurs_somewhere() -> None:
    """A case that no scenario reaches would be untested prose."""
    unseen = {(space.name, index) for space in SPACES for index, _ in enumerate(space.cases)}
    for scenario in reversed(SCENARIOS.values()):  # the largest stands first, and is not needed
        for step, scope in scopes(trace_of(scenario)):
            for name in {name for name, _ in unseen}:
                space = step["spaces"].get(name, {"values": [], "dims": [""]})
                for at, value in cells(space["values"], len(space["dims"])):
                    unseen.discard((name, case_of(name, variables_of(name, at, value), scope)))
        if not unseen:
            return
    raise AssertionError({f"{name}: {SCHEMA['spaces'][name]['cases'][index]['note']}" for name, index in unseen})


def test_every_declared_space_marks_real_lines() -> None:
    for name, space in SCHEMA["spaces"].items():
        lines = SCHEMA["sources"][space["source"]["symbol"]]["lines"]
        assert space["source"]["mark"], name
        assert all(0 <= line < len(lines) for line in space["source"]["mark"]), name


def test_the_code_shown_is_the_branch_that_ran() -> None:
    """With context parallelism other lines compute the slots than without."""
    for title, symbol in (
        ("worked-example", None),
        ("context-parallel-rank-1-of-2", "compute_local_slot_mapping"),
    ):
        for step, scope in scopes(trace_of(SCENARIOS[title])):
            for name in ("block_indices", "block_numbers", "slot_mappings"):
                for at, value in cells(step["spaces"][name]["values"], 2):
                    case = SCHEMA["spaces"][name]["cases"][case_of(name, variables_of(name, at, value), scope)]
                    source = case["source"] or SCHEMA["spaces"][name]["source"]
                    assert source["symbol"] == (symbol or "compute_slot_mapping"), (title, name, at)
