"""Slots whose K and V were loaded: they belong to a hit, and no request of the scenario computed them.

vLLM's own prefix cache hits whole blocks that some request has computed before. Where nobody here did, or where a hit ends
inside a block, K and V came from outside: from a KV connector, or from a cache that was filled before the scenario begins.

In: a plan, its steps one after the other. Out: which slots of a block were computed. Only blocks that are part of a hit are
followed; in all others every filled slot was computed.
"""

from array import array
from dataclasses import dataclass

import torch
from torch import Tensor

from app.pipeline.context_parallel import ContextParallel, get_dcp_local_seq_lens
from app.rules import NULL_BLOCK, num_blocks_for
from app.scenario.plan.plan import Plan, PlannedStep


def slots_within(num_tokens: Tensor | int, block_indices: Tensor, tokens_per_block: int, cp: ContextParallel) -> Tensor:
    """How many of a request's first `num_tokens` tokens lie in its (virtual) blocks `block_indices`, on this rank. [n]"""
    within = (num_tokens - block_indices * tokens_per_block).clamp(0, tokens_per_block)
    return within if cp.size == 1 else get_dcp_local_seq_lens(within, cp)


class LoadedSlots:
    """Follows the blocks of all hits of a plan."""

    def __init__(self, plan: Plan) -> None:
        config = plan.scenario.config
        parallel = config.context_parallel
        cp = ContextParallel(parallel.size, parallel.rank, parallel.interleave)
        self._groups = [
            _HitBlocks(_ids_of_hits(plan, index, config.tokens_per_block(group)), group.block_size, cp)
            for index, group in enumerate(config.kv_cache_groups)
        ]
        for admission in plan.initial:  # what they come with was computed by steps before the first
            for group, block_ids in zip(self._groups, admission.block_ids, strict=True):
                group.hold(admission.req_id, block_ids, hit=0)
                group.write(admission.req_id, 0, admission.num_computed_tokens)

    def follow(self, step: PlannedStep) -> None:
        """Requests leave, come and get blocks, and compute tokens."""
        admitted = {admission.req_id: admission.num_computed_tokens for admission in step.admissions}
        for index, group in enumerate(self._groups):
            if not group.num_blocks:
                continue
            for req_id, _ in step.removed:
                group.leave(req_id)
            for req_id, block_ids in step.new_block_ids.items():
                group.hold(req_id, block_ids[index], admitted.get(req_id, 0))
            for request in step.scheduled:
                num_sampled = len(step.sampled_token_ids.get(request.req_id, ()))
                after = request.num_computed_tokens_after(num_sampled)
                group.write(request.req_id, request.num_computed_tokens, after)

    def computed(self, group: int, block_ids: Tensor, columns: Tensor) -> tuple[Tensor, Tensor]:
        """Where the computed slots of a group's blocks, held in `columns`, begin and end: offsets. All [n], int32."""
        return self._groups[group].computed(block_ids, columns)


def _ids_of_hits(plan: Plan, group: int, tokens_per_block: int) -> Tensor:
    """Ids of the blocks that a hit covers or ends in, rising. [n] int64"""
    found = array("i")
    for step in plan.steps:
        for admission in step.admissions:
            if admission.num_computed_tokens:
                found.extend(admission.block_ids[group][: num_blocks_for(admission.num_computed_tokens, tokens_per_block)])
    ids = _tensor(found).sort().values
    is_new = torch.ones_like(ids, dtype=torch.bool)
    is_new[1:] = ids[1:] != ids[:-1]
    return ids[is_new & (ids > NULL_BLOCK)]


def _tensor(block_ids: "array[int]") -> Tensor:
    ids = torch.frombuffer(block_ids, dtype=torch.int32) if block_ids else torch.zeros(0, dtype=torch.int32)
    return ids.to(torch.int64)


