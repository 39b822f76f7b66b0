"""`POST /api/trace` and its neighbours as a client sees them: numbers, windows, languages, errors; never a 500."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.scenario.faults import blocks_of, of, one, request, step, worked

if TYPE_CHECKING:
    from fastapi.testclient import TestClient
    from httpx import Response

PROBLEM = "application/problem+json"


def post(client: TestClient, scenario: Any, query: str = "", **headers: str) -> Any:
    """The trace of a scenario that must have one."""
    response = client.post(f"/api/trace{query}", json=scenario, headers=headers)
    assert response.status_code == 200, response.text
    return response.json()


def problem(response: Response, status: int) -> Any:
    """The errors of an answer that must be a problem."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == PROBLEM
    assert response.headers["cache-control"] == "no-store"
    document = response.json()
    assert set(document) == {"type", "title", "status", "detail", "errors"}
    assert document["status"] == status
    assert document["type"].startswith(("urn:pagewalk:problem:", "about:blank"))
    assert document["title"]
    assert document["detail"]
    for error in document["errors"]:
        assert set(error) == {"where", "code", "message", "params", "fix"}
        assert not re.search(r"\{\w+\}", error["message"])
    return document["errors"]


def codes(errors: Any) -> list[tuple[str, str]]:
    return [(error["code"], error["where"]) for error in errors]


# ---- the trace


def test_the_worked_example(client: TestClient) -> None:
    trace = post(client, worked(title="One decode, one prefill chunk", start_step=1))
    assert set(trace) == {"version", "scenario", "engine", "constants", "summary", "steps", "stopped"}
    assert (trace["version"], trace["stopped"]) == (1, None)
    assert trace["engine"]["mirrors"] == "vllm 0.33.0"
    traced = trace["steps"][1]
    values = {name: space["values"] for name, space in traced["spaces"].items()}
    assert traced["req_ids"] == ["B", "A"]
    assert traced["req_id_to_index"] == {"B": 7, "A": 6}
    assert traced["free_indices"] == [0, 1, 2, 3, 4, 5]
    assert values["idx_mapping"] == [7, 6]
    assert values["query_start_loc"] == [0, 1, 9]
    assert values["positions"] == [31, *range(16, 24)]
    assert values["seq_lens"] == [32, 24]
    assert values["input_ids"] == [1031, *range(2016, 2024)]
    assert values["slot_mappings"] == [[207, *range(704, 712)]]  # 12 * 16 + 15; 44 * 16 + 0..7
    assert traced["spaces"]["slot_mappings"]["dims"] == ["group", "flat_token_idx_padded"]
    assert all(check["holds"] for check in traced["checks"])
    assert [(line["index"], line["num_reqs"], line["num_tokens"]) for line in trace["summary"]] == [(0, 2, 47), (1, 2, 9)]


def test_pairs_and_objects_are_the_same(client: TestClient) -> None:
    pairs = worked()
    for one_step in pairs["steps"]:
        one_step["num_scheduled_tokens"] = [list(pair) for pair in one_step["num_scheduled_tokens"].items()]
    assert post(client, pairs) == post(client, worked())


def test_the_normalised_scenario_has_every_default(client: TestClient) -> None:
    scenario = post(client, worked())["scenario"]
    assert scenario["steps"][0]["num_scheduled_tokens"] == [["B", 31], ["A", 16]]
    assert scenario["steps"][1]["sampled_token_ids"] == {"B": [1032], "A": [2024]}
    assert (scenario["title"], scenario["start_step"], scenario["strict"]) == ("", 0, True)
    assert scenario["config"] == {
        "max_num_reqs": 8,
        "max_num_batched_tokens": 64,
        "max_model_len": 128,
        "num_blocks": 128,
        "num_speculative_tokens": 0,
        "kv_cache_groups": [{"name": "full", "block_size": 16, "sliding_window": None}],
        "context_parallel": {"size": 1, "rank": 0, "interleave": 1},
        "cudagraph": {"mode": "NONE", "capture_sizes": []},
        "block_pool": {"order": "shuffled", "seed": 0},
        "kv_cache": {"num_layers": 32, "num_kv_heads": 8, "head_size": 128, "dtype": "float16", "layout": "NHD"},
    }
    assert scenario["requests"] == worked()["requests"]


