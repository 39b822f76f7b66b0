"""Short links as a client sees them: made, opened, refused, switched off; each refusal with its own code and words."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from app.i18n import LANGUAGES
from app.scenario.format.parse import parse_scenario
from app.web.links.rate_limit import RateLimit, client_key
from tests.scenario.faults import worked

if TYPE_CHECKING:
    from fastapi.testclient import TestClient
    from httpx import Response

UNKNOWN = "0" * 14


def made(**settings: Any) -> TestClient:
    from fastapi.testclient import TestClient

    from app.main import create_app
    from app.settings import Settings

    return TestClient(create_app(Settings(device="cpu", **settings)))


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "links.sqlite3")


@pytest.fixture
def linker(path: str) -> Iterator[TestClient]:
    """A client of a server that keeps its links in a file of its own."""
    with made(links_path=path) as client:
        yield client


def refusal(response: Response, status: int, code: str) -> Any:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    body = response.json()
    assert body["title"]
    (error,) = body["errors"]
    assert error["code"] == code
    assert "{" not in error["message"]
    return error


def test_a_link_is_made_once_and_opened_for_ever(linker: TestClient) -> None:
    response = linker.post("/api/links", json=worked())
    assert response.status_code == 201
    assert response.json() == {"id": "q4dvf5xzca3g0s", "url": "http://testserver/s/q4dvf5xzca3g0s"}
    again = worked(title="", strict=True, start_step=0)
    again["steps"][0]["num_scheduled_tokens"] = [["B", 31], ["A", 16]]
    response = linker.post("/api/links", json=again)
    assert (response.status_code, response.json()["id"]) == (200, "q4dvf5xzca3g0s")
    opened = linker.get("/api/links/Q4DVF5XZCA3GOS).")
    assert opened.status_code == 200
    assert parse_scenario(opened.json()) == parse_scenario(worked())
    assert "max-age" in opened.headers["cache-control"]


def test_what_cannot_be_run_can_be_shared(linker: TestClient) -> None:
    impossible = worked()
    impossible["steps"][1]["num_scheduled_tokens"]["A"] = 9  # a chunk behind the end of the prompt
    name = linker.post("/api/links", json=impossible).json()["id"]
    assert parse_scenario(linker.get(f"/api/links/{name}").json()) == parse_scenario(impossible)


@pytest.mark.parametrize("body", [{}, {"version": 2, "requests": [], "steps": []}, {**worked(), "extra": 1}, [], "text"])
def test_what_is_no_scenario_is_not_kept(linker: TestClient, body: Any) -> None:
    response = linker.post("/api/links", json=body)
    assert response.status_code == 422
    assert response.json()["errors"][0]["code"] in {"schema", "unknown_key"}
    assert linker.post("/api/links", content=b"{").status_code == 400
    assert linker.post("/api/links", content=b" " * 1_048_577).status_code == 413


def test_yaml_is_taken_too(linker: TestClient) -> None:
    response = linker.post(
        "/api/links", content=b"version: 1\nrequests: []\nsteps: []\n", headers={"Content-Type": "application/yaml"}
    )
    assert response.status_code == 201


def test_an_unknown_id_says_so_in_the_readers_language(linker: TestClient) -> None:
    words = {refusal(linker.get(f"/api/links/{UNKNOWN}?lang={lang}"), 404, "unknown_link")["message"] for lang in LANGUAGES}
    assert len(words) == len(LANGUAGES)
    assert all(UNKNOWN in message for message in words)
    for odd in ("x", "%00", "a" * 2000, "é", "<script>", "0" * 14 + "u"):
        refusal(linker.get(f"/api/links/{odd}"), 404, "unknown_link")


def test_too_large_to_keep(linker: TestClient) -> None:
    noise = random.Random(0)
    ids = [noise.randrange(2**31) for _ in range(40_000)]
    response = linker.post("/api/links", json=worked(requests=[{"req_id": "A", "prompt_token_ids": ids}]))
    error = refusal(response, 413, "link_too_large_to_store")
    assert error["params"]["bytes"] > error["params"]["limit"] == 65_536


def test_a_full_store_opens_what_it_has(path: str) -> None:
    with made(links_path=path, max_links=1) as client:
        assert client.post("/api/links", json=worked()).status_code == 201
        assert refusal(client.post("/api/links", json=worked(title="Two")), 507, "links_full")["params"] == {"limit": 1}
        assert client.post("/api/links", json=worked()).status_code == 200


def test_switched_off(path: str) -> None:
    with made(links=False, links_path=path) as client:
        refusal(client.post("/api/links", json=worked()), 404, "links_off")
        refusal(client.get(f"/api/links/{UNKNOWN}"), 404, "links_off")
        assert client.post("/api/trace", json=worked()).status_code == 200
    assert not Path(path).exists()


def test_a_broken_file_switches_them_off(path: str) -> None:
    Path(path).write_bytes(b"no database " * 1000)
    with made(links_path=path) as client:
        refusal(client.post("/api/links", json=worked()), 404, "links_off")
        assert client.post("/api/trace", json=worked()).status_code == 200


def test_a_file_that_breaks_later_is_said(linker: TestClient, path: str, caplog: pytest.LogCaptureFixture) -> None:
    name = linker.post("/api/links", json=worked()).json()["id"]
    connection = sqlite3.connect(path)
    connection.execute("DROP TABLE links")
    connection.close()
    refusal(linker.get(f"/api/links/{name}"), 503, "links_unavailable")
    assert "short links cannot be reached" in caplog.text


def test_one_client_makes_so_many_and_then_waits(linker: TestClient) -> None:
    answers = [linker.post("/api/links", json=worked(title=str(number))) for number in range(61)]
    assert [answer.status_code for answer in answers] == [201] * 60 + [429]
    error = refusal(answers[-1], 429, "rate_limited")
    assert 0 < int(answers[-1].headers["retry-after"]) == error["params"]["seconds"] <= 30  # 120 an hour
    assert linker.get("/api/links/q4dvf5xzca3g0s").status_code == 404  # opening is not limited


def test_making_the_same_link_again_costs_nothing(linker: TestClient) -> None:
    assert {linker.post("/api/links", json=worked()).status_code for _ in range(70)} == {200, 201}


def test_who_made_too_many_still_gets_those_that_there_are(linker: TestClient) -> None:
    old = linker.post("/api/links", json=worked()).json()
    while linker.post("/api/links", json=worked(title=str(random.random()))).status_code == 201:
        pass
    answers = [linker.post("/api/links", json=worked()) for _ in range(3)]
    assert [(answer.status_code, answer.json()) for answer in answers] == [(200, old)] * 3
    refusal(linker.post("/api/links", json=worked(title="new")), 429, "rate_limited")  # nothing was given back


def test_links_begin_as_readers_see_them(path: str) -> None:
    with made(links_path=path) as client:
        hosts = {"example.org:8443": "http://example.org:8443", "[::1]:80": "http://[::1]:80"}
        hosts |= dict.fromkeys(("a b", "evil<script>", "x/y", "x@y", ""), "http://testserver:80")
        for host, base in hosts.items():
            answer = client.post("/api/links", json=worked(), headers={"Host": host})
            assert answer.json()["url"] == f"{base}/s/q4dvf5xzca3g0s", host
    with made(links_path=path, base_url="https://example.org/pagewalk", root_path="/pagewalk") as client:
        answer = client.post("/pagewalk/api/links", json=worked(), headers={"Host": "evil.example"})
        assert answer.json()["url"] == "https://example.org/pagewalk/s/q4dvf5xzca3g0s"


# ---- the bucket


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_bucket_empties_and_fills_again() -> None:
    clock = Clock()
    limit = RateLimit(burst=2, per_hour=60, clock=clock)
    assert [limit.take("a"), limit.take("a"), limit.take("a"), limit.take("b")] == [0, 0, 60, 0]
    clock.now += 59
    assert limit.take("a") == 1
    clock.now += 1
    assert [limit.take("a"), limit.take("a")] == [0, 60]
    limit.give_back("a")
    assert limit.take("a") == 0
    clock.now += 3600
    assert [limit.take("a"), limit.take("a"), limit.take("a")] == [0, 0, 60]  # never more than the burst


def test_many_clients_take_no_more_room_than_some() -> None:
    clock = Clock()
    limit = RateLimit(burst=2, per_hour=60, max_clients=100, clock=clock)
    for client in range(1000):
        limit.take(str(client))
    assert len(limit._buckets) == 100
    assert [limit.take("999"), limit.take("999")] == [0, 60]  # the latest are remembered
    clock.now += 3600
    limit.take("x")
    assert list(limit._buckets) == ["x"]  # full buckets are forgotten


def test_who_one_client_is() -> None:
    assert client_key("192.0.2.7") == client_key("::ffff:192.0.2.7") == "192.0.2.7"
    assert client_key("2001:db8::1") == client_key("2001:db8::ffff") != client_key("2001:db8:0:1::1")
    assert client_key("fe80::1%eth0") == "fe80::/64"
    assert client_key("testclient") == "testclient"