@dataclass
class _Table:
    """The part of a request's block table that is followed."""

    length: int
    columns: Tensor  # [n] int32, rising
    places: Tensor  # [n] int64, among the blocks of hits

    @property
    def last_column(self) -> int:
        return int(self.columns[-1]) if len(self.columns) else -1


class _HitBlocks:
    """The blocks of one group that hits are made of: in which column they stand, and which of their slots were computed."""

    def __init__(self, ids: Tensor, block_size: int, cp: ContextParallel) -> None:
        self._ids = ids  # [num_blocks] int64, rising
        self._block_size = block_size
        self._tokens_per_block = block_size * cp.size
        self._cp = cp
        self._columns = torch.full_like(
            ids, -1, dtype=torch.int32
        )  # [num_blocks] of the table that computed them; -1: none yet
        self._begin = torch.zeros_like(self._columns)  # [num_blocks] offsets of the computed slots: begin <= offset < end
        self._end = torch.zeros_like(self._columns)
        self._tables: dict[str, _Table] = {}

    @property
    def num_blocks(self) -> int:
        return len(self._ids)

    def leave(self, req_id: str) -> None:
        """A request leaves. What it computed stays in its blocks until they are given to another."""
        self._tables.pop(req_id, None)

    def hold(self, req_id: str, block_ids: "array[int]", hit: int) -> None:
        """A request's table grows.

        A block that the hit covers keeps what was computed for its column. Any other starts anew, that in which a hit ends
        as well: what the hit covers of it was loaded.
        """
        if not self.num_blocks:
            return
        nothing = torch.zeros(0, dtype=torch.int64)
        table = self._tables.setdefault(req_id, _Table(0, nothing.to(torch.int32), nothing))
        places, is_followed = self._find(_tensor(block_ids))
        columns = table.length + is_followed.nonzero().squeeze(1).to(torch.int32)
        places = places[is_followed]
        is_kept = ((columns + 1) * self._tokens_per_block <= hit) & (self._columns[places] == columns)
        self._columns[places[~is_kept]] = columns[~is_kept]
        self._begin[places[~is_kept]] = self._end[places[~is_kept]] = 0
        table.length += len(block_ids)
        table.columns, table.places = torch.cat([table.columns, columns]), torch.cat([table.places, places])

    def write(self, req_id: str, before: int, after: int) -> None:
        """A request has computed its tokens at positions `before .. after - 1`."""
        table = self._tables.get(req_id)
        if table is None or before // self._tokens_per_block > table.last_column:
            return
        begin = slots_within(before, table.columns, self._tokens_per_block, self._cp)
        end = slots_within(after, table.columns, self._tokens_per_block, self._cp)
        is_written = end > begin
        columns, places, begin, end = (part[is_written] for part in (table.columns, table.places, begin, end))
        is_more = (self._columns[places] == columns) & (self._end[places] > self._begin[places])
        self._columns[places] = columns
        self._begin[places] = torch.where(is_more, torch.minimum(self._begin[places], begin), begin)
        self._end[places] = torch.where(is_more, torch.maximum(self._end[places], end), end)

    def computed(self, block_ids: Tensor, columns: Tensor) -> tuple[Tensor, Tensor]:
        """See `LoadedSlots.computed`. Who holds a block in another column reads it no more, or should not have it."""
        begin = torch.zeros(len(block_ids), dtype=torch.int32)
        end = torch.full_like(begin, self._block_size)
        if self.num_blocks:
            places, is_followed = self._find(block_ids.cpu().to(torch.int64))
            is_followed &= self._columns[places] == columns.cpu()
            begin[is_followed] = self._begin[places[is_followed]]
            end[is_followed] = self._end[places[is_followed]]
        return begin.to(block_ids.device), end.to(block_ids.device)

    def _find(self, block_ids: Tensor) -> tuple[Tensor, Tensor]:
        """The places of blocks [n] among those that are followed, and whether they are: [n] int64 and bool."""
        places = torch.searchsorted(self._ids, block_ids).clamp(max=self.num_blocks - 1)
        return places, self._ids[places] == block_ids