def test_order_of_integer_like_names_survives(client: TestClient) -> None:
    body = (
        b'{"version":1,"requests":[{"req_id":"10","prompt_len":4},{"req_id":"9","prompt_len":4}],'
        b'"steps":[{"num_scheduled_tokens":{"10":4,"9":4}}]}'
    )
    trace = client.post("/api/trace", content=body).json()
    assert trace["scenario"]["steps"][0]["num_scheduled_tokens"] == [["10", 4], ["9", 4]]
    assert trace["steps"][0]["req_ids"] == ["10", "9"]


@pytest.mark.parametrize("name", ["worked", "pool", "preempted", "speculation", "initial", "lenient", "empty"])
def test_the_normalised_scenario_gives_the_same_trace(client: TestClient, name: str) -> None:
    preempted = [step({"A": 24, "B": 24}), step({"B": 1}, preempted_req_ids=["A"]), step({"A": 25, "B": 1})]
    scenario = {
        "worked": worked(),
        "pool": one(step({"A": 20}), step({"A": 4}), step({"A": 1})),
        "preempted": of([request("A"), request("B")], *preempted),
        "speculation": one(
            step({"A": 24}),
            step({"A": 3}, draft_token_ids={"A": 2}, sampled_token_ids={"A": 2}),
            step({}, finished_req_ids=["A"]),
            num_speculative_tokens=2,
        ),
        "initial": of([request("A", initial={"output_token_ids": 2}), request("B", initial={})], step({"B": 3, "A": 1})),
        "lenient": {**one(step({"A": 24}, new_block_ids={"A": [[]]}), step({"A": 1})), "strict": False},
        "empty": {"version": 1, "requests": [], "steps": [{}]},
    }[name]
    trace = post(client, scenario)
    again = post(client, trace["scenario"])
    assert again["scenario"] == trace["scenario"]
    assert again == trace


def test_a_normalised_window_is_a_scenario(client: TestClient) -> None:
    """Steps outside the window stay as they were sent."""
    trace = post(client, one(step({"A": 20}), step({"A": 4}), step({"A": 1})), "?first=1&last=1")
    steps = trace["scenario"]["steps"]
    assert [one_step["sampled_token_ids"] for one_step in steps] == [{}, {"A": [1024]}, {}]
    assert steps[2]["num_scheduled_tokens"] == [["A", 1]]
    post(client, trace["scenario"])


# ---- windows


def four_steps() -> Any:
    return one(step({"A": 8}), step({"A": 8}), step({}), step({"A": 8}))


@pytest.mark.parametrize("first", [None, 0, 1, 3, 4, 999])
@pytest.mark.parametrize("last", [None, -1, 0, 2, 3, 4, 999_999_999])
def test_windows(client: TestClient, first: int | None, last: int | None) -> None:
    query = "&".join(f"{key}={value}" for key, value in (("first", first), ("last", last)) if value is not None)
    whole = post(client, four_steps())
    trace = post(client, four_steps(), f"?{query}")
    low, high = first or 0, 3 if last is None else last
    assert trace["steps"] == [one_step for one_step in whole["steps"] if low <= one_step["index"] <= high]
    assert trace["summary"] == whole["summary"]
    assert [line["index"] for line in trace["summary"]] == [0, 1, 2, 3]


@pytest.mark.parametrize("query", ["first=0&last=", "last=", "first=", "first=&last="])
def test_an_empty_last_is_the_default(client: TestClient, query: str) -> None:
    assert len(post(client, four_steps(), f"?{query}")["steps"]) == 4


@pytest.mark.parametrize("digits", [10, 5000])
def test_a_last_of_many_digits_is_clipped(client: TestClient, digits: int) -> None:
    assert len(post(client, four_steps(), "?last=" + "9" * digits)["steps"]) == 4


@pytest.mark.parametrize("value", ["-2", "x", "1.0", "+1", " 1", "1e3", "٣", "--1", "-", "%00", "0x1", "null"])
@pytest.mark.parametrize(("name", "limit"), [("first", 0), ("last", -1)])
def test_windows_that_are_none(client: TestClient, name: str, limit: int, value: str) -> None:
    (error,) = problem(client.post(f"/api/trace?{name}={value.replace('+', '%2B')}", json=four_steps()), 422)
    assert (error["code"], error["where"]) == ("schema", "")
    assert error["message"].startswith(f"The query parameter “{name}” must be a whole number of at least {limit}, not “")


def test_first_has_no_minus_one(client: TestClient) -> None:
    problem(client.post("/api/trace?first=-1", json=four_steps()), 422)


