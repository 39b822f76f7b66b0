"""Faults of what a user sent: where, what, and what would be right.

A fault carries no sentence of its own but the key of one (`fault.<message>` in app/locales) and the numbers to fill in, so
that every language says the same.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

MAX_FAULTS = 100


def pointer(*parts: str | int) -> str:
    """A JSON Pointer (RFC 6901) of the given keys and indices."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


@dataclass(frozen=True)
class Fault:
    """One thing that cannot be.

    `where` is a JSON Pointer into what was sent, `code` one of the contract's, `message` the key of the sentence without
    its `fault.` prefix, `params` the numbers in it, `fix` a JSON Patch of what was sent where there is an obvious one.
    """

    where: str
    code: str
    message: str
    params: Mapping[str, Any] = field(default_factory=dict)
    fix: Sequence[Mapping[str, Any]] | None = None


class ScenarioError(Exception):
    """What was sent is not a scenario that can be run.

    Attributes:
        faults: what is wrong, in the order found, at most MAX_FAULTS.
        status: the HTTP status that fits: 400 unreadable, 413 too large, 422 otherwise.
        num_faults: how many were found, also those left out.
    """

    def __init__(self, faults: Iterable[Fault], status: int = 422) -> None:
        found = list(faults)
        assert found, "an error needs a fault"
        self.faults = found[:MAX_FAULTS]
        self.num_faults = len(found)
        self.status = status
        super().__init__("; ".join(f"{fault.where or '/'}: {fault.message} {dict(fault.params)}" for fault in self.faults))


def replace(where: str, value: Any) -> list[dict[str, Any]]:
    """A JSON Patch that puts `value` at `where`."""
    return [{"op": "replace", "path": where, "value": value}]


def remove(where: str) -> list[dict[str, Any]]:
    """A JSON Patch that drops what is at `where`."""
    return [{"op": "remove", "path": where}]
