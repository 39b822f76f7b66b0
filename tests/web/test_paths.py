"""Behind proxies that take their prefix off, and behind those that leave it, all is found where the page says it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.scenario.faults import worked

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

OUTSIDE = "https://example.org/pagewalk"


@pytest.fixture
def behind(tmp_path: Path) -> Iterator[TestClient]:
    """A client in the place of the proxy: it chooses how to ask for what readers know below `OUTSIDE`."""
    from fastapi.testclient import TestClient

    from app.main import create_app
    from app.settings import Settings

    settings = Settings(device="cpu", base_url=OUTSIDE, root_path="/pagewalk", links_path=str(tmp_path / "links.sqlite3"))
    with TestClient(create_app(settings), follow_redirects=False) as client:
        yield client


@pytest.mark.parametrize("prefix", ["", "/pagewalk"])
def test_everything_that_a_page_loads_is_there(behind: TestClient, prefix: str) -> None:
    name = behind.post(f"{prefix}/api/links", json=worked()).json()["id"]
    for page in ("/", f"/s/{name}", "/s/unknown", "/docs", "/handout"):
        html = behind.get(prefix + page).text
        loaded = set(re.findall(r'<(?:link|script|img|a)[^>]* (?:href|src)="(/[^"?]*)', html))
        assert len(loaded) > 1, page
        for address in sorted(loaded):
            assert address.startswith("/pagewalk/"), (page, address)
            asked = address if prefix else address.removeprefix("/pagewalk")
            assert behind.get(asked).status_code == 200, (page, address)


@pytest.mark.parametrize("prefix", ["", "/pagewalk"])
def test_a_slash_at_the_end_is_no_redirect_to_somewhere_else(behind: TestClient, prefix: str) -> None:
    name = behind.post(f"{prefix}/api/links/", json=worked()).json()["id"]
    for path in (f"/s/{name}/", "/handout/", "/api/examples/", "/healthz/", "" if prefix else "/"):
        assert behind.get(prefix + path).status_code == 200, path
    assert f'<link rel="canonical" href="{OUTSIDE}/s/{name}">' in behind.get(f"{prefix}/s/{name}/").text


def test_whatever_follows_s_is_answered_by_a_page_in_words(behind: TestClient) -> None:
    for path in ("/s", "/s/", "/s//", "/s/a/b", "/s/..%2f..", "/s/%00", "/s/%FF", f"/s/{'a' * 5000}"):
        answer = behind.get(path)
        assert answer.status_code == 404, path
        assert 'data-no-link="unknown_link"' in answer.text, path
        assert "“”" not in answer.text, path
