"""The store keeps what it acknowledged, whatever happens to the process, and says plainly what it cannot keep."""

from __future__ import annotations

import logging
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from sqlalchemy.dialects import postgresql

from app.links import store as store_module
from app.links.identity import canonical_bytes
from app.links.store import (
    MAX_STORED_BYTES,
    IdTakenError,
    LinkStore,
    LinkTooLargeError,
    StoreFullError,
    StoreUnavailableError,
    default_path,
    open_store,
)
from app.scenario.format.model import Scenario
from app.scenario.format.parse import parse_scenario
from tests.links_store.writer import scenario as numbered
from tests.scenario.faults import worked

WRITER = Path(__file__).with_name("writer.py")
Starter = Callable[..., "subprocess.Popen[str]"]


def opened(path: Path, max_links: int = 100) -> LinkStore:
    store = open_store(path=str(path), database_url="", max_links=max_links)
    assert store is not None
    return store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a folder" / "links.sqlite3"


@pytest.fixture
def store(path: Path) -> Iterator[LinkStore]:
    found = opened(path)
    yield found
    found.close()


@pytest.fixture
def start_writer() -> Iterator[Starter]:
    started: list[subprocess.Popen[str]] = []

    def start(path: Path, first: int, count: int) -> subprocess.Popen[str]:
        command = [sys.executable, str(WRITER), str(path), str(first), str(count)]
        started.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def say_go(process: subprocess.Popen[str]) -> IO[str]:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write("go\n")
    process.stdin.flush()
    return process.stdout


def ready(process: subprocess.Popen[str]) -> subprocess.Popen[str]:
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


# ---- keeping and finding


def test_what_is_kept_is_found(store: LinkStore) -> None:
    kept = parse_scenario(worked(title="标题 😀"))
    name, is_new = store.keep(kept)
    assert is_new
    assert store.load(name) == canonical_bytes(kept)
    assert store.keep(kept) == (name, False)


def test_it_is_there_for_the_next_process(path: Path, store: LinkStore) -> None:
    name, _ = store.keep(parse_scenario(worked()))
    store.close()
    again = opened(path)
    assert again.load(name) == canonical_bytes(parse_scenario(worked()))
    again.close()


def test_nothing_is_made_before_it_is_needed(path: Path, store: LinkStore) -> None:
    assert store.load("q4dvf5xzca3g0s") is None
    assert not path.parent.exists()
    store.keep(parse_scenario(worked()))
    assert store.load("0" * 14) is None
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()
    if sys.platform != "win32":
        assert path.parent.stat().st_mode & 0o077 == 0  # nobody else's business


def test_a_file_taken_away_is_made_again(path: Path, store: LinkStore) -> None:
    name, _ = store.keep(parse_scenario(worked()))
    for file in path.parent.iterdir():
        file.unlink()
    assert store.load(name) is None
    assert store.keep(parse_scenario(worked())) == (name, True)
    assert store.load(name) is not None


def test_the_file_lies_in_the_users_data_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_path() == tmp_path / "pagewalk" / "links.sqlite3"
    monkeypatch.setenv("XDG_DATA_HOME", "relative/is/ignored")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert (tmp_path / "home") in default_path().parents


# ---- what is not kept


