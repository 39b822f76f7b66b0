"""What a pasted link shows: the tags of the page's head, and the picture. Nothing in a scenario can break either."""

from __future__ import annotations

import html
import io
import random
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from app.examples import examples
from app.scenario.format.link import encode_link
from app.web.identity import identities
from app.web.pages.unfurl import MAX_LINK_LENGTH
from app.web.picture import og
from app.web.picture.canvas import HEIGHT, WIDTH
from app.web.picture.content import MAX_CELLS, MAX_COST, Card, cost_of, make_card
from app.web.picture.drawing import drawable_language, fonts, render
from app.web.picture.lettering import Lettering
from app.web.picture.palette import tokens
from tests.scenario.faults import of, request, step, worked
from tests.strategies import invalid_scenarios, valid_scenarios

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

CPU = torch.device("cpu")
ASCII_ONLY = Lettering(2, more_fonts=())  # as on a machine without fonts of its own


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A client of a server behind a proxy, whose address is not the one it listens at."""
    from fastapi.testclient import TestClient

    from app.main import create_app
    from app.settings import Settings

    path = str(tmp_path_factory.mktemp("unfurl") / "links.sqlite3")
    found = Settings(device="cpu", base_url="https://example.org/walk", root_path="/walk", links_path=path)
    with TestClient(create_app(found)) as client:
        yield client


def head(client: TestClient, path: str, status: int = 200) -> dict[str, str]:
    """Tags of a page by property, name or rel; text unescaped."""
    response = client.get(path)
    assert response.status_code == status, response.text[:500]
    text = response.text.split("</head>")[0]
    found = {
        match["name"]: html.unescape(match["content"])
        for match in re.finditer(r'<meta (?:property|name)="(?P<name>[^"]+)" content="(?P<content>[^"]*)">', text)
    }
    found |= {rel: html.unescape(href) for rel, href in re.findall(r'<link rel="(canonical)" href="([^"]*)">', text)}
    return {**found, "x-robots-tag": response.headers.get("x-robots-tag", "")}


def picture_of(client: TestClient, url: str) -> Image.Image:
    parts = urlsplit(url)
    response = client.get(f"{parts.path}?{parts.query}")
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "image/png"
    assert len(response.content) < 300_000
    image = Image.open(io.BytesIO(response.content))
    assert image.size == (WIDTH, HEIGHT)
    return image


# ---- the head of the page


def test_the_bare_page(server: TestClient) -> None:
    tags = head(server, "/walk/")
    assert tags["canonical"] == tags["og:url"] == "https://example.org/walk/"
    assert tags["og:title"] == "One decode, one prefill chunk"
    assert tags["og:description"] == tags["description"] != ""
    assert (tags["og:type"], tags["twitter:card"], tags["og:site_name"]) == ("website", "summary_large_image", "PageWalk")
    assert (tags["og:image:width"], tags["og:image:height"]) == ("1200", "630")
    assert tags["og:image"] == "https://example.org/walk/og.png?lang=en"
    assert "One decode" in tags["og:image:alt"]
    assert "robots" not in tags and tags["x-robots-tag"] == ""
    picture_of(server, tags["og:image"])
    text = server.get("/walk/").text
    assert '<link rel="alternate" hreflang="zh-Hans" href="https://example.org/walk/?lang=zh">' in text


def test_an_example_at_a_step_in_chinese(server: TestClient) -> None:
    tags = head(server, "/walk/?example=a-row-is-recycled&step=2&stage=batch&lang=zh")
    assert tags["canonical"] == "https://example.org/walk/?example=a-row-is-recycled&lang=zh"
    assert tags["og:url"] == "https://example.org/walk/?example=a-row-is-recycled&step=2&lang=zh"
    assert tags["og:image"] == "https://example.org/walk/og.png?example=a-row-is-recycled&step=2&lang=zh"
    assert tags["og:title"] == examples()["a-row-is-recycled"].words["zh"]["title"]
    assert tags["og:locale"] == "zh_CN"
    assert "robots" not in tags
    picture_of(server, tags["og:image"])


def test_a_users_scenario_is_not_for_search_engines(server: TestClient) -> None:
    scenario = worked(title="Mine", description="Line one\n  line two " + "x" * 500)
    link = encode_link(scenario)
    name = server.post("/walk/api/links", json=scenario).json()["id"]
    for path, address in ((f"/walk/?s={link}", f"https://example.org/walk/?s={link}"), (f"/walk/s/{name}", None)):
        tags = head(server, path)
        assert tags["canonical"] == (address or f"https://example.org/walk/s/{name}")
        assert (tags["robots"], tags["x-robots-tag"]) == ("noindex", "noindex")
        assert tags["og:title"] == "Mine"
        assert tags["og:description"].startswith("Line one line two xxx") and len(tags["og:description"]) == 200
        picture_of(server, tags["og:image"])


def test_a_damaged_link_unfurls_as_nothing_of_its_own(server: TestClient) -> None:
    for query in ("s=1abc", "s=", "S=1ABC", "example=none"):
        tags = head(server, f"/walk/?{query}")
        assert tags["robots"] == "noindex"
        # Nor as the worked example, with its picture or its address.
        assert not {"canonical", "og:url", "og:image", "og:image:alt"} & set(tags)
        assert tags["twitter:card"] == "summary"
        assert "One decode" not in tags["og:title"]


def test_a_scenario_too_large_for_the_address_of_a_picture_has_none(server: TestClient) -> None:
    ids = random.Random(1).choices(range(10**9), k=1_500)
    link = encode_link({**worked(title="Large"), "requests": [{"req_id": "A", "prompt_token_ids": ids}], "steps": []})
    assert len(link) > MAX_LINK_LENGTH
    tags = head(server, f"/walk/?s={link}")
    assert (tags["og:title"], tags["twitter:card"]) == ("Large", "summary")
    assert "og:image" not in tags


def test_a_title_does_not_turn_round_what_stands_beside_it(server: TestClient) -> None:
    link = encode_link(worked(title=" a\u202eb\u2067c\x07d\u200de ", description="x\x00\u202ey"))
    tags = head(server, f"/walk/?s={link}")
    assert (tags["og:title"], tags["og:description"]) == ("a b c d\u200de", "x y")


def test_a_title_is_text_wherever_it_stands(server: TestClient) -> None:
    title = '"><script>alert(1)</script>&quot;\u2028'
    name = server.post("/walk/api/links", json=worked(title=title, description=title)).json()["id"]
    text = server.get(f"/walk/s/{name}").text
    assert "<script>alert" not in text
    assert head(server, f"/walk/s/{name}")["og:title"] == title.strip()
    assert "<script>alert" not in server.get("/walk/?example=" + title).text


# ---- the page of a short link


def boot(text: str) -> Any:
    import orjson

    return orjson.loads(re.search(r'id="pw-boot">(.*?)</script>', text, re.DOTALL)[1])  # type: ignore[index]


def test_a_short_link_is_the_page_itself(server: TestClient) -> None:
    name = server.post("/walk/api/links", json=worked(title="Mine")).json()["id"]
    response = server.get(f"/walk/s/{name.upper()}?step=1", follow_redirects=False)
    assert response.status_code == 200
    assert "<title>Mine · PageWalk</title>" in response.text
    data = boot(response.text)
    assert (data["short"], data["example"], data["links"]) == (name, None, True)
    assert data["scenario"]["title"] == "Mine"
    data = boot(server.get("/walk/").text)
    assert (data["short"], data["example"]) == (None, "worked-example")


def test_an_unknown_short_link_shows_nothing_else(server: TestClient) -> None:
    for lang, words in (("en", "leads nowhere"), ("zh", "没有对应的场景")):
        response = server.get(f"/walk/s/00000000000000?lang={lang}")
        assert response.status_code == 404
        assert words in response.text
        assert "00000000000000" in response.text
        assert f'href="/walk/?lang={lang}"' in response.text  # a way on
        assert "pw-boot" not in response.text
        assert response.headers["x-robots-tag"] == "noindex"
        assert "default-src 'none'" in response.headers["content-security-policy"]
    assert "<script>x" not in server.get("/walk/s/%3Cscript%3Ex").text


def test_without_short_links_the_page_says_so() -> None:
    from fastapi.testclient import TestClient

    from app.main import create_app
    from app.settings import Settings

    with TestClient(create_app(Settings(device="cpu", links=False))) as client:
        response = client.get("/s/00000000000000?lang=en")
        assert response.status_code == 404
        assert "keeps no short links" in response.text
        assert boot(client.get("/").text)["links"] is False
        assert client.get("/og.png?short=00000000000000").status_code == 404


# ---- the picture as a client gets it


def test_a_picture_is_cached(server: TestClient) -> None:
    first = server.get("/walk/og.png?example=worked-example&lang=en")
    assert first.headers["cache-control"] == "public, max-age=3600"
    again = server.get("/walk/og.png?example=worked-example&lang=en", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    for host in ("evil.example", "other.example"):  # no host is in it
        assert server.get("/walk/og.png?lang=en", headers={"Host": host}).headers["etag"] == first.headers["etag"]
    other = server.get("/walk/og.png?example=worked-example&step=0&lang=en")
    assert other.headers["etag"] != first.headers["etag"]
    assert server.get(f"/walk/og.png?s={encode_link(worked())}").headers["x-robots-tag"] == "noindex"


def test_the_latest_pictures_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Room for two: whoever was asked for last stays, drawn or not."""
    from fastapi import FastAPI
    from fastapi.testclient import TestClient

    drawn: list[str] = []

    def draw(card: Card, *_: object) -> bytes:
        drawn.append(card.place)
        return card.place.encode()

    monkeypatch.setattr(og, "render", draw)
    monkeypatch.setattr(og, "MAX_PICTURES", 2)
    app = FastAPI()
    app.include_router(og.og_router(CPU, lambda *_: None))
    with TestClient(app) as client:
        for step, needs_drawing in (
            (0, True),
            (1, True),
            (1, False),
            (0, False),
            (2, True),
            (0, False),
            (2, False),
            (1, True),
        ):
            before = len(drawn)
            answer = client.get(f"/og.png?example=a-row-is-recycled&step={step}&lang=en")
            assert answer.content == f"Step {step}".encode()
            assert (len(drawn) > before) == needs_drawing, f"step {step}, drawn so far: {drawn}"


