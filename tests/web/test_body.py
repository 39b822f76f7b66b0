"""A request's body is read no further than it may go, and the latest pictures are kept."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fastapi import Request

from app.errors import ScenarioError
from app.scenario.format.parse import MAX_BODY_BYTES
from app.web.http.body import read_body
from app.web.picture import og

CHUNK = 65_536  # 16 of them are the limit, 1 MiB


class Sender:
    """A client that sends chunks without end, and counts those that were taken."""

    def __init__(self, last: int | None = None) -> None:
        self.taken = 0
        self.last = last

    async def __call__(self) -> dict[str, Any]:
        self.taken += 1
        return {"type": "http.request", "body": b"x" * CHUNK, "more_body": self.taken != self.last}


def read(sender: Sender) -> bytes:
    return asyncio.run(read_body(Request({"type": "http", "headers": []}, sender)))


def test_reading_stops_with_the_chunk_that_is_too_much() -> None:
    sender = Sender()
    with pytest.raises(ScenarioError) as refusal:
        read(sender)
    assert refusal.value.status == 413
    assert sender.taken == MAX_BODY_BYTES // CHUNK + 1


def test_a_body_of_just_the_limit_is_read() -> None:
    assert len(read(Sender(last=MAX_BODY_BYTES // CHUNK))) == MAX_BODY_BYTES


def test_the_picture_that_was_seen_longest_ago_makes_room() -> None:
    kept = og._Kept()
    for number in range(og.MAX_PICTURES):
        kept.put(number, b"%d" % number)
    assert kept.get(0) == b"0"  # seen again: now 1 is the one
    kept.put("new", b"new")
    assert kept.get("new") == b"new"
    assert kept.get(1) is None
    assert kept.get(0) == b"0"
    assert all(kept.get(number) for number in range(2, og.MAX_PICTURES))
