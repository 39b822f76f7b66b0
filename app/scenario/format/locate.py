"""Pointers into a schedule that was sent as pairs.

Checks name a scheduled count by its request (`/steps/1/num_scheduled_tokens/A`), which is its place where an object was
sent. Where pairs were sent, the count stands at `/steps/1/num_scheduled_tokens/0/1`, the name at `/steps/.../0/0`.
"""

from collections.abc import Mapping
from typing import Any

from app.errors import Fault, ScenarioError, pointer


def locate(error: ScenarioError, document: Any, num_located: int = 0) -> ScenarioError:
    """The error with its pointers, and those of its fixes, leading into `document` as it was sent.

    The first `num_located` faults do so already.
    """
    places: dict[int, Mapping[str, int]] = {}  # step -> pointer part of the name -> which pair, where pairs were sent

    def pair_of(where: str) -> str | None:
        parts = where.split("/")
        if len(parts) != 5 or parts[1] != "steps" or parts[3] != "num_scheduled_tokens":
            return None
        step = int(parts[2])
        scheduled = document["steps"][step]["num_scheduled_tokens"]
        if isinstance(scheduled, dict):
            return None
        if step not in places:
            places[step] = {pointer(req_id)[1:]: place for place, (req_id, _) in reversed([*enumerate(scheduled)])}
        return pointer("steps", step, "num_scheduled_tokens", places[step][parts[4]])

    def located(fault: Fault) -> Fault:
        pair = pair_of(fault.where)
        where = fault.where if pair is None else f"{pair}/{0 if fault.code == 'unknown_req_id' else 1}"
        fix = None if fault.fix is None else [relocated(operation) for operation in fault.fix]
        return Fault(where, fault.code, fault.message, fault.params, fix)

    def relocated(operation: Mapping[str, Any]) -> Mapping[str, Any]:
        pair = pair_of(operation["path"])
        if pair is None:
            return operation
        return {**operation, "path": pair if operation["op"] == "remove" else f"{pair}/1"}

    faults = [*error.faults[:num_located], *map(located, error.faults[num_located:])]
    result = ScenarioError(faults, error.status)
    result.num_faults = error.num_faults
    return result