# ---- bodies that are no scenario


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"{",
        b"not json",
        b"\xff\xfe{}",
        b'{"version": NaN}',
        b'{"version": ' + b"1" * 5000 + b"}",
        b"[" * 200_000,
        b'{"a":' * 200_000,
        b'"' + b"\\" * 1001,
        b"\x00" * 100,
        b"--boundary\r\nContent-Disposition: form-data\r\n\r\n{}\r\n--boundary--",
        b"a=1&b=2",
    ],
    ids=lambda body: repr(body[:16]),
)
def test_unreadable_bodies(client: TestClient, body: bytes) -> None:
    (error,) = problem(client.post("/api/trace", content=body), 400)
    assert (error["code"], error["where"], error["fix"]) == ("bad_json", "", None)


@pytest.mark.parametrize("body", [b"null", b"[]", b"5", b'"x"', b"true", b"1e999", b"-0.0", b'"\\ud83d\\ude00"'])
def test_json_that_is_no_object(client: TestClient, body: bytes) -> None:
    (error,) = problem(client.post("/api/trace", content=body), 422)
    assert (error["code"], error["where"]) == ("schema", "")


@pytest.mark.parametrize("value", [2**31, 2**63, 2**64, -(2**64), 10**4000, 1e308, "1" * 4000])
@pytest.mark.parametrize(
    "where", ["/config/num_blocks", "/start_step", "/steps/1/num_scheduled_tokens/A", "/version", "/title"]
)
def test_huge_numbers(client: TestClient, where: str, value: Any) -> None:
    scenario = worked(config={}, start_step=0, title="")
    node = scenario
    *keys, last = where.split("/")[1:]
    for key in keys:
        node = node[int(key)] if isinstance(node, list) else node[key]
    node[last] = value
    errors = problem(client.post("/api/trace", content=json.dumps(scenario)), 422)
    assert codes(errors) == [("schema", where)]


def test_infinity_by_exponent(client: TestClient) -> None:
    body = json.dumps(worked(start_step=5)).replace(
        '"start_step": 5', '"start_step": 1e999, "stepz": 1e999, "confi": ' + "9" * 30
    )
    errors = problem(client.post("/api/trace", content=body), 422)
    assert codes(errors) == [("schema", "/start_step"), ("unknown_key", "/stepz"), ("unknown_key", "/confi")]
    assert errors[2]["message"] == "“confi” is not a field here. Did you mean “config”?"
    assert errors[2]["fix"] == [{"op": "remove", "path": "/confi"}]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"version":1,"title":"\\ud800","requests":[],"steps":[]}', [("schema", "/title")]),
        (b'{"version":1,"\\udc00":1,"requests":[],"steps":[]}', [("schema", "/?")]),
        (
            b'{"version":1,"requests":[{"req_id":"\\ud800","prompt_len":1}],"steps":[{"new_block_ids":{"\\ud800":[[1]]}}]}',
            [("schema", "/requests/0/req_id"), ("schema", "/steps/0/new_block_ids/?")],
        ),
    ],
)
def test_lone_surrogates(client: TestClient, body: bytes, expected: Any) -> None:
    assert codes(problem(client.post("/api/trace", content=body), 422)) == expected


def test_a_byte_order_mark(client: TestClient) -> None:
    response = client.post("/api/trace", content=b"\xef\xbb\xbf" + json.dumps(worked()).encode())
    assert response.json() == post(client, worked())


@pytest.mark.parametrize("content_type", ["text/plain", "application/xml", "", "application/json; charset=utf-16"])
def test_the_body_decides_not_its_type(client: TestClient, content_type: str) -> None:
    response = client.post("/api/trace", content=json.dumps(worked()), headers={"Content-Type": content_type})
    assert response.status_code == 200


def test_duplicate_keys(client: TestClient) -> None:
    body = b'{"version":1,"requests":[],"steps":[{"num_scheduled_tokens":{"A":1,"A":2}}],"version":1}'
    errors = problem(client.post("/api/trace", content=body), 422)
    assert codes(errors) == [("duplicate_key", "/version"), ("duplicate_key", "/steps/0/num_scheduled_tokens/A")]


