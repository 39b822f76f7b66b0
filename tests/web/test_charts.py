"""`POST /api/charts`: figures hold the numbers of the trace, tables those of the figures, in both languages."""

from __future__ import annotations

import gzip
import re
from typing import TYPE_CHECKING, Any

import pytest

from app.examples import examples
from app.i18n import LANGUAGES
from app.trace.counts import block_owners

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

Scenario = dict[str, Any]
Json = dict[str, Any]

TWO_GROUPS = "two-groups-drafts-padding-preemption"


def answer(client: TestClient, scenario: Scenario, lang: str = "en") -> Json:
    response = client.post(f"/api/charts?lang={lang}", json=scenario)
    assert response.status_code == 200, response.text
    body: Json = response.json()
    return body


def charts(client: TestClient, scenario: Scenario, lang: str = "en") -> dict[str, Json]:
    return {chart["name"]: chart for chart in answer(client, scenario, lang)["charts"]}


def traces(chart: Json) -> dict[str, Json]:
    """Traces of a figure by role; those of owners by request."""
    return {trace["meta"].get("req_id", trace["meta"]["role"]): trace for trace in chart["figure"]["data"]}


def column(chart: Json, name: str) -> list[Any]:
    place = chart["table"]["columns"].index(name)
    return [row[place] for row in chart["table"]["rows"]]