def test_a_scenario_that_stays_large_is_refused(store: LinkStore) -> None:
    noise = random.Random(0)
    ids = [noise.randrange(2**31) for _ in range(MAX_STORED_BYTES // 4 + 1000)]  # four bytes each, and no shorter
    with pytest.raises(LinkTooLargeError) as refusal:
        store.keep(Scenario(version=1, requests=[{"req_id": "A", "prompt_token_ids": ids}], steps=[]))  # type: ignore[list-item]
    assert refusal.value.num_bytes > MAX_STORED_BYTES


def test_a_full_store_keeps_what_it_has(path: Path) -> None:
    store = opened(path, max_links=2)
    first, _ = store.keep(numbered(1))
    store.keep(numbered(2))
    with pytest.raises(StoreFullError):
        store.keep(numbered(3))
    assert store.keep(numbered(1)) == (first, False)
    assert store.load(first) == canonical_bytes(numbered(1))
    store.close()


def test_an_id_that_another_scenario_has_is_never_overwritten(store: LinkStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "link_id", lambda _: "0" * 14)
    store.keep(numbered(1))
    with pytest.raises(IdTakenError):
        store.keep(numbered(2))
    assert store.load("0" * 14) == canonical_bytes(numbered(1))


@pytest.mark.parametrize("change", ["document = x'789c00'", "document = zeroblob(40)", "format = 2"])
def test_a_damaged_row_is_never_another_scenario(path: Path, store: LinkStore, change: str) -> None:
    name, _ = store.keep(parse_scenario(worked()))
    store.close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"UPDATE links SET {change}")
    connection.close()
    with pytest.raises(StoreUnavailableError, match="damaged"):
        store.load(name)


def test_a_place_that_cannot_be_is_off_with_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "file"
    file.write_text("This is no database, and a good deal longer than the header of one. " * 20)
    for path in (file, file / "links.sqlite3", tmp_path):
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            assert open_store(path=str(path), database_url="", max_links=9) is None
        assert "Short links are off" in caplog.text
        assert "PAGEWALK_LINKS_PATH" in caplog.text
    assert file.read_text().startswith("This is no database")


def test_a_database_that_stops_answering_is_said(path: Path, store: LinkStore) -> None:
    name, _ = store.keep(parse_scenario(worked()))
    store.close()
    path.write_bytes(b"not a database at all" * 100)
    with pytest.raises(StoreUnavailableError, match="not a database"):
        store.load(name)


# ---- several processes, and their sudden ends


def test_everything_acknowledged_survives_kill_9(path: Path, start_writer: Starter) -> None:
    acknowledged: dict[int, str] = {}
    for round_number in range(5):
        process = ready(start_writer(path, first=1000 * round_number, count=1000))
        lines = say_go(process)
        for _ in range(3 + 4 * round_number):  # let it get to another place in each round
            number, name = lines.readline().split()
            acknowledged[int(number)] = name
        process.send_signal(signal.SIGKILL)
        acknowledged |= {int(number): name for number, name in map(str.split, whole(lines.read()))}
        assert process.wait() == -signal.SIGKILL
    store = opened(path)
    for number, name in acknowledged.items():
        assert store.load(name) == canonical_bytes(numbered(number)), number
    store.keep(numbered(9999))
    store.close()
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("SELECT count(*) FROM links").fetchone()[0] > len(acknowledged)
    connection.close()
    assert len(acknowledged) >= 3 + 7 + 11 + 15 + 19


def whole(text: str) -> list[str]:
    """The lines that came through to their end."""
    return [line for line in text.splitlines(keepends=True) if line.endswith("\n")]


def test_processes_that_start_at_once_share_one_file(path: Path, start_writer: Starter) -> None:
    processes = [ready(start_writer(path, first=10 * place, count=20)) for place in range(3)]  # each half like the next
    outputs = [say_go(process) for process in processes]
    told: list[tuple[str, str]] = [tuple(line.split()) for output in outputs for line in output.read().splitlines()]  # type: ignore[misc]
    assert [process.wait() for process in processes] == [0, 0, 0]
    assert len(told) == 60
    assert len(set(told)) == 40  # numbers 0..39: the same scenario got the same id from each
    store = opened(path)
    assert all(store.load(name) == canonical_bytes(numbered(int(number))) for number, name in told)
    store.close()
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM links").fetchone() == (40,)
    connection.close()


# ---- PostgreSQL without a server: test_postgres.py has one


def test_postgres_is_asked_only_when_needed(store: LinkStore) -> None:
    pytest.importorskip("psycopg")
    away = open_store(path="", database_url="postgresql://nobody:secret@127.0.0.1:1/none", max_links=9)
    assert away is not None
    with pytest.raises(StoreUnavailableError) as refusal:
        away.load("0" * 14)
    assert "secret" not in str(refusal.value)


def test_races_are_decided_by_the_database(store: LinkStore) -> None:
    statement: Any = store._insert("0" * 14, b"")
    assert "ON CONFLICT DO NOTHING" in str(statement)
    compiled = str(postgresql.insert(store_module.links).on_conflict_do_nothing().compile(dialect=postgresql.dialect()))
    assert compiled.endswith("ON CONFLICT DO NOTHING")
