"""What each field may hold: both ends of every bound, every wrong type, every name that is no field."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from pydantic import ValidationError

from app.errors import Fault
from app.i18n import group_digits
from app.scenario.format.model import Scenario as ScenarioModel
from tests.scenario.faults import (
    Scenario,
    blocks_of,
    faults_of,
    of,
    one,
    patched,
    places,
    refusal,
    request,
    sentence,
    step,
    worked,
)

FULL: Scenario = {
    "version": 1,
    "title": "Everything",
    "description": "each field given",
    "start_step": 1,
    "strict": True,
    "config": {
        "max_num_reqs": 4,
        "max_num_batched_tokens": 32,
        "max_model_len": 64,
        "num_blocks": 64,
        "num_speculative_tokens": 2,
        "kv_cache_groups": [
            {"name": "full", "block_size": 8, "sliding_window": None},
            {"name": "window", "block_size": 4, "sliding_window": 6},
        ],
        "context_parallel": {"size": 1, "rank": 0, "interleave": 2},
        "cudagraph": {"mode": "PIECEWISE", "capture_sizes": [1, 2, 4]},
        "block_pool": {"order": "ascending", "seed": 7},
        "kv_cache": {"num_layers": 2, "num_kv_heads": 2, "head_size": 16, "dtype": "float16", "layout": "NHD"},
    },
    "requests": [
        {"req_id": "A", "prompt_len": 12},
        {"req_id": "B", "prompt_token_ids": [5, 6, 7]},
        {
            "req_id": "C",
            "prompt_len": 3,
            "initial": {"num_computed_tokens": 4, "output_token_ids": [8, 9], "block_ids": [[40], [41]], "req_state_idx": 1},
        },
    ],
    "steps": [
        {
            "num_scheduled_tokens": {"A": 6, "C": 3},
            "draft_token_ids": {"C": [1, 2]},
            "sampled_token_ids": {"C": [1, 2, 3]},
            "new_block_ids": {"A": [[42], [43, 44]], "C": [[], [45]]},
            "num_computed_tokens": {"A": 1},
        },
        {"num_scheduled_tokens": [["A", 5], ["C", 1]], "preempted_req_ids": [], "finished_req_ids": []},
        {"num_scheduled_tokens": [["B", 3]], "preempted_req_ids": ["A"], "finished_req_ids": ["C"]},
    ],
}


def at(where: str, value: Any) -> Scenario:
    """FULL with another value at a place; a place that does not exist is made."""
    parent = where.rpartition("/")[0]
    exists = where in pointers(FULL)
    assert exists or parent in pointers(FULL), where
    return patched(FULL, [{"op": "replace" if exists else "add", "path": where, "value": value}])


def pointers(node: Any, where: str = "") -> set[str]:
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return {where}.union(*(pointers(child, f"{where}/{key}") for key, child in children))


def only_fault(scenario: Any) -> Fault:
    (fault,) = faults_of(scenario)
    return fault


def test_full_is_fine() -> None:
    assert [sentence(fault) for fault in faults_of(FULL)] == []


# ---- bounds

BOUNDS = [
    ("/start_step", 0, None),
    ("/config/max_num_reqs", 1, 4_096),
    ("/config/max_num_batched_tokens", 1, 65_536),
    ("/config/max_model_len", 2, 2**20),
    ("/config/num_blocks", 2, 2**24),
    ("/config/num_speculative_tokens", 0, 16),
    ("/config/kv_cache_groups/0/block_size", 1, 16_384),
    ("/config/kv_cache_groups/1/sliding_window", 1, 2**20),
    ("/config/context_parallel/size", 1, 64),
    ("/config/context_parallel/rank", 0, 63),
    ("/config/context_parallel/interleave", 1, None),
    ("/config/cudagraph/capture_sizes/0", 1, 65_536),
    ("/config/block_pool/seed", 0, 2**32 - 1),
    ("/config/kv_cache/num_layers", 1, 1_024),
    ("/config/kv_cache/num_kv_heads", 1, 1_024),
    ("/config/kv_cache/head_size", 1, 1_024),
    ("/requests/0/prompt_len", 1, None),
    ("/requests/1/prompt_token_ids/0", 0, 2**31 - 1),
    ("/requests/2/initial/num_computed_tokens", 0, None),
    ("/requests/2/initial/output_token_ids", 0, None),
    ("/requests/2/initial/output_token_ids/1", 0, 2**31 - 1),
    ("/requests/2/initial/block_ids/0/0", 0, 2**31 - 1),
    ("/requests/2/initial/req_state_idx", 0, None),
    ("/steps/0/num_scheduled_tokens/A", 1, None),
    ("/steps/1/num_scheduled_tokens/0/1", 1, None),
    ("/steps/0/num_computed_tokens/A", 0, None),
    ("/steps/0/new_block_ids/A/1/1", 0, 2**31 - 1),
    ("/steps/0/draft_token_ids/C", 0, None),
    ("/steps/0/draft_token_ids/C/1", -1, 2**31 - 1),
    ("/steps/0/sampled_token_ids/C", 0, None),
    ("/steps/0/sampled_token_ids/C/2", 0, 2**31 - 1),
]


def fits(scenario: Scenario) -> bool:
    """Whether each field by itself is fine."""
    try:
        ScenarioModel.model_validate(scenario)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize(("where", "low", "high"), BOUNDS)
def test_bounds(where: str, low: int, high: int | None) -> None:
    assert fits(at(where, low))
    fault = only_fault(at(where, low - 1))
    assert (fault.code, fault.where) == ("schema", where)
    assert fault.params["limit"] == low
    if "block_ids" not in where:  # what a block id is takes a sentence of its own
        assert sentence(fault) == f"“{fault.params['name']}” is {low - 1}; it must be at least {low}."
    if high is None:  # other fields decide: no sensible number is too large for the type
        assert fits(at(where, 2**31 - 1))
        high = 2**31 - 1
    assert fits(at(where, high))
    for value in (high + 1, 2**63, 10**400):
        fault = only_fault(at(where, value))
        assert (fault.code, fault.where) == ("schema", where)
        assert sentence(fault).endswith(f"; it must be at most {group_digits(high)}.")


def test_what_a_number_out_of_bounds_is_called_and_what_would_be_right() -> None:
    fault = only_fault(at("/config/kv_cache_groups/1/sliding_window", 0))
    assert sentence(fault) == "“kv_cache_groups[1].sliding_window” is 0; it must be at least 1."
    assert fault.fix == [{"op": "replace", "path": "/config/kv_cache_groups/1/sliding_window", "value": 1}]
    fault = only_fault(at("/config/max_num_reqs", 5000))
    assert sentence(fault) == "“max_num_reqs” is 5000; it must be at most 4096."
    assert fault.fix == [{"op": "replace", "path": "/config/max_num_reqs", "value": 4096}]


def test_a_negative_block_id_is_told_what_block_ids_are() -> None:
    what_they_are = (
        "which is no block id. Real blocks have the ids 1 and up; 0 is the null block; an id that is not known is left empty"
        " (null in JSON)."
    )
    fault = only_fault(at("/requests/2/initial/block_ids/0/0", -7))
    assert sentence(fault) == f"“initial.block_ids[0][0]” is -7, {what_they_are}"
    fault = only_fault(at("/steps/0/new_block_ids/A/1/1", -1))
    assert sentence(fault) == f"“new_block_ids.A[1][1]” is -1, {what_they_are}"
    assert (fault.code, fault.message, fault.fix) == ("schema", "schema.block_id", None)
    assert fault.params == {"step": 0, "req_id": "A", "name": "new_block_ids.A[1][1]", "given": -1, "limit": 0}


@pytest.mark.parametrize(
    ("where", "entry"),
    [
        ("/steps/0/num_scheduled_tokens/A", "/steps/0/num_scheduled_tokens/A"),
        ("/steps/1/num_scheduled_tokens/0/1", "/steps/1/num_scheduled_tokens/0"),
    ],
)
def test_none_scheduled_is_repaired_by_not_scheduling(where: str, entry: str) -> None:
    fault = only_fault(at(where, 0))
    assert fault.fix == [{"op": "remove", "path": entry}]
    assert fault.params["req_id"] == "A"
    assert where not in [place for _, place in places(patched(at(where, 0), fault.fix))]


# ---- types

WRONG_TYPES: list[tuple[str, list[Any], str]] = [
    ("/title", [5, None, ["x"], True], "“title” must be text, not {given}."),
    ("/strict", [1, 0, "true", None], "“strict” must be true or false, not {given}."),
    ("/config", [None, [], 5], "“config” must be an object, not {given}."),
    ("/config/num_blocks", ["x", 8.5, True, None, [8], {}], "“num_blocks” must be a whole number, not {given}."),
    ("/config/kv_cache_groups", [{}, 16, None], "“kv_cache_groups” must be a list, not {given}."),
    ("/config/kv_cache_groups/0", [16, None, []], "“kv_cache_groups[0]” must be an object, not {given}."),
    ("/config/kv_cache_groups/0/name", [None, 1], "“kv_cache_groups[0].name” must be text, not {given}."),
    ("/config/context_parallel", [2, None], "“context_parallel” must be an object, not {given}."),
    (
        "/config/cudagraph/mode",
        ["ALL", None, 1],
        "“cudagraph.mode” must be one of NONE, PIECEWISE, FULL, FULL_DECODE_ONLY, FULL_AND_PIECEWISE, not {given}.",
    ),
    ("/config/cudagraph/capture_sizes", [4, {}], "“cudagraph.capture_sizes” must be a list, not {given}."),
    ("/config/block_pool/order", ["random", 1], "“block_pool.order” must be one of shuffled, ascending, not {given}."),
    ("/config/kv_cache/dtype", ["fp16"], "“kv_cache.dtype” must be one of float32, float16, bfloat16, fp8, not {given}."),
    ("/config/kv_cache/layout", ["NDH"], "“kv_cache.layout” must be one of NHD, HND, not {given}."),
    ("/requests", [{}, None, 3], "“requests” must be a list, not {given}."),
    ("/requests/0", ["A", None, []], "“requests[0]” must be an object, not {given}."),
    ("/requests/0/req_id", [1, None, ["A"]], "“req_id” must be text, not {given}."),
    ("/requests/0/prompt_len", ["x", 12.5, True, [1]], "“prompt_len” must be a whole number, not {given}."),
    ("/requests/1/prompt_token_ids", [5, {}, "x"], "“prompt_token_ids” must be a list, not {given}."),
    ("/requests/1/prompt_token_ids/1", ["x", 1.5, None], "“prompt_token_ids[1]” must be a whole number, not {given}."),
    ("/requests/2/initial", [5, [], True], "“initial” must be an object, not {given}."),
    (
        "/requests/2/initial/output_token_ids",
        ["x", {}, {"list": [1]}, {"count": 1}, None, True],
        "“initial.output_token_ids” must be a list of token ids or how many they are, not {given}.",
    ),
    (
        "/requests/2/initial/output_token_ids/0",
        ["x", [1], None],
        "“initial.output_token_ids[0]” must be a whole number, not {given}.",
    ),
    ("/requests/2/initial/block_ids/0", [5, {}, None], "“initial.block_ids[0]” must be a list, not {given}."),
    (
        "/requests/2/initial/block_ids/0/0",
        ["x", 1.5, True],
        "“initial.block_ids[0][0]” must be a whole number, not {given}.",
    ),
    ("/steps", [{}, None, 3], "“steps” must be a list, not {given}."),
    ("/steps/0", [1, None, []], "“steps[0]” must be an object, not {given}."),
    (
        "/steps/0/num_scheduled_tokens",
        [5, None, "A"],
        "“num_scheduled_tokens” must be an object of counts or a list of [req_id, count] pairs, not {given}.",
    ),
    (
        "/steps/0/num_scheduled_tokens/A",
        ["x", 1.5, True, None, []],
        "“num_scheduled_tokens.A” must be a whole number, not {given}.",
    ),
    (
        "/steps/1/num_scheduled_tokens/1",
        ["A", 5, ["A"], ["A", 1, 2], [], {"A": 1}, None],
        "“num_scheduled_tokens[1]” must be a pair [req_id, count], not {given}.",
    ),
    ("/steps/1/num_scheduled_tokens/1/0", [5, None, []], "“num_scheduled_tokens[1][0]” must be text, not {given}."),
    ("/steps/1/num_scheduled_tokens/1/1", ["x", None], "“num_scheduled_tokens[1][1]” must be a whole number, not {given}."),
    ("/steps/2/finished_req_ids", ["C", {}, None], "“finished_req_ids” must be a list, not {given}."),
    ("/steps/2/preempted_req_ids/0", [1, None, ["A"]], "“preempted_req_ids[0]” must be text, not {given}."),
    ("/steps/0/num_computed_tokens", [[], 5, [["A", 1]]], "“num_computed_tokens” must be an object, not {given}."),
    ("/steps/0/num_computed_tokens/A", ["x", None], "“num_computed_tokens.A” must be a whole number, not {given}."),
    ("/steps/0/new_block_ids", [[], 5], "“new_block_ids” must be an object, not {given}."),
    ("/steps/0/new_block_ids/A", [5, {}, None], "“new_block_ids.A” must be a list, not {given}."),
    ("/steps/0/new_block_ids/A/0", [5, {}, None], "“new_block_ids.A[0]” must be a list, not {given}."),
    ("/steps/0/new_block_ids/A/0/0", ["x", 1.5, True, []], "“new_block_ids.A[0][0]” must be a whole number, not {given}."),
    (
        "/steps/0/draft_token_ids/C",
        ["x", {}, {"list": 1}, None, 1.5],
        "“draft_token_ids.C” must be a list of token ids or how many they are, not {given}.",
    ),
    ("/steps/0/draft_token_ids/C/0", ["x", None], "“draft_token_ids.C[0]” must be a whole number, not {given}."),
    (
        "/steps/0/sampled_token_ids/C",
        ["x", {"count": 1}, None, True],
        "“sampled_token_ids.C” must be a list of token ids or how many they are, not {given}.",
    ),
]


@pytest.mark.parametrize(
    ("where", "value", "words"),
    [pytest.param(where, value, words, id=f"{where}={value!r}") for where, values, words in WRONG_TYPES for value in values],
)
def test_wrong_type(where: str, value: Any, words: str) -> None:
    fault = only_fault(at(where, value))
    is_name = "must be text" in words and type(value) is int  # a name that looks like a number
    fix = [{"op": "replace", "path": where, "value": str(value)}] if is_name else None
    assert (fault.code, fault.where, fault.fix) == ("schema", where, fix)
    shown = "[…]" if isinstance(value, list) and value else "{…}" if isinstance(value, dict) and value else json.dumps(value)
    assert sentence(fault) == words.format(given=shown)
    parts = where.split("/")
    if parts[1] == "steps" and len(parts) > 2:
        assert fault.params["step"] == int(parts[2])


@pytest.mark.parametrize(("given", "right"), [("8", 8), (8.0, 8), ("-3", -3)])
def test_a_number_in_disguise_is_refused_and_repaired(given: Any, right: int) -> None:
    for where in ("/config/num_blocks", "/steps/0/num_scheduled_tokens/A", "/steps/1/num_scheduled_tokens/0/1"):
        fault = only_fault(at(where, given))
        assert sentence(fault) == f"“{fault.params['name']}” must be a whole number, not {json.dumps(given)}."
        assert fault.fix == [{"op": "replace", "path": where, "value": right}]


def test_a_choice_in_other_letters_is_repaired() -> None:
    fault = only_fault(at("/config/kv_cache/layout", "nhd"))
    assert fault.fix == [{"op": "replace", "path": "/config/kv_cache/layout", "value": "NHD"}]


def test_a_long_value_is_shortened_in_the_sentence() -> None:
    fault = only_fault(at("/config/num_blocks", "x" * 1000))
    assert sentence(fault) == f'“num_blocks” must be a whole number, not "{"x" * 56}....'


@pytest.mark.parametrize(
    ("document", "given"), [(None, "null"), ([], "[]"), ([{}], "[…]"), ("x", '"x"'), (5, "5"), (True, "true")]
)
def test_no_object(document: Any, given: str) -> None:
    fault = only_fault(document)
    assert (fault.code, fault.where) == ("schema", "")
    assert sentence(fault) == f"A scenario is an object with version, requests and steps, not {given}."


# ---- version, and what must be there


@pytest.mark.parametrize(
    ("version", "given"),
    [(2, "2"), (0, "0"), ("1", '"1"'), (1.0, "1.0"), (True, "true"), (None, "null"), (10**30, "1" + 30 * "0")],
)
def test_version(version: Any, given: str) -> None:
    fault = only_fault(worked(version=version))
    assert (fault.code, fault.where) == ("schema", "/version")
    assert sentence(fault) == f"“version” must be 1, the only version of the format so far, not {given}."


def test_missing() -> None:
    assert [(fault.where, sentence(fault)) for fault in faults_of({})] == [
        ("/version", "“version” is missing."),
        ("/requests", "“requests” is missing."),
        ("/steps", "“steps” is missing."),
    ]
    document: Any = {}
    for fault in faults_of({}):
        document = patched(document, [dict(operation) for operation in fault.fix or ()])
    assert document == {"version": 1, "requests": [], "steps": []}
    assert faults_of(document) == []
    fault = only_fault(of([{"prompt_len": 3}]))
    assert (fault.where, sentence(fault), fault.fix) == ("/requests/0/req_id", "“req_id” is missing.", None)


# ---- lengths


@pytest.mark.parametrize(
    ("where", "good", "bad", "words"),
    [
        ("/title", "x" * 200, "x" * 201, "“title” has 201 characters; at most 200 are allowed."),
        ("/title", "😀" * 200, "😀" * 201, "“title” has 201 characters; at most 200 are allowed."),
        ("/description", "x" * 4000, "x" * 4001, "“description” has 4001 characters; at most 4000 are allowed."),
        ("/requests/0/req_id", "x" * 128, "x" * 129, "“req_id” has 129 characters; at most 128 are allowed."),
        ("/requests/0/req_id", " ", "", "“req_id” must not be empty."),
        ("/requests/1/prompt_token_ids", [0], [], "“prompt_token_ids” has 0 entries; at least 1 is needed."),
        (
            "/config/kv_cache_groups",
            blocks_of(*[16] * 8),
            blocks_of(*[16] * 9),
            "“kv_cache_groups” has 9 entries; at most 8 are allowed.",
        ),
        ("/config/kv_cache_groups", blocks_of(16), [], "“kv_cache_groups” has 0 entries; at least 1 is needed."),
        (
            "/config/kv_cache_groups/0/name",
            "x" * 128,
            "x" * 129,
            "“kv_cache_groups[0].name” has 129 characters; at most 128 are allowed.",
        ),
        (
            "/config/cudagraph/capture_sizes",
            [1] * 128,
            [1] * 129,
            "“cudagraph.capture_sizes” has 129 entries; at most 128 are allowed.",
        ),
        ("/steps", [{}] * 512, [{}] * 513, "“steps” has 513 entries; at most 512 are allowed."),
        (
            "/requests",
            [request(str(number)) for number in range(4096)],
            [request(str(number)) for number in range(4097)],
            "“requests” has 4097 entries; at most 4096 are allowed.",
        ),
        (
            "/steps/0/finished_req_ids",
            ["A"] * 4096,
            ["A"] * 4097,
            "“finished_req_ids” has 4097 entries; at most 4096 are allowed.",
        ),
        (
            "/steps/0/num_scheduled_tokens",
            [["A", 1]] * 4096,
            [["A", 1]] * 4097,
            "“num_scheduled_tokens” has 4097 entries; at most 4096 are allowed.",
        ),
        (
            "/steps/0/draft_token_ids",
            {str(number): 1 for number in range(4096)},
            {str(number): 1 for number in range(4097)},
            "“draft_token_ids” has 4097 entries; at most 4096 are allowed.",
        ),
    ],
)
def test_lengths(where: str, good: Any, bad: Any, words: str) -> None:
    assert fits(at(where, good))
    fault = only_fault(at(where, bad))
    assert (fault.code, fault.where) == ("schema", where)
    assert sentence(fault) == words


def test_no_requests_and_no_steps_is_a_scenario() -> None:
    assert faults_of({"version": 1, "requests": [], "steps": []}) == []
    assert faults_of({"version": 1, "requests": [], "steps": [{}]}) == []


# ---- names that are no fields

OBJECTS = {
    "": "version, title, description, start_step, strict, config, requests, steps",
    "/config": "max_num_reqs, max_num_batched_tokens, max_model_len, num_blocks, num_speculative_tokens, kv_cache_groups, "
    "context_parallel, cudagraph, block_pool, kv_cache",
    "/config/kv_cache_groups/1": "name, block_size, sliding_window",
    "/config/context_parallel": "size, rank, interleave",
    "/config/cudagraph": "mode, capture_sizes",
    "/config/block_pool": "order, seed",
    "/config/kv_cache": "num_layers, num_kv_heads, head_size, dtype, layout",
    "/requests/1": "req_id, prompt_len, prompt_token_ids, initial",
    "/requests/2/initial": "num_computed_tokens, output_token_ids, block_ids, req_state_idx",
    "/steps/2": "num_scheduled_tokens, finished_req_ids, preempted_req_ids, num_computed_tokens, new_block_ids, "
    "draft_token_ids, sampled_token_ids",
}


@pytest.mark.parametrize(("where", "fields"), OBJECTS.items())
def test_unknown_key(where: str, fields: str) -> None:
    scenario = at(f"{where}/zzz", None)
    fault = only_fault(scenario)
    assert (fault.code, fault.where) == ("unknown_key", f"{where}/zzz")
    assert sentence(fault) == f"“zzz” is not a field here. Fields: {fields}."
    assert fault.fix == [{"op": "remove", "path": f"{where}/zzz"}]
    assert faults_of(patched(scenario, fault.fix)) == []


def test_a_slip_of_the_pen_is_repaired() -> None:
    scenario = copy.deepcopy(FULL)
    scenario["config"]["num_block"] = scenario["config"].pop("num_blocks")
    fault = only_fault(scenario)
    assert sentence(fault) == "“num_block” is not a field here. Did you mean “num_blocks”?"
    assert fault.fix == [
        {"op": "add", "path": "/config/num_blocks", "value": 64},
        {"op": "remove", "path": "/config/num_block"},
    ]
    assert patched(scenario, fault.fix) == FULL


def test_a_field_that_is_there_already_is_not_suggested() -> None:
    fault = only_fault(at("/config/num_block", 5))
    assert fault.fix == [{"op": "remove", "path": "/config/num_block"}]
    assert fault.message == "unknown_key"


def test_unknown_keys_of_any_name() -> None:
    fault = only_fault(at("/config", {"a/b~c": 1, "max_num_reqs": 2}))
    assert (fault.where, fault.fix) == ("/config/a~1b~0c", [{"op": "remove", "path": "/config/a~1b~0c"}])


# ---- bounds that fields decide together


def test_start_step() -> None:
    fault = only_fault(worked(start_step=2))
    assert (fault.code, fault.where) == ("schema", "/start_step")
    assert sentence(fault) == "Step 2 is to be shown first, but the last step is 1."
    assert fault.fix == [{"op": "replace", "path": "/start_step", "value": 1}]
    fault = only_fault(worked(start_step=1, steps=[]))
    assert sentence(fault) == "Step 1 is to be shown first, but there are no steps: leave start_step at 0."
    assert faults_of(worked(start_step=0, steps=[])) == []


def test_rows_times_length() -> None:
    config = {"max_num_reqs": 4096, "max_model_len": 16_384}  # 2^12 * 2^14 = 2^26
    assert faults_of(one(**config)) == []
    scenario = one(**{**config, "max_model_len": 16_385})
    fault = only_fault(scenario)
    assert (fault.code, fault.where) == ("schema", "/config/max_model_len")
    assert sentence(fault) == (
        "max_num_reqs × max_model_len is 4096 × 16,385 = 67,112,960; at most 67,108,864 fit. "
        "With 4096 rows max_model_len can be 16,384."
    )
    assert faults_of(patched(scenario, [dict(operation) for operation in fault.fix or ()])) == []


def test_rows_times_columns() -> None:
    config = {"max_num_reqs": 16, "max_model_len": 2**20}
    assert faults_of(one(**config, kv_cache_groups=blocks_of(1))) == []  # 2^4 * 2^20 = 2^24
    fault = only_fault(one(**config, kv_cache_groups=blocks_of(1, 16_384)))  # and 2^4 * 2^6 more
    assert (fault.code, fault.where) == ("schema", "/config/kv_cache_groups")
    assert sentence(fault) == (
        "The block tables would have 16 rows × 1,048,640 columns = 16,778,240 entries; at most 16,777,216 fit. "
        "Use larger blocks, fewer rows or a shorter max_model_len."
    )
    # Two ranks share a block: half as many columns.
    assert faults_of(one(**config, kv_cache_groups=blocks_of(1, 1), context_parallel={"size": 2})) == []


def test_one_cause_one_fault_of_sizes() -> None:
    assert places(one(max_num_reqs=4096, max_model_len=2**20, kv_cache_groups=blocks_of(1))) == [
        ("schema", "/config/max_model_len")
    ]


def test_context_parallel() -> None:
    fault = only_fault(one(context_parallel={"size": 2, "rank": 2}))
    assert (fault.where, sentence(fault)) == (
        "/config/context_parallel/rank",
        "Rank 2 does not exist: with 2 ranks the last is 1.",
    )
    fault = only_fault(one(context_parallel={"interleave": 3}, kv_cache_groups=blocks_of(6, 16, 4)))
    assert (fault.where, sentence(fault)) == (
        "/config/context_parallel/interleave",
        "The interleave 3 does not divide 16, the block size of group 1.",
    )
    scenario = one(context_parallel={"size": 2}, kv_cache_groups=[{"sliding_window": 8}, {}, {"sliding_window": 9}])
    assert places(scenario) == [
        ("schema", "/config/kv_cache_groups/0/sliding_window"),
        ("schema", "/config/kv_cache_groups/2/sliding_window"),
    ]
    fault = faults_of(scenario)[0]
    assert sentence(fault) == (
        "Group 0 has a sliding window of 8; with context parallelism (2 ranks) windows are not supported."
    )
    assert fault.fix == [{"op": "replace", "path": "/config/kv_cache_groups/0/sliding_window", "value": None}]


def test_capture_sizes() -> None:
    fault = only_fault(one(cudagraph={"capture_sizes": [64, 65]}))
    assert (fault.where, sentence(fault)) == (
        "/config/cudagraph/capture_sizes/1",
        "The capture size 65 is above max_num_batched_tokens (64).",
    )
    assert fault.fix == [{"op": "remove", "path": "/config/cudagraph/capture_sizes/1"}]


def test_prompts() -> None:
    assert faults_of(one(prompt_len=127)) == []
    fault = only_fault(one(prompt_len=128))
    assert (fault.where, sentence(fault)) == (
        "/requests/0/prompt_len",
        "The prompt of A has 128 tokens; with max_model_len 128 at most 127 fit.",
    )
    assert fault.fix == [{"op": "replace", "path": "/requests/0/prompt_len", "value": 127}]
    fault = only_fault(of([{"req_id": "A", "prompt_token_ids": [1] * 128}]))
    assert (fault.where, fault.fix) == ("/requests/0/prompt_token_ids", None)
    fault = only_fault(of([{"req_id": "A"}]))
    assert (fault.where, sentence(fault)) == (
        "/requests/0",
        "A has no prompt: give prompt_len or prompt_token_ids.",
    )
    fault = only_fault(of([{"req_id": "A", "prompt_len": 2, "prompt_token_ids": [5, 6]}]))
    assert (fault.where, sentence(fault)) == (
        "/requests/0",
        "A has both prompt_len and prompt_token_ids: keep one of them.",
    )
    assert fault.fix == [{"op": "remove", "path": "/requests/0/prompt_len"}]


def test_null_where_absence_is_meant() -> None:
    """What may be left out as a whole may be null: the normalised form of no window."""
    nulls = {"initial": None, "prompt_token_ids": None}
    assert faults_of(of([{**request("A"), **nulls}], kv_cache_groups=[{"sliding_window": None}])) == []


def test_groups_of_block_ids() -> None:
    fault = only_fault(one(step({"A": 4}, new_block_ids={"A": [[1], [2]]})))
    assert (fault.where, sentence(fault)) == (
        "/steps/0/new_block_ids/A",
        "Give one list of block ids for each KV-cache group: 1, not 2.",
    )
    assert fault.params == {"step": 0, "req_id": "A", "given": 2, "num_groups": 1}
    fault = only_fault(one(initial={"block_ids": []}))
    assert (fault.where, sentence(fault)) == (
        "/requests/0/initial/block_ids",
        "Give one list of block ids for each KV-cache group: 1, not 0.",
    )


def test_a_request_twice_in_pairs() -> None:
    scenario = one(step([["A", 4], ["A", 4], ["A", 2]]))
    assert places(scenario) == [
        ("duplicate_key", "/steps/0/num_scheduled_tokens/1/0"),
        ("duplicate_key", "/steps/0/num_scheduled_tokens/2/0"),
    ]
    fault = faults_of(scenario)[0]
    assert sentence(fault) == "“A” is given twice here. Keep one of them."
    assert fault.fix == [{"op": "remove", "path": "/steps/0/num_scheduled_tokens/1"}]


def test_more_blocks_than_anybody_can_follow() -> None:
    """16 rows of a million blocks each, handed out again and again: bounded in all."""
    names = [str(number) for number in range(16)]
    again = step({}, preempted_req_ids=names)
    hits = dict.fromkeys(names, 2**20 - 4)
    scenario = of(
        [request(name, 2**20 - 2) for name in names],
        *[step(dict.fromkeys(names, 1), num_computed_tokens=hits), again] * 4,
        max_num_reqs=16,
        max_model_len=2**20,
        num_blocks=2**24,
        kv_cache_groups=blocks_of(1),
    )
    fault = only_fault(scenario)  # 16 * (2^20 - 3) blocks a time, for the third time in step 4
    assert (fault.code, fault.where) == ("schema", "/steps/4")
    assert sentence(fault) == (
        "Up to step 4, 50,331,504 blocks are taken from the pool; at most 33,554,432 are followed. "
        "Use larger blocks, fewer steps or smaller hits."
    )


# ---- several at once


def test_all_faults_of_form_are_reported_at_once() -> None:
    scenario = at("/config/num_blocks", "x")
    scenario["colour"] = "red"
    scenario["requests"][0]["prompt_len"] = 0
    scenario["steps"][1]["num_scheduled_tokens"] = [["A", 0], 5]
    scenario["steps"][2]["finished_req_ids"] = [1, 2]
    assert places(scenario) == [
        ("schema", "/config/num_blocks"),
        ("schema", "/requests/0/prompt_len"),
        ("schema", "/steps/1/num_scheduled_tokens/0/1"),
        ("schema", "/steps/1/num_scheduled_tokens/1"),
        ("schema", "/steps/2/finished_req_ids/0"),
        ("schema", "/steps/2/finished_req_ids/1"),
        ("unknown_key", "/colour"),
    ]


@pytest.mark.parametrize(
    "field",
    [
        {"new_block_ids": {"A": [["x"] * 300_000]}},
        {"new_block_ids": {"A": [1] * 500_000}},
        {"new_block_ids": {str(number): 1 for number in range(4096)}},
        {"draft_token_ids": {"A": [-2] * 300_000}},
        {"sampled_token_ids": {str(number): [-1] for number in range(4096)}},
        {"num_scheduled_tokens": {str(number): "" for number in range(4096)}},
        {"num_scheduled_tokens": [5] * 500_000},
        {"finished_req_ids": [5] * 500_000},
    ],
)
def test_a_megabyte_of_faults_is_a_hundred(field: Any) -> None:
    error = refusal(one({**step({}), **field}))
    assert error is not None
    assert len(error.faults) == 100
    assert {fault.code for fault in error.faults} == {"schema"}


def test_many_unknown_keys() -> None:
    error = refusal(worked(config={f"k{number}": 1 for number in range(50_000)}))
    assert error is not None
    assert (len(error.faults), error.num_faults) == (100, 50_000)
