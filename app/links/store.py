"""Where short links are kept: one table, in a SQLite file or in PostgreSQL.

In: a parsed scenario. Out: its id; later, for the id, the canonical bytes of the scenario. A row is written once and never
changed, so what has been answered with an id can be read for as long as the file lives:

- SQLite runs in WAL mode with `synchronous=FULL`: a link is on the disk before its id is given away. NORMAL would survive a
  killed process too, but not a power cut, and links are made too seldom for the extra sync to matter.
- Every statement commits by itself and `INSERT ... ON CONFLICT DO NOTHING` decides races, so any number of threads,
  processes and machines may create the table and the same link at once.
- What is read is hashed again: a damaged row is an error, never another scenario.

The file and its folder are made when the first link is. Where that cannot be, `open_store` says why and gives None.
"""

import logging
import os
import re
import sqlite3
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import (
    URL,
    BigInteger,
    Column,
    Connection,
    Engine,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    create_engine,
    event,
    func,
    make_url,
    select,
    text,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import OperationalError, SQLAlchemyError
from sqlalchemy.schema import CreateTable

from app.links.identity import canonical_bytes, link_id
from app.scenario.format.model import Scenario
from app.scenario.format.parse import MAX_BODY_BYTES

MAX_STORED_BYTES = 65_536  # of one scenario, compressed
BUSY_SECONDS = 5  # how long a write waits for another process's
FORMAT = 1  # zlib of the canonical JSON

logger = logging.getLogger(__name__)

links = Table(
    "links",
    MetaData(),
    Column("id", String(32), primary_key=True),
    Column("format", Integer, nullable=False),
    Column("document", LargeBinary, nullable=False),
    Column("created_at", BigInteger, nullable=False),  # seconds since 1970, UTC
)


class LinkError(Exception):
    """A scenario that is not kept, or a link that cannot be read; the message is for the log."""


class LinkTooLargeError(LinkError):
    """The scenario takes more than MAX_STORED_BYTES."""

    def __init__(self, num_bytes: int) -> None:
        super().__init__(f"{num_bytes} bytes compressed")
        self.num_bytes = num_bytes


class StoreFullError(LinkError):
    """As many links as the store may hold."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"{limit} links")
        self.limit = limit


class IdTakenError(LinkError):
    """Another scenario has this id."""


class StoreUnavailableError(LinkError):
    """The database does not answer, is full, or holds a damaged row."""


class LinkStore:
    """The table of links. Safe to share between threads."""

    def __init__(self, engine: Engine, max_links: int, path: Path | None = None) -> None:
        """`path` is the SQLite file, which need not exist yet; None for PostgreSQL, which is asked when it is needed."""
        self._engine = engine
        self._max_links = max_links
        self._path = path
        self._is_ready = False
        self._preparing = threading.Lock()

    def keep(self, scenario: Scenario) -> tuple[str, bool]:
        """Keep a scenario; returns its id, and whether it is new here.

        Raises:
            LinkError: LinkTooLargeError, StoreFullError, IdTakenError or StoreUnavailableError.
        """
        canonical = canonical_bytes(scenario)
        name = link_id(canonical)
        packed = zlib.compress(canonical, 9)
        if len(packed) > MAX_STORED_BYTES:
            raise LinkTooLargeError(len(packed))
        with self._connection() as connection:
            kept = self._read(connection, name)
            if kept is None:
                if connection.scalar(select(func.count()).select_from(links)) >= self._max_links:  # type: ignore[operator]
                    raise StoreFullError(self._max_links)
                is_new = connection.execute(self._insert(name, packed)).rowcount == 1
                if is_new:
                    return name, True
                kept = self._read(connection, name)
        if kept != canonical:
            raise IdTakenError(name)
        return name, False

    def load(self, name: str) -> bytes | None:
        """The canonical bytes kept under an id, None where there is no such link.

        Raises:
            StoreUnavailableError: the database does not answer, or the row is damaged.
        """
        if self._path is not None and not self._path.exists():
            return None  # nobody has made a link yet, and reading makes no file
        with self._connection() as connection:
            return self._read(connection, name)

    def prepare(self) -> None:
        """Make what is missing: folder, file, table.

        Raises:
            StoreUnavailableError
        """
        with self._connection():
            pass

    def close(self) -> None:
        """Let go of every connection."""
        self._engine.dispose()

    @contextmanager
    def _connection(self) -> Iterator[Connection]:
        try:
            with self._preparing:
                if not self._is_ready or (self._path is not None and not self._path.exists()):
                    self._create()
                    self._is_ready = True
            with self._engine.connect() as connection:
                yield connection
        except (SQLAlchemyError, OSError) as error:
            raise StoreUnavailableError(_said(error)) from error

    def _create(self) -> None:
        if self._path is not None:
            self._engine.dispose()  # connections to a file that is gone
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._engine.connect() as connection:
            if connection.dialect.name == "postgresql":
                # Two sessions that create one table at the same time disturb each other, even with IF NOT EXISTS.
                connection.execute(text("SELECT pg_advisory_lock(7205759403792794)"))
                try:
                    connection.execute(CreateTable(links, if_not_exists=True))
                finally:
                    connection.execute(text("SELECT pg_advisory_unlock(7205759403792794)"))
            else:
                connection.execute(CreateTable(links, if_not_exists=True))

    def _insert(self, name: str, packed: bytes) -> Any:
        dialect = postgresql if self._engine.dialect.name == "postgresql" else sqlite
        row = {"id": name, "format": FORMAT, "document": packed, "created_at": int(time.time())}
        return dialect.insert(links).values(row).on_conflict_do_nothing().execution_options(preserve_rowcount=True)

    def _read(self, connection: Connection, name: str) -> bytes | None:
        row = connection.execute(select(links.c.format, links.c.document).where(links.c.id == name)).one_or_none()
        if row is None:
            return None
        inflater = zlib.decompressobj()
        try:
            canonical = inflater.decompress(row.document, MAX_BODY_BYTES)
        except zlib.error:
            canonical = b""
        if row.format != FORMAT or not inflater.eof or link_id(canonical) != name:
            raise StoreUnavailableError(f"link {name} is damaged, or of a later version of PageWalk")
        return canonical


def open_store(*, path: str, database_url: str, max_links: int) -> LinkStore | None:
    """The store that the settings ask for, or None, with a warning in the log, where there cannot be one.

    A PostgreSQL server may be away now and come back: it is asked when a link is made or opened.
    """
    if database_url:
        return LinkStore(_postgres(database_url), max_links)
    try:
        file = Path(path).expanduser().absolute() if path else default_path()
        store = LinkStore(_sqlite(file), max_links, file)
        if file.exists():
            _check_writable(file)
            store.prepare()
        else:
            _check_writable(next(parent for parent in file.parents if parent.exists()), is_folder=True)
    except (OSError, RuntimeError, StoreUnavailableError) as error:
        logger.warning("Short links are off, all else works: %s. PAGEWALK_LINKS_PATH says where they are kept.", error)
        return None
    return store


def default_path() -> Path:
    """`pagewalk/links.sqlite3` in the user's data folder (XDG_DATA_HOME, ~/.local/share where that is not set).

    Raises:
        RuntimeError: this user has no home.
    """
    data_home = os.environ.get("XDG_DATA_HOME", "")
    if not Path(data_home).is_absolute():  # relative ones are to be ignored
        is_mac = sys.platform == "darwin"
        data_home = str(Path.home() / ("Library/Application Support" if is_mac else ".local/share"))
    return Path(data_home) / "pagewalk" / "links.sqlite3"


def _sqlite(path: Path) -> Engine:
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        isolation_level="AUTOCOMMIT",
        connect_args={"timeout": BUSY_SECONDS},
    )

    @event.listens_for(engine, "connect")
    def set_up(connection: sqlite3.Connection, _record: object) -> None:
        connection.execute("PRAGMA synchronous=FULL")
        try:
            connection.execute("PRAGMA journal_mode=WAL")  # stays in the file
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):  # another process is switching it on at this moment
                raise

    return engine


def _postgres(database_url: str) -> Engine:
    return create_engine(
        make_url(re.sub("^postgres:", "postgresql:", database_url)).set(drivername="postgresql+psycopg"),
        isolation_level="AUTOCOMMIT",
        pool_pre_ping=True,
        pool_size=4,
        max_overflow=4,
        pool_timeout=BUSY_SECONDS,
        connect_args={"connect_timeout": BUSY_SECONDS},
    )


def _check_writable(path: Path, *, is_folder: bool = False) -> None:
    if path.is_dir() != is_folder:
        raise StoreUnavailableError(f"{path} is {'not ' if is_folder else ''}a folder")
    for place in {path, path if is_folder else path.parent}:  # WAL keeps two files beside the database
        if not os.access(place, os.W_OK):
            raise StoreUnavailableError(f"{place} cannot be written to")


def _said(error: Exception) -> str:
    """The database's own words in one line, without statements and parameters."""
    if isinstance(error, OperationalError | SQLAlchemyError):
        error = getattr(error, "orig", None) or error
    return " ".join(str(error).split())
