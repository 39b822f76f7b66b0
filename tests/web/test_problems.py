"""Errors as problem details: one form for all of them, nothing of the inside in any."""

from __future__ import annotations

import logging

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from starlette.exceptions import HTTPException

from app.errors import Fault, ScenarioError
from app.web.http.problems import install_error_handlers
from app.web.pages.page import lost_page


@pytest.fixture
def failing() -> TestClient:
    """An application in which everything fails, as it would on a server."""
    app = FastAPI()
    install_error_handlers(app, lost_page)

    @app.get("/secret")
    async def secret() -> None:
        raise RuntimeError("the password is swordfish")

    @app.get("/teapot")
    async def teapot() -> None:
        raise HTTPException(418, headers={"X-Tea": "green"})

    @app.get("/faults/{count}")
    async def faults(count: int) -> None:
        raise ScenarioError(
            Fault(f"/steps/{step}", "unknown_req_id", "unknown_req_id", {"step": step, "req_id": "X"})
            for step in range(count)
        )

    return TestClient(app, raise_server_exceptions=False)


def test_what_fails_inside_stays_inside(failing: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        response = failing.get("/secret")
    assert response.status_code == 500
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json() == {
        "type": "urn:pagewalk:problem:internal",
        "title": "PageWalk failed",
        "status": 500,
        "detail": "This is a fault of PageWalk, not of what was sent.",
        "errors": [],
    }
    assert "swordfish" in caplog.text  # where its keeper can read it
    assert "GET /secret" in caplog.text
    assert failing.get("/secret?lang=zh").json()["detail"] == "这是 PageWalk 的错误，不是所发送内容的问题。"


def test_what_the_framework_refuses_is_a_problem_too(failing: TestClient) -> None:
    response = failing.get("/teapot")
    assert response.status_code == 418
    assert response.headers["content-type"] == "application/problem+json"
    assert response.headers["x-tea"] == "green"
    assert response.json()["title"] == "I'm a Teapot"
    assert response.json()["errors"] == []


@pytest.mark.parametrize(
    ("count", "detail"),
    [
        (1, "Step 0 names “X”, but there is no such request."),
        (2, "Step 0 names “X”, but there is no such request. (1 more)"),
        (5000, "Step 0 names “X”, but there is no such request. (4999 more)"),
    ],
)
def test_the_detail_tells_the_first_fault_and_how_many_more(failing: TestClient, count: int, detail: str) -> None:
    response = failing.get(f"/faults/{count}")
    assert response.status_code == 422
    assert response.json()["detail"] == detail
    assert len(response.json()["errors"]) == min(count, 100)


def test_a_reader_who_is_lost_gets_a_page_and_a_program_a_problem(client: TestClient) -> None:
    page = client.get("/handuot?lang=zh", headers={"Accept": "text/html,*/*"})
    assert page.status_code == 404
    assert page.headers["content-type"].startswith("text/html")
    assert "这里没有页面" in page.text and 'href="/?lang=zh"' in page.text
    for path, accept in (("/handuot", "*/*"), ("/api/nothing", "text/html"), ("/static/nothing.js", "text/html")):
        problem = client.get(path, headers={"Accept": accept})
        assert problem.status_code == 404
        assert problem.headers["content-type"] == "application/problem+json"