@pytest.mark.parametrize("with_length", [True, False])
def test_two_mebibytes(client: TestClient, with_length: bool) -> None:
    body = b'{"title": "' + b"x" * 2_097_152 + b'"}'

    def chunks() -> Iterator[bytes]:
        for start in range(0, len(body), 65_536):
            yield body[start : start + 65_536]

    (error,) = problem(client.post("/api/trace", content=body if with_length else chunks()), 413)
    assert (error["code"], error["where"]) == ("body_too_large", "")
    assert error["params"]["limit"] == 1_048_576
    if with_length:
        assert error["message"] == (
            "The body has 2,097,165 bytes; at most 1,048,576 are read. Send fewer requests, steps or explicit ids."
        )


def test_two_mebibytes_over_a_socket(live_server: str) -> None:
    """The server answers without reading on, and is there for the next one."""
    import http.client
    from urllib.parse import urlsplit

    address = urlsplit(live_server)
    body = b"x" * 2_097_152
    for chunked in (False, True):
        connection = http.client.HTTPConnection(str(address.hostname), address.port, timeout=20)
        try:
            connection.request("POST", "/api/trace", iter([body[:1_100_000]]) if chunked else body, encode_chunked=chunked)
            response = connection.getresponse()
            assert response.status == 413
            assert json.loads(response.read())["errors"][0]["code"] == "body_too_large"
        except (BrokenPipeError, ConnectionResetError):
            assert not chunked  # the client was still sending what nobody reads
        finally:
            connection.close()
    connection = http.client.HTTPConnection(str(address.hostname), address.port, timeout=20)
    connection.request("POST", "/api/trace", json.dumps(worked()))
    assert connection.getresponse().status == 200
    connection.close()


def test_a_body_of_exactly_one_mebibyte(client: TestClient) -> None:
    start, end = b'{"version":1,"requests":[],"steps":[]', b"}"
    body = start + b" " * (1_048_576 - len(start) - len(end)) + end
    assert client.post("/api/trace", content=body).status_code == 200
    problem(client.post("/api/trace", content=body + b" "), 413)


# ---- faults


def test_faults_have_all_they_need(client: TestClient) -> None:
    scenario = worked()
    scenario["steps"][1]["num_scheduled_tokens"] = [["B", 1], ["A", 40]]
    response = client.post("/api/trace", json=scenario)
    errors = problem(response, 422)
    assert response.json()["title"] == "The scenario cannot be run"
    assert response.json()["detail"] == errors[0]["message"]
    assert errors == [
        {
            "where": "/steps/1/num_scheduled_tokens/1/1",
            "code": "chunk",
            "message": "A has 24 tokens to prefill and 16 computed: 8 left, but 40 scheduled. Use at most 8.",
            "params": {
                "step": 1,
                "req_id": "A",
                "num_scheduled_tokens": 40,
                "num_drafts": 0,
                "num_computed_tokens": 16,
                "prefill_len": 24,
                "remaining": 8,
                "chunk": 40,
                "reached": 56,
                "right": 8,
            },
            "fix": [{"op": "replace", "path": "/steps/1/num_scheduled_tokens/1/1", "value": 8}],
        }
    ]


def test_many_faults(client: TestClient) -> None:
    scenario = one(*[step({}, finished_req_ids=["X", "Y"])] * 100)
    response = client.post("/api/trace", json=scenario)
    errors = problem(response, 422)
    assert len(errors) == 100
    assert response.json()["detail"] == "Step 0 names “X”, but there is no such request. (199 more)"


# ---- more than can be answered


def test_a_window_that_is_too_large_names_one_that_fits(client: TestClient) -> None:
    """4,096 rows and their 24 values each: 98,304 in a step, so 42 steps are fewer than 4,194,304 and 43 are more."""
    scenario = of([request("A")], *[step({})] * 60, max_num_reqs=4096, num_speculative_tokens=16)
    (error,) = problem(client.post("/api/trace?first=7", json=scenario), 413)
    assert (error["code"], error["where"]) == ("response_too_large", "")
    params = error["params"]
    assert params["limit"] == 4_194_304
    assert params["first"] == 7
    last = params["last"]
    assert error["message"] == (
        f"From step 7 on there are more than 4,194,304 values. Steps 7 to {last} fit: ask for them with first=7&last={last}."
    )
    trace = post(client, scenario, f"?first=7&last={last}")
    assert [one_step["index"] for one_step in trace["steps"]] == list(range(7, last + 1))
    problem(client.post(f"/api/trace?first=7&last={last + 1}", json=scenario), 413)


