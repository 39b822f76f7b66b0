"""Block tables: which physical blocks hold the tokens of a pool row.

In: block ids as the scheduler hands them out. Out: the *persistent* table of each KV-cache group, by pool row, which slot
mapping looks up for **writing**. It is a buffer: what a step does not overwrite is still there. Mirrors the `block_tables`
of `BlockTables` in vllm/v1/worker/gpu/block_table.py.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from app.pipeline.context_parallel import ContextParallel
from app.pipeline.ragged import runs


@dataclass(frozen=True)
class GroupConfig:
    """One KV-cache group and how many columns its table needs in this run.

    `num_columns` may be smaller than vLLM's `ceil(max_model_len / (block_size * cp_size))`: columns that the run never
    writes are left out.
    """

    block_size: int
    sliding_window: int | None
    num_columns: int


class BlockTable:
    """The persistent table of one KV-cache group."""

    def __init__(self, group: GroupConfig, cp: ContextParallel, max_num_reqs: int, device: torch.device) -> None:
        self.group = group
        self.cp = cp
        self.device = device
        self.block_table = torch.zeros(max_num_reqs, group.num_columns, dtype=torch.int32, device=device)
        self.num_blocks = torch.zeros(max_num_reqs, dtype=torch.int32, device=device)  # by req_state_idx
        # How far each row was ever written: [max_num_reqs] int32. What lies past num_blocks and before this is stale.
        self.written_columns = torch.zeros_like(self.num_blocks)
        self._num_blocks_cpu = [0] * max_num_reqs
        self._staged: list[tuple[int, int, Sequence[int]]] = []  # row, first column, ids

    def append_block_ids(self, req_state_idx: int, block_ids: Sequence[int], overwrite: bool) -> None:
        """Stage ids behind the row's blocks, or from column 0 on (`overwrite`, for a request that gets the row)."""
        start = 0 if overwrite else self._num_blocks_cpu[req_state_idx]
        assert start + len(block_ids) <= self.group.num_columns, f"row {req_state_idx} is full"
        self._num_blocks_cpu[req_state_idx] = start + len(block_ids)
        self._staged.append((req_state_idx, start, block_ids))

    def apply_staged_writes(self) -> None:
        """Write all staged ids in one scatter. Old ids behind them stay."""
        if not self._staged:
            return
        req_state_idx, starts, lengths = torch.tensor(
            [(row, start, len(block_ids)) for row, start, block_ids in self._staged], dtype=torch.int64, device=self.device
        ).unbind(1)  # each [num_writes]
        contents = array("i")
        for _, _, block_ids in self._staged:
            contents.extend(block_ids)
        if contents:
            ids = torch.frombuffer(contents, dtype=torch.int32).to(self.device)  # [num_ids]
            address = runs(req_state_idx * self.group.num_columns + starts, lengths)  # [num_ids]
            self.block_table.view(-1)[address] = ids
        num_blocks = [self._num_blocks_cpu[row] for row, _, _ in self._staged]
        self.num_blocks[req_state_idx] = torch.tensor(num_blocks, dtype=torch.int32, device=self.device)
        self.written_columns.scatter_reduce_(0, req_state_idx, (starts + lengths).to(torch.int32), "amax")
        self._staged.clear()

    def blocks_of(self, req_state_idx: int) -> Tensor:
        """A copy of what the row's blocks are. [num_blocks] int32."""
        return self.block_table[req_state_idx, : self._num_blocks_cpu[req_state_idx]].clone()
