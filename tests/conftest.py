"""The application under test, spoken to in process (`client`) or over a real socket (`live_server`).

Nothing here imports the application before a test asks for it: tests of small parts start at once.
"""

from __future__ import annotations

import os
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import torch
    from fastapi.testclient import TestClient
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

ROOT = Path(__file__).resolve().parent.parent

# Torch on one core, as in the application, also where no test starts one: threads that wait for each other cost several
# times what they save, most of all where two tests share two cores. Read when torch is imported, and by processes of tests.
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(scope="session", autouse=True)
def links_path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Short links of the tests are kept in a file of their own, not in the user's data folder."""
    path = tmp_path_factory.mktemp("links") / "links.sqlite3"
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PAGEWALK_LINKS_PATH", str(path))
        yield path


@pytest.fixture(scope="session")
def device() -> torch.device:
    """Where the application would compute on this machine (PAGEWALK_DEVICE)."""
    import torch

    from app.settings import Settings, pick_device

    return torch.device(pick_device(Settings.from_environment().device))


@pytest.fixture(scope="session")
def client() -> Iterator[TestClient]:
    """An HTTP client of the application. What the application raises reaches the test, it does not become a 500."""
    from fastapi.testclient import TestClient

    from app.main import create_app

    with TestClient(create_app()) as test_client:
        yield test_client


@pytest.fixture(scope="session")
def live_server() -> Iterator[str]:
    """The address of a server that answers, such as `http://127.0.0.1:40123`.

    A browser may keep scripts and style sheets for as long as the tests run: to ask whether each of the 200 is still the
    same costs more than all else that a page needs of the server.
    """
    import uvicorn

    from app.__main__ import address, listen
    from app.main import create_app

    sockets = listen("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(keeping_static_files(create_app()), log_level="warning", access_log=False))
    thread = threading.Thread(target=server.run, args=(sockets,), name="live_server", daemon=True)
    thread.start()
    url = address("127.0.0.1", sockets[0])
    wait_until_it_answers(f"{url}/healthz", thread)
    yield url
    server.should_exit = True
    thread.join(timeout=10)
    assert not thread.is_alive(), "the server did not stop"


def keeping_static_files(app: ASGIApp) -> ASGIApp:
    """The application, whose static files need not be asked for again."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 200:
                headers = [(name, value) for name, value in message["headers"] if name != b"cache-control"]
                message = {**message, "headers": [*headers, (b"cache-control", b"max-age=86400")]}
            await send(message)

        is_static = scope["type"] == "http" and scope["path"].startswith("/static/")
        await app(scope, receive, send_on if is_static else send)

    return answer


def wait_until_it_answers(url: str, thread: threading.Thread, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not answers(url):
        assert thread.is_alive(), f"the server ended before it answered at {url}"
        assert time.monotonic() < deadline, f"no answer from {url} after {seconds} s"
        time.sleep(0.02)


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=10):
            return True
    except urllib.error.HTTPError:
        raise
    except OSError:
        return False