def test_the_worked_example_in_numbers(client: TestClient) -> None:
    found = charts(client, examples()["worked-example"].scenario)
    assert list(found) == ["tokens", "pool", "blocks"]

    tokens = traces(found["tokens"])
    assert set(tokens) == {"prefill", "decode"}  # no drafts, no padding: no empty traces
    assert tokens["prefill"]["x"] == [0, 1]
    assert tokens["prefill"]["y"] == [31 + 16, 8]
    assert tokens["decode"]["y"] == [0, 1]
    assert found["tokens"]["readings"] == ["Step 0: 47 prefill", "Step 1: 8 prefill, 1 decode"]

    pool = traces(found["pool"])
    assert pool["used"]["y"] == [4, 4]
    assert pool["reserved"]["y"] == [2 * 128 // 16] * 2
    assert pool["filled"]["y"] == [47, 56]
    assert pool["waste"]["y"] == [64 - 47, 64 - 56]
    assert found["pool"]["readings"][1] == ("Step 1: 4 of 127 blocks used (reserving would take 16); 56 slots filled, 8 not")

    labels = labels_of(found["blocks"])
    assert list(labels.values()) == ["0", "1–11", "12", "13–36", "37", "38–43", "44", "45–80", "81", "82–127"]
    owners = traces(found["blocks"])
    assert set(owners) == {"B", "A", "null"}
    assert [labels[row] for row in owners["B"]["y"]] == ["12", "37"]
    assert [labels[row] for row in owners["A"]["y"]] == ["44", "81"]
    assert owners["A"]["base"] == [-0.5, -0.5]
    assert owners["A"]["x"] == [2, 2]
    assert owners["B"]["customdata"] == ["Block 12, steps 0–1: B", "Block 37, steps 0–1: B"]


def test_figures_hold_the_numbers_of_the_trace(client: TestClient, subtests: pytest.Subtests) -> None:
    for name in examples():
        with subtests.test(name):
            scenario = examples()[name].scenario
            found = charts(client, scenario)
            trace = client.post("/api/trace", json=scenario).json()
            kinds = traces(found["tokens"])
            for role, field in {"prefill": "prefill", "decode": "decode", "draft": "draft"}.items():
                counts = [step[f"num_{field}_tokens"] for step in trace["summary"]]
                assert kinds[role]["y"] == counts if role in kinds else not any(counts)
            padding = [step["num_tokens_padded"] - step["num_tokens"] for step in trace["summary"]]
            assert kinds["padding"]["y"] == padding if "padding" in kinds else not any(padding)

            pool = traces(found["pool"])
            usage = [step["kv_cache"] for step in trace["steps"]]
            assert pool["used"]["y"] == [step["num_used_blocks"] for step in usage]
            assert pool["filled"]["y"] == [sum(group["num_filled_slots"] for group in step["groups"]) for step in usage]
            assert pool["waste"]["y"] == [sum(group["num_waste_slots"] for group in step["groups"]) for step in usage]
            reserved = [sum(group["num_reserved_slots"] for group in step["groups"]) for step in usage]
            assert column(found["pool"], "slots if reserved") == reserved
            if len({group["block_size"] for group in usage[0]["groups"]}) == 1:
                size = usage[0]["groups"][0]["block_size"]
                assert pool["reserved"]["y"] == [slots // size for slots in reserved]

            for index, reading in enumerate(found["blocks"]["readings"]):
                step = usage[index]
                counts = (step["num_used_blocks"], step["num_stale_blocks"], step["num_blocks"] - step["num_used_blocks"])
                held, stale, free = (int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*(?= )", reading))
                assert (held, stale, free + stale) == counts


def test_a_shared_block_is_one_block(client: TestClient) -> None:
    """5 blocks of 4 slots, 15 filled; reserving 3 x 128 slots would take 96 blocks."""
    pool = charts(client, examples()["shared-prefix-blocks"].scenario)["pool"]
    assert pool["readings"][1] == ("Step 1: 5 of 31 blocks used (reserving would take 96); 15 slots filled, 5 not")


def test_tables_hold_the_numbers_of_the_figures(client: TestClient, subtests: pytest.Subtests) -> None:
    for name in examples():
        with subtests.test(name):
            found = charts(client, examples()[name].scenario)
            for trace in found["tokens"]["figure"]["data"]:
                assert column(found["tokens"], "step") == trace["x"]
                assert column(found["tokens"], trace["name"]) == trace["y"]
            for trace in found["pool"]["figure"]["data"]:
                assert column(found["pool"], trace["name"]) == trace["y"]
            assert [f"{share}%" for share in column(found["pool"], "% of the pool")] == traces(found["pool"])["used"][
                "customdata"
            ]

            table = found["blocks"]["table"]
            assert all(len(row) == len(table["columns"]) for row in table["rows"])
            drawn = sorted(cells_of_figure(found["blocks"]))
            assert drawn == sorted(cells_of_table(found["blocks"], num_rows_of(found["blocks"])))


def test_a_pool_with_many_blocks_is_drawn_as_a_map_for_each_step(client: TestClient) -> None:
    found = charts(client, examples()["256-requests"].scenario)["blocks"]
    (trace,) = found["figure"]["data"]
    assert trace["type"] == "heatmap"
    # 4,096 blocks in two steps: 64 lines of 64, and a blank cell behind those of each step
    assert found["description"] == "In each step the whole pool: ids run from left to right, then down."
    assert (len(trace["z"]), trace["meta"]["per_line"]) == (64, 64)
    assert {len(line) for line in trace["z"]} == {len(line) for line in trace["text"]} == {2 * 65}
    assert [trace["z"][0][0], trace["z"][0][64], trace["z"][63][129]] == [-3, None, None]
    assert labels_of(found) == {line + 0.5: str(64 * line) for line in range(0, 64, 4)}


def test_a_pool_too_large_for_that_is_drawn_in_parts(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_owners, "MAX_PARTS", 256)
    scenario = examples()["256-requests"].scenario
    found = charts(client, scenario)["blocks"]
    (trace,) = found["figure"]["data"]
    assert "A cell stands for 16 blocks" in found["description"]
    assert (len(trace["z"]), trace["meta"]["per_line"]) == (64, 4)
    assert sorted(cells_of_figure(found)) == sorted(cells_of_table(found, num_rows_of(found)))


def test_groups_are_told_apart_in_the_table(client: TestClient) -> None:
    scenario = examples()[TWO_GROUPS].scenario
    pool = charts(client, scenario)["pool"]
    names = [group["name"] for group in scenario["config"]["kv_cache_groups"]]
    filled = [column(pool, f"filled: {name}") for name in names]
    assert [sum(counts) for counts in zip(*filled, strict=True)] == traces(pool)["filled"]["y"]
    assert f"Slots of all {len(names)} groups together" in pool["description"]


def test_a_stopped_run_is_drawn_up_to_its_stop(client: TestClient) -> None:
    scenario = {
        "version": 1,
        "config": {"num_blocks": 3},
        "requests": [{"req_id": "A", "prompt_len": 40}],
        "steps": [{"num_scheduled_tokens": {"A": 20}}, {"num_scheduled_tokens": {"A": 20}}],
    }
    tokens = charts(client, scenario)["tokens"]
    assert traces(tokens)["prefill"]["y"] == [20]
    assert "step 1 and what follows are not computed" in tokens["description"]


def test_an_empty_schedule_has_empty_charts(client: TestClient) -> None:
    for chart in charts(client, {"version": 1, "requests": [], "steps": []}).values():
        assert chart["table"]["rows"] == chart["readings"] == []
        assert not any(trace["y"] for trace in chart["figure"]["data"])


def test_words_follow_the_language_and_numbers_do_not(client: TestClient) -> None:
    scenario = examples()[TWO_GROUPS].scenario
    english, chinese = (charts(client, scenario, lang) for lang in LANGUAGES)
    assert chinese["tokens"]["title"] == "每步的 token 数"
    assert chinese["tokens"]["figure"]["layout"]["xaxis"]["title"]["text"] == "步"
    for name, chart in english.items():
        assert chart["title"] != chinese[name]["title"]
        assert not re.search(r"chart\.|[{}]", chart["description"] + chinese[name]["description"])
        for here, there in zip(chart["figure"]["data"], chinese[name]["figure"]["data"], strict=True):
            assert (here["x"], here["y"]) == (there["x"], there["y"])


def test_names_of_requests_cannot_write_into_the_figure(client: TestClient) -> None:
    name = '<b style="x">%{y}</b> & co'
    scenario = {
        "version": 1,
        "requests": [{"req_id": name, "prompt_len": 4}],
        "steps": [{"num_scheduled_tokens": [[name, 4]]}, {"finished_req_ids": [name]}],
    }
    blocks = charts(client, scenario)["blocks"]
    owner, stale = traces(blocks)[name], traces(blocks)["stale"]
    assert owner["name"] == '&lt;b style="x"&gt;%{y}&lt;/b&gt; &amp; co'
    assert all("<" not in text for text in owner["customdata"] + stale["customdata"])
    assert name not in owner["hovertemplate"]
    assert name in column(blocks, "request")


def test_what_cannot_be_run_is_refused_as_by_the_trace(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    response = client.post("/api/charts", content=b"{")
    assert (response.status_code, response.json()["errors"][0]["code"]) == (400, "bad_json")
    wrong = {"version": 1, "requests": [], "steps": [{"num_scheduled_tokens": {"A": 1}}]}
    response = client.post("/api/charts?lang=zh", json=wrong)
    assert response.status_code == 422
    assert response.json() == client.post("/api/trace?lang=zh", json=wrong).json()
    monkeypatch.setattr(block_owners, "MAX_MOVES", 3)
    response = client.post("/api/charts", json=examples()["worked-example"].scenario)
    assert response.status_code == 413
    assert "hand out 4 blocks in all; the charts follow at most 3" in response.json()["detail"]


def test_the_script_is_served_from_the_package_and_cached_for_good(client: TestClient) -> None:
    script = answer(client, examples()["worked-example"].scenario)["script"]
    response = client.get(f"/{script['path']}", headers={"Accept-Encoding": "identity"})
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/javascript")
    assert "immutable" in response.headers["cache-control"]
    assert b"plotly.js" in response.content[:100]
    assert script["style_ids"][0] == "plotly.js-style-global"
    for name in script["style_ids"][1:]:
        assert f'getElementById("{name}")'.encode() in response.content
    zipped = client.get(f"/{script['path']}", headers={"Accept-Encoding": "gzip"})
    assert zipped.headers["content-encoding"] == "gzip"
    assert zipped.content == response.content
    assert len(gzip.compress(response.content, 1)) < len(response.content) / 2
    assert client.get("/vendor/plotly.min.js?v=0").headers["cache-control"] == "no-cache"


def labels_of(chart: Json) -> dict[float, str]:
    """What stands beside each row: place along the axis -> ids."""
    axis = chart["figure"]["layout"]["yaxis"]
    return dict(zip(axis["tickvals"], axis["ticktext"], strict=True))


def num_rows_of(chart: Json) -> dict[str, int]:
    """Row of the figure by label, in the order of the table."""
    return {label: row for row, label in enumerate(dict.fromkeys(column(chart, "blocks")))}


def cells_of_table(chart: Json, rows: dict[str, int]) -> list[tuple[int, int, str]]:
    """(row, step, what the figure shows) of every cell, free ones left out."""
    columns = (column(chart, name) for name in ("blocks", "from step", "to step", "state", "request"))
    return [
        (rows[label], step, request if state == "held" else state)
        for label, first, last, state, request in zip(*columns, strict=True)
        for step in range(first, last + 1)
        if state != "free"
    ]


def cells_of_figure(chart: Json) -> list[tuple[int, int, str]]:
    cells: list[tuple[int, int, str]] = []
    for trace in chart["figure"]["data"]:
        if trace["type"] == "bar":
            shown = trace["meta"].get("req_id", trace["name"])
            rows = [list(labels_of(chart)).index(place) for place in trace["y"]]
            for row, base, length in zip(rows, trace["base"], trace["x"], strict=True):
                first = int(base + 0.5)
                cells += [(row, step, shown) for step in range(first, first + length)]
            continue
        words = {-2: "stale", -3: "null block", -4: "several requests", **dict(trace["meta"]["owners"])}
        per_line = trace["meta"]["per_line"]
        per_step = round(1 / trace["dx"])
        for line, values in enumerate(trace["z"]):
            cells += [
                (line * per_line + place % per_step, place // per_step, words[value])
                for place, value in enumerate(values)
                if value is not None and value != -1
            ]
    return cells
