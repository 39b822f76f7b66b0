"""QR codes: of pages of this server alone, readable where they are drawn, refused where they would be too dense."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

import pytest
import segno

from app.scenario.format.link import encode_link
from app.web.links.qr import MAX_LENGTH
from tests.scenario.faults import worked

if TYPE_CHECKING:
    from fastapi.testclient import TestClient
    from httpx import Response


def svg_of(address: str, error: str) -> str:
    out = io.BytesIO()
    code = segno.make_qr(address, error=error)
    code.save(out, "svg", border=4, light="#fff", omitsize=True, svgclass=None, lineclass=None, xmldecl=False)
    return out.getvalue().decode()


def code(response: Response) -> str:
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "image/svg+xml"
    assert response.headers["cache-control"].startswith("private")
    assert "style=" not in response.text and "<script" not in response.text
    return response.text


@pytest.mark.parametrize(
    ("query", "address"),
    [
        ("", "http://testserver/"),
        ("?example=worked-example&step=1", "http://testserver/?example=worked-example&step=1"),
        (
            "?lang=zh&pin=slot_mappings.0.0&stage=all&step=0&example=a-row-is-recycled",
            "http://testserver/?example=a-row-is-recycled&step=0&stage=all&pin=slot_mappings.0.0&lang=zh",
        ),
        ("?short=Q4DVF5XZCA3GOS&step=1", "http://testserver/s/q4dvf5xzca3g0s?step=1"),
        ("?utm_source=x&url=https://evil.example", "http://testserver/"),
        ("?view=embed&steps=0-3", "http://testserver/?steps=0-3&view=embed"),
    ],
)
def test_the_page_that_a_query_means(client: TestClient, query: str, address: str) -> None:
    assert code(client.get(f"/api/qr.svg{query}")) == svg_of(address, "m")


def test_a_scenario_in_the_link(client: TestClient) -> None:
    link = encode_link(worked())
    assert code(client.get(f"/api/qr.svg?s={link}")) == svg_of(f"http://testserver/?s={link}", "m")
    longer = encode_link(worked(description="".join(chr(33 + number * 7 % 90) for number in range(500))))
    assert 300 < len(longer) < MAX_LENGTH - 30
    assert code(client.get(f"/api/qr.svg?s={longer}")) == svg_of(f"http://testserver/?s={longer}", "l")


def test_there_is_light_around_it_and_it_scales(client: TestClient) -> None:
    text = code(client.get("/api/qr.svg"))
    view_box = re.search(r'viewBox="0 0 (\d+) (\d+)"', text)
    assert view_box is not None
    assert int(view_box[1]) == int(view_box[2]) == segno.make_qr("http://testserver/", error="m").symbol_size(border=4)[0]
    assert 'width="' not in text.split(">")[0]
    assert "#fff" in text


def test_too_long_for_a_phone(client: TestClient) -> None:
    response = client.get(f"/api/qr.svg?s=1{'a' * MAX_LENGTH}")
    assert response.status_code == 413
    (error,) = response.json()["errors"]
    assert error["code"] == "qr_too_long"
    assert error["params"]["limit"] == MAX_LENGTH < error["params"]["length"]


@pytest.mark.parametrize(
    "query", ["short=nothing", "s=%22%3E", "example=a/b", "step=x", "pin=%0A", "stage=A", "lang=english", "view=a%20b"]
)
def test_what_no_page_has_is_refused(client: TestClient, query: str) -> None:
    response = client.get(f"/api/qr.svg?{query}")
    assert response.status_code == 422
    assert response.json()["errors"][0]["code"] == "schema"
