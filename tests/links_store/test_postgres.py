"""The same store in PostgreSQL, on a server of the test's own in a temporary folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.links.identity import canonical_bytes
from app.links.store import LinkStore, StoreFullError, StoreUnavailableError, open_store
from app.scenario.format.parse import parse_scenario
from tests.links_store.writer import scenario as numbered
from tests.scenario.faults import worked

pytestmark = pytest.mark.slow


def programs() -> Path | None:
    """Where initdb and pg_ctl are."""
    on_path = shutil.which("initdb")
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return Path(on_path).parent if on_path else installed[-1].parent if installed else None


@pytest.fixture(scope="module")
def database_url() -> Iterator[str]:
    pytest.importorskip("psycopg")
    folder = programs()
    if folder is None:
        pytest.skip("no PostgreSQL server is installed")
    # Its programs refuse to run as root, and its socket's path must be short.
    user = "postgres" if os.geteuid() == 0 else None
    home = Path(tempfile.mkdtemp(prefix="pg"))
    if user:
        shutil.chown(home, user)

    def run(*command: str) -> None:
        subprocess.run(command, check=True, user=user, cwd=home, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    data, log = home / "data", home / "log"
    options = f"-c listen_addresses= -c unix_socket_directories={home}"
    run(str(folder / "initdb"), "-D", str(data), "-U", "pagewalk", "-A", "trust", "-E", "UTF8", "--locale=C")
    try:
        run(str(folder / "pg_ctl"), "-D", str(data), "-l", str(log), "-o", options, "-w", "start")
        yield f"postgresql://pagewalk@/postgres?host={home}"
        run(str(folder / "pg_ctl"), "-D", str(data), "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(home)


def opened(database_url: str, max_links: int = 1000) -> LinkStore:
    store = open_store(path="", database_url=database_url, max_links=max_links)
    assert store is not None
    return store


def test_several_machines_create_the_table_and_the_same_links_at_once(database_url: str) -> None:
    stores = [opened(database_url) for _ in range(6)]
    together = threading.Barrier(len(stores))
    told: list[tuple[int, str]] = []

    def write(store: LinkStore) -> None:
        together.wait()
        told.extend((number, store.keep(numbered(number))[0]) for number in range(20))

    threads = [threading.Thread(target=write, args=(store,)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(told) == 120
    assert len(set(told)) == 20
    for number, name in set(told):
        assert stores[0].load(name) == canonical_bytes(numbered(number))
    for store in stores:
        store.close()


def test_what_is_kept_is_found(database_url: str) -> None:
    store = opened(database_url)
    kept = parse_scenario(worked(title="标题 😀"))
    name, is_new = store.keep(kept)
    assert is_new
    assert store.load(name) == canonical_bytes(kept)
    assert store.keep(kept) == (name, False)
    assert store.load("0" * 14) is None
    store.close()


def test_a_full_store_says_so(database_url: str) -> None:
    store = opened(database_url, max_links=1)
    with pytest.raises(StoreFullError):
        store.keep(numbered(777))
    store.close()


def test_a_database_that_is_not_there_is_said(database_url: str) -> None:
    store = opened(database_url.replace("/postgres?", "/nowhere?"))
    with pytest.raises(StoreUnavailableError, match="nowhere"):
        store.load("0" * 14)
    store.close()
