"""The application under test, spoken to in process (`client`) or over a real socket (`live_server`).

Nothing here imports the application before a test asks for it: tests of small parts start at once.
"""

from __future__ import annotations

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

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session", autouse=True)
def links_path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Short links of the tests are kept in a file of their own, not in the user's data folder."""
    path = tmp_path_factory.mktemp("links") / "links.sqlite3"
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PAGEWALK_LINKS_PATH", str(path))
        yield path


@pytest.fixture(scope="session")
def device() -> torch.device:
    """Where the application would compute on this machine (PAGEWALK_DEVICE), on one core as the application does."""
    import torch

    from app.settings import Settings, pick_device

    torch.set_num_threads(1)
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
    """The address of a server that answers, such as `http://127.0.0.1:40123`."""
    import uvicorn

    from app.__main__ import address, listen
    from app.main import create_app

    sockets = listen("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(create_app(), log_level="warning", access_log=False))
    thread = threading.Thread(target=server.run, args=(sockets,), name="live_server", daemon=True)
    thread.start()
    url = address("127.0.0.1", sockets[0])
    wait_until_it_answers(f"{url}/healthz", thread)
    yield url
    server.should_exit = True
    thread.join(timeout=10)
    assert not thread.is_alive(), "the server did not stop"


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