def test_pictures_keep_nobody_waiting_for_long(server: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, may_end = threading.Semaphore(0), threading.Event()

    def slow(*_: object) -> bytes:
        begun.release()
        assert may_end.wait(10)
        return b""

    monkeypatch.setattr(og, "render", slow)
    monkeypatch.setattr(og, "MAX_AT_ONCE", 2)
    with ThreadPoolExecutor() as pool:
        two = [pool.submit(server.get, f"/walk/og.png?example=two-requests-one-block&step={step}") for step in (0, 1)]
        assert all(begun.acquire(timeout=10) for _ in two)
        third = server.get("/walk/og.png?lang=zh")
        may_end.set()
        assert [answer.result().status_code for answer in two] == [200, 200]
    assert (third.status_code, third.headers["retry-after"]) == (503, "10")
    assert third.json()["errors"][0]["code"] == "pictures_busy"


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("s=1abc", 400),
        ("s=", 400),
        ("example=none", 404),
        ("short=00000000000000", 404),
        ("short=%00", 404),
        ("step=x", 200),
        ("step=-5", 200),
        ("step=999999999", 200),
        ("lang=xx", 200),
    ],
)
def test_what_cannot_be_pictured_is_a_problem(server: TestClient, query: str, status: int) -> None:
    response = server.get(f"/walk/og.png?{query}")
    assert response.status_code == status
    assert response.headers["content-type"] == ("image/png" if status == 200 else "application/problem+json")


