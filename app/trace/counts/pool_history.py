"""What a single step cannot tell: who held a row or a block before, and how the requests of the rows came in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from app.pipeline.record import PoolChanges, RemovedRequest
from app.rules import NULL_BLOCK
from app.scenario.plan.plan import Admission, Plan, PlannedStep
from app.trace.counts.loaded import LoadedSlots


@dataclass(frozen=True)
class RowHistory:
    """How the request of each pool row came in, to tell a shared prefix from a block owned twice."""

    hits: Mapping[int, int]  # req_state_idx -> tokens it brought along
    arrivals: Mapping[int, int]  # req_state_idx -> place in the order of arrival; within a step the schedule's


class StaleBlocks:
    """Blocks that nobody holds any more but whose slots still hold the K and V of their last owner."""

    def __init__(self) -> None:
        self._last_owner: dict[int, str] = {}

    def leave(self, left: RemovedRequest) -> None:
        """A request leaves its row: what its tables name is stale from now on."""
        for block_ids in left.block_ids:
            for block_id in block_ids.tolist():
                if block_id > NULL_BLOCK:
                    self._last_owner[block_id] = left.req_id

    def take(self, block_ids: Sequence[Sequence[int]]) -> None:
        """Somebody gets blocks: what was in them no longer counts."""
        if self._last_owner:
            for ids in block_ids:
                for block_id in ids:
                    self._last_owner.pop(block_id, None)

    def not_held(self, held: Tensor) -> tuple[Tensor, list[str]]:
        """Ids [n] of the stale blocks, rising, and their last owners; blocks `held` by somebody else too are left out."""
        ids = torch.tensor(sorted(self._last_owner), dtype=torch.int32, device=held.device)
        ids = ids[~torch.isin(ids, held)]
        return ids, [self._last_owner[block_id] for block_id in ids.tolist()]


class PoolHistory:
    """Follows the steps of a run and remembers who was where."""

    def __init__(self, plan: Plan) -> None:
        max_num_reqs = plan.scenario.config.max_num_reqs
        self.row_req_ids: list[str | None] = [None] * max_num_reqs  # whose data a row holds, also after it was freed
        self.stale_blocks = StaleBlocks()
        self.loaded = LoadedSlots(plan)
        self._hits: dict[int, int] = {}
        self._arrivals: dict[int, int] = {}
        self._num_arrived = 0

    @property
    def rows(self) -> RowHistory:
        return RowHistory(self._hits, self._arrivals)

    def after_step(self, planned: PlannedStep, changes: PoolChanges) -> None:
        """Take note of who left, who came and what they got."""
        for left in changes.removed:
            self.stale_blocks.leave(left)
        place = {request.req_id: index for index, request in enumerate(planned.scheduled)}
        self.enter(sorted(planned.admissions, key=lambda admission: place[admission.req_id]), changes.added)
        for block_ids in planned.new_block_ids.values():
            self.stale_blocks.take(block_ids)
        self.loaded.follow(planned)

    def enter(self, admissions: Sequence[Admission], rows: Mapping[str, int]) -> None:
        """Requests got their `rows`, by req_id."""
        for admission in admissions:
            row = rows[admission.req_id]
            self.row_req_ids[row] = admission.req_id
            self._hits[row] = admission.num_computed_tokens
            self._arrivals[row] = self._num_arrived
            self._num_arrived += 1