def test_a_step_that_is_too_large_alone(client: TestClient) -> None:
    """A table of a million blocks, in both of its buffers and in the KV cache."""
    scenario = one(
        step({"A": 1}, num_computed_tokens={"A": 2**20 - 4}),
        prompt_len=2**20 - 2,
        max_model_len=2**20,
        num_blocks=2**21,
        kv_cache_groups=blocks_of(1),
    )
    (error,) = problem(client.post("/api/trace", json=scenario), 413)
    assert error["message"] == "Step 0 alone holds more than 4,194,304 values. Ask for the summary alone with last=-1."
    assert error["params"]["last"] == -1
    trace = post(client, scenario, "?last=-1")
    assert trace["steps"] == []
    assert trace["summary"][0]["num_used_blocks"] == 2**20 - 3


# ---- languages


@pytest.mark.parametrize(
    ("query", "accept", "language"),
    [
        ("", None, "en"),
        ("", "zh", "zh"),
        ("", "zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("", "en-US,zh;q=0.9", "en"),
        ("", "fr,zh;q=0.5,en;q=0.4", "zh"),
        ("", "fr", "en"),
        ("", "zh;q=0", "en"),
        ("", "*", "en"),
        ("", ";;;q=,,zh;q=x", "en"),
        ("", "ZH-hans", "zh"),
        ("?lang=zh", "en", "zh"),
        ("?lang=en", "zh", "en"),
        ("?lang=fr", "zh", "zh"),
        ("?lang=", "zh", "zh"),
        ("?lang=%FF&lang=zh", None, "zh"),
    ],
)
def test_language(client: TestClient, query: str, accept: str | None, language: str) -> None:
    headers = {} if accept is None else {"Accept-Language": accept}
    response = client.post(f"/api/trace{query}", content=b"", headers=headers)
    (error,) = problem(response, 400)
    assert response.headers["content-language"] == language
    assert "Accept-Language" in response.headers["vary"]
    expected = {"en": "The body is empty.", "zh": "请求体为空。"}[language]
    assert error["message"].startswith(expected)
    assert response.json()["title"] == {"en": "Not readable", "zh": "无法读取"}[language]


def test_checks_and_stops_come_in_the_readers_language(client: TestClient) -> None:
    trace = post(client, one(step({"A": 8}), step({"A": 16}), num_blocks=2), "?lang=zh")
    assert all(re.search(r"[\u4e00-\u9fff]", check["message"]) for check in trace["steps"][0]["checks"])
    assert trace["stopped"]["message"] == "第 1 步需要从块池取 1 个块，但只剩 0 个：这一步及其后都不计算。"


# ---- other origins, methods and addresses


@pytest.mark.parametrize(("body", "status"), [(json.dumps(worked()), 200), ("{", 400), ('{"version": 2}', 422)])
def test_other_origins_may_read(client: TestClient, body: str, status: int) -> None:
    response = client.post("/api/trace", content=body, headers={"Origin": "https://elsewhere.example"})
    assert response.status_code == status
    assert response.headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-credentials" not in response.headers


def test_other_origins_may_ask_first(client: TestClient) -> None:
    headers = {"Origin": "https://elsewhere.example", "Access-Control-Request-Method": "POST"}
    headers["Access-Control-Request-Headers"] = "content-type"
    response = client.options("/api/trace", headers=headers)
    assert response.status_code == 200
    assert response.headers["access-control-allow-origin"] == "*"
    assert "POST" in response.headers["access-control-allow-methods"]
    headers["Access-Control-Request-Method"] = "DELETE"
    assert client.options("/api/trace", headers=headers).status_code == 400


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/api/nothing",
        "/api/examples/nothing",
        "/api/examples/%2e%2e%2fmodel",
        "/api/examples/%ff%00",
        "/static/x",
    ],
)
def test_no_such_address(client: TestClient, path: str) -> None:
    (error,) = problem(client.get(path), 404)
    assert (error["code"], error["where"], error["fix"]) == ("not_found", "", None)