# ---- what it says


def test_the_worked_example_in_the_picture() -> None:
    card = make_card(worked(title="Worked", start_step=1), None, CPU, "en")
    assert (card.title, card.place, card.sentence) == ("Worked", "Step 1", "")
    assert card.facts == ["2 requests", "9 tokens", "2 blocks written"]
    assert card.step is not None
    assert [(row.identity.letter, row.batch_idx, row.req_state_idx) for row in card.step.rows] == [("B", 0, 7), ("A", 1, 6)]
    assert [token and (token.position, token.slot) for token in card.step.tokens] == [
        (31, 207),  # 12 * 16 + 15
        *((16 + place, 704 + place) for place in range(8)),  # 44 * 16
    ]
    assert [(block.block_id, block.num_filled, block.written) for block in card.step.blocks] == [
        (12, 15, [15]),
        (44, 0, [*range(8)]),
    ]
    colours = {token.identity.req_id: token.identity.colour for token in card.step.tokens if token}
    assert colours == {name: identity.colour for name, identity in identities(["B", "A"]).items()}


def test_many_tokens_are_shown_by_their_ends() -> None:
    card = make_card(of([request("A", 40), request("B", 3)], step({"B": 3, "A": 40})), None, CPU, "en")
    assert card.step is not None
    shown = [token and token.flat_token_idx for token in card.step.tokens]
    assert shown == [0, 1, 2, 3, 4, None, 42]  # B has 3, and A's 40 begin at 3
    assert card.step.num_more_tokens == 0


