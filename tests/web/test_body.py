"""A request's body is read no further than it may go."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fastapi import Request

from app.errors import ScenarioError
from app.scenario.format.parse import MAX_BODY_BYTES
from app.web.http.body import read_body

CHUNK = 65_536  # 16 of them are the limit, 1 MiB


class Sender:
    """A client that sends chunks without end, and counts those that were taken."""

    def __init__(self, last: int | None = None) -> None:
        self.taken = 0
        self.last = last

    async def __call__(self) -> dict[str, Any]:
        self.taken += 1
        return {"type": "http.request", "body": b"x" * CHUNK, "more_body": self.taken != self.last}


def read(sender: Sender, content_length: str = "") -> bytes:
    headers = [(b"content-length", content_length.encode("latin-1"))] if content_length else []
    return asyncio.run(read_body(Request({"type": "http", "headers": headers}, sender)))


def test_reading_stops_with_the_chunk_that_is_too_much() -> None:
    sender = Sender()
    with pytest.raises(ScenarioError) as refusal:
        read(sender)
    assert refusal.value.status == 413
    assert sender.taken == MAX_BODY_BYTES // CHUNK + 1


def test_a_body_of_just_the_limit_is_read() -> None:
    assert len(read(Sender(last=MAX_BODY_BYTES // CHUNK))) == MAX_BODY_BYTES


@pytest.mark.parametrize(
    ("announced", "told"),
    [("65536000", 65_536_000), *((odd, 17 * CHUNK) for odd in ("5", "-9", "²", "9" * 16))],
)
def test_the_size_that_is_told_is_what_was_announced_or_what_came(announced: str, told: int) -> None:
    with pytest.raises(ScenarioError) as refusal:
        read(Sender(), announced)
    assert refusal.value.faults[0].params == {"bytes": told, "limit": MAX_BODY_BYTES}