def test_no_such_example_is_said_by_name(client: TestClient) -> None:
    (error,) = problem(client.get("/api/examples/worked-exampel"), 404)
    assert error["message"] == "There is no example called “worked-exampel”."
    (error,) = problem(client.get("/api/examples/" + "x" * 5000 + "?lang=zh"), 404)
    assert len(error["message"]) < 200


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/api/trace", "POST"),
        ("PUT", "/api/trace", "POST"),
        ("DELETE", "/api/trace", "POST"),
        ("OPTIONS", "/api/trace", "POST"),
        ("POST", "/api/examples", "GET"),
        ("POST", "/healthz", "GET"),
        ("PATCH", "/api/spaces", "GET"),
    ],
)
def test_other_methods(client: TestClient, method: str, path: str, allowed: str) -> None:
    response = client.request(method, path)
    (error,) = problem(response, 405)
    assert error["code"] == "method"
    assert allowed in response.headers["allow"]
    assert error["message"] == f"This address does not take {method}. It takes {response.headers['allow']}."


@pytest.mark.parametrize(
    "path", ["/", "/api/trace", "/api/examples", "/api/spaces", "/healthz", "/docs", "/openapi.json", "/nothing"]
)
def test_head(client: TestClient, path: str) -> None:
    assert client.head(path).status_code in (200, 404, 405)


# ---- what the rest answers


def test_the_gallery_speaks_the_language_asked_for(client: TestClient) -> None:
    first = client.get("/api/examples?lang=zh").json()[0]
    assert (first["name"], first["title"], first["group"]) == ("worked-example", "一个解码，一个预填充分块", "入门")
    by_header = client.get("/api/examples/worked-example", headers={"Accept-Language": "zh-CN"})
    assert "Accept-Language" in by_header.headers["vary"]
    assert first["question"].startswith("B 的 token 写入哪个槽位") and first["answer"].startswith("槽位 207")
    assert by_header.json()["title"] == first["title"]
    assert client.get("/api/examples/worked-example?lang=en").json()["title"] == "One decode, one prefill chunk"


def test_every_example_can_be_traced(client: TestClient) -> None:
    listed = client.get("/api/examples").json()
    assert listed
    for entry in listed:
        assert set(entry) == {"name", "title", "description", "group", "question", "answer", "place", "size", "sketch"}
        assert set(entry["place"]) == {"stage", "pin"}
        scenario = client.get(f"/api/examples/{entry['name']}").json()
        assert scenario["title"] == entry["title"]
        trace = post(client, scenario)
        assert len(trace["summary"]) == len(scenario["steps"]) or trace["stopped"]
        if trace["stopped"] is None:
            assert post(client, trace["scenario"]) == trace


def test_a_small_picture_of_each_schedule_comes_with_the_gallery(client: TestClient) -> None:
    listed = {entry["name"]: entry for entry in client.get("/api/examples").json()}
    worked, large = listed["worked-example"], listed["256-requests"]
    assert worked["size"] == {"requests": 2, "steps": 2, "groups": 1}
    assert worked["sketch"] == [[31, 1], [16, 8]]  # B, then A
    assert large["size"]["requests"] == 256
    assert len(large["sketch"]) == 8


def test_health(client: TestClient) -> None:
    assert client.get("/healthz").json()["status"] == "ok"


def test_documentation_names_no_other_host(client: TestClient) -> None:
    page = client.get("/docs")
    assert page.status_code == 200
    assert not re.search(r"(?:https?:)?//[\w.-]+\.\w+", page.text)
    schema = client.get("/openapi.json")
    assert schema.status_code == 200
    assert not re.search(r"https?://", schema.text)
    for url in re.findall(r'(?:src|href)="([^"]+)"', page.text):
        assert client.get(url).status_code == 200, url


def test_documentation_describes_scenario_and_problem(client: TestClient) -> None:
    schema = client.get("/openapi.json").json()
    schemas = schema["components"]["schemas"]
    assert {"Scenario", "Request", "Step", "Config", "Problem"} <= set(schemas)
    for reference in re.findall(r'"\$ref": ?"#/components/schemas/(\w+)"', json.dumps(schema)):
        assert reference in schemas
    answers = schema["paths"]["/api/trace"]["post"]["responses"]
    assert {"200", "400", "413", "422"} <= set(answers)


def test_the_json_schema_takes_what_the_server_takes(client: TestClient) -> None:
    """Its bounds are those that single fields have."""
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    assert schemas["Config"]["properties"]["max_num_reqs"] == {
        "default": 8,
        "maximum": 4096,
        "minimum": 1,
        "title": "Max Num Reqs",
        "type": "integer",
    }
    scheduled = schemas["Step"]["properties"]["num_scheduled_tokens"]
    assert [option["type"] for option in scheduled["anyOf"]] == ["object", "array"]