def test_256_requests_are_bounded() -> None:
    card = make_card(examples()["256-requests"].scenario_in("en"), None, CPU, "en")
    assert card.step is not None
    assert len(card.step.tokens) <= MAX_CELLS
    assert len(card.step.rows) < card.step.num_rows == 256
    assert card.step.num_more_tokens > 16_000


def test_what_costs_too_much_is_not_run() -> None:
    requests = [request(f"r{number}", 1) for number in range(4096)]
    names = [[f"r{number}", 1] for number in range(4096)]
    huge = of(requests, *[step(names)] * 20, max_num_reqs=4096, max_num_batched_tokens=65_536)
    from app.scenario.format.parse import parse_scenario

    assert cost_of(parse_scenario(huge), 0) > MAX_COST
    card = make_card(huge, 19, CPU, "en")
    assert card.step is None
    assert card.schedule is not None
    assert (len(card.schedule.requests), card.schedule.num_more_requests) == (6, 4090)
    assert card.facts == ("4096 requests", "20 steps")


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        ({"version": 1, "requests": [], "steps": []}, "Nothing is scheduled yet."),
        ({"version": 1, "requests": [], "steps": [{}]}, "Nothing is scheduled yet."),
        (worked(steps=[*worked()["steps"], {}], start_step=2), "Nothing runs in this step."),
        (worked(steps=[{"num_scheduled_tokens": {"B": 32}}]), "This schedule cannot be run. Open it to see why."),
        ({"version": 9, "title": "From the future"}, "This schedule cannot be run. Open it to see why."),
        ({"title": ["no", "text"]}, "This schedule cannot be run. Open it to see why."),
    ],
)
def test_what_is_no_step_is_said(document: Any, sentence: str) -> None:
    card = make_card(document, None, CPU, "en")
    assert card.sentence == sentence
    assert card.step is None
    assert sentence in card.alt
    assert render(card, "en", ASCII_ONLY).startswith(b"\x89PNG")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(valid_scenarios() | valid_scenarios(strict=False) | invalid_scenarios().map(lambda pair: pair[0]), st.integers(-1, 9))
def test_every_scenario_has_a_picture(document: dict[str, Any], step_index: int) -> None:
    card = make_card(document, step_index, CPU, "zh")
    assert render(card, "zh", fonts()).startswith(b"\x89PNG")


# ---- letters and colours


def test_colours_are_those_of_the_page() -> None:
    found = tokens()
    assert {f"c{number}{part}" for number in range(12) for part in ("", "-ink")} <= found.keys()
    assert found["paper"] == (0xFB, 0xFA, 0xF8)


@settings(max_examples=30, deadline=None)
@given(st.text(max_size=300))
def test_no_text_breaks_the_lettering(text: str) -> None:
    for lettering in (ASCII_ONLY, fonts()):
        drawable = lettering.drawable(text)
        assert "\n" not in drawable
        lines = lettering.wrap(drawable, 42, 1088, 2)
        assert len(lines) <= 2
        assert all(lettering.width(line, 42) <= 1088 for line in lines)
        lettering.is_readable(text)


def test_what_no_font_has_is_left_out() -> None:
    assert ASCII_ONLY.drawable("Crème brûlée\tand\n 标题 😀 שלום") == "Creme brulee and"
    assert ASCII_ONLY.is_readable("Crème brûlée")
    assert not ASCII_ONLY.is_readable("一个解码")
    assert drawable_language("zh", ASCII_ONLY) == "en"
    card = Card("一个解码", "Step 1", ("2 requests",), "", None, None)
    assert render(card, "en", ASCII_ONLY) == render(
        Card("两个", "Step 1", ("2 requests",), "", None, None), "en", ASCII_ONLY
    )


def test_long_titles_are_cut_short() -> None:
    lines = ASCII_ONLY.wrap("word " * 60, 42, 1088, 2)
    assert len(lines) == 2
    assert lines[1].endswith("…")
    assert ASCII_ONLY.wrap("w" * 200, 42, 1088, 2)[0].endswith("…")
