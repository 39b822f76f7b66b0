"""Block tables and slot mapping: from `(req_state_idx, position)` to the slot a token is written to.

Two tables per KV-cache group. The *persistent* one is kept by pool row and is what slot mapping looks up, for **writing**.
The *gathered* one (`input_block_tables`) is its copy by batch row that attention walks, for **reading**. Both are buffers:
what a step does not overwrite is still there. Mirrors `BlockTables` in vllm/v1/worker/gpu/block_table.py.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from app.rules import NULL_BLOCK, PAD_SLOT_ID


@dataclass(frozen=True)
class ContextParallel:
    """How the tokens of a request are dealt out to `size` ranks: `interleave` at a time, round robin."""

    size: int = 1
    rank: int = 0
    interleave: int = 1


@dataclass(frozen=True)
class GroupSlots:
    """Slot mapping of one KV-cache group, step by step."""

    block_indices: Tensor  # [num_tokens] int64 logical block
    block_offsets: Tensor  # [num_tokens] int64 offset inside the block, on the rank that holds the token
    block_numbers: Tensor  # [num_tokens] int64 physical block
    slot_ids: Tensor  # [num_tokens] int64, PAD_SLOT_ID for a token of another rank


class BlockTable:
    """The two tables of one KV-cache group.

    `num_columns` may be smaller than vLLM's `ceil(max_model_len / (block_size * cp_size))`: columns that the run never
    writes are left out.
    """

    def __init__(
        self,
        block_size: int,
        sliding_window: int | None,
        max_num_reqs: int,
        num_columns: int,
        cp: ContextParallel,
        device: torch.device,
    ) -> None:
        self.block_size = block_size
        self.sliding_window = sliding_window
        self.cp = cp
        self.device = device
        self._num_columns = num_columns
        self.block_table = torch.zeros(max_num_reqs, num_columns, dtype=torch.int32, device=device)  # by req_state_idx
        self.input_block_table = torch.zeros_like(self.block_table)  # by batch_idx
        self.num_blocks = torch.zeros(max_num_reqs, dtype=torch.int32, device=device)  # by req_state_idx
        # How far each row was ever written: [rows] int32. What lies past num_blocks and before this is stale.
        self.written_columns = torch.zeros_like(self.num_blocks)
        self.input_written_columns = torch.zeros_like(self.num_blocks)
        self._num_blocks_cpu = [0] * max_num_reqs
        self._staged: list[tuple[int, int, Sequence[int]]] = []  # row, first column, ids

    def append_block_ids(self, req_state_idx: int, block_ids: Sequence[int], overwrite: bool) -> None:
        """Stage ids behind the row's blocks, or from column 0 on (`overwrite`, for a request that gets the row)."""
        start = 0 if overwrite else self._num_blocks_cpu[req_state_idx]
        assert start + len(block_ids) <= self._num_columns, f"row {req_state_idx} is full"
        self._num_blocks_cpu[req_state_idx] = start + len(block_ids)
        self._staged.append((req_state_idx, start, block_ids))

    def apply_staged_writes(self) -> None:
        """Write all staged ids in one scatter. Old ids behind them stay."""
        if not self._staged:
            return
        rows = torch.tensor([row for row, _, _ in self._staged], dtype=torch.int64, device=self.device)  # [num_writes]
        starts = torch.tensor([start for _, start, _ in self._staged], dtype=torch.int64, device=self.device)
        lengths = torch.tensor([len(ids) for _, _, ids in self._staged], dtype=torch.int64, device=self.device)
        contents = array("i")
        for _, _, block_ids in self._staged:
            contents.extend(block_ids)
        if contents:
            ids = torch.frombuffer(contents, dtype=torch.int32).to(self.device)  # [num_ids]
            first = lengths.cumsum(0) - lengths  # [num_writes] where each write's ids begin in ids
            address = rows * self.block_table.shape[1] + starts - first  # [num_writes]
            address = torch.repeat_interleave(address, lengths) + torch.arange(len(ids), device=self.device)  # [num_ids]
            self.block_table.view(-1)[address] = ids
        ends = (starts + lengths).to(torch.int32)  # [num_writes]
        self.num_blocks[rows] = torch.tensor(
            [self._num_blocks_cpu[row] for row, _, _ in self._staged], dtype=torch.int32, device=self.device
        )
        self.written_columns.scatter_reduce_(0, rows, ends, "amax")
        self._staged.clear()

    def gather(self, idx_mapping: Tensor, num_computed_tokens: Tensor, num_rows_cleared: int) -> None:
        """Copy the blocks of the batch's pool rows into the table that attention reads.

        Columns behind a row's `num_blocks` keep what an earlier step left. Rows `[num_reqs, num_rows_cleared)` become 0.

        Args:
            idx_mapping: [num_reqs] pool row of each batch row.
            num_computed_tokens: [max_num_reqs] by pool row.
            num_rows_cleared: this step's `num_reqs_padded` or the previous step's `num_reqs`, whichever is larger.
        """
        num_reqs = len(idx_mapping)
        num_blocks = self.num_blocks[idx_mapping]  # [num_reqs]
        null_blocks = self.num_null_blocks(num_computed_tokens[idx_mapping])  # [num_reqs]
        max_blocks = int(num_blocks.max())
        # Rows of very different lengths are copied one by one, so that the work follows what is copied.
        if num_reqs * max_blocks > 65_536 + 4 * int(num_blocks.sum()):
            for batch_idx, (row, length, nulls) in enumerate(
                zip(idx_mapping.tolist(), num_blocks.tolist(), null_blocks.tolist(), strict=True)
            ):
                self.input_block_table[batch_idx, :length] = self.block_table[row, :length]
                self.input_block_table[batch_idx, : min(nulls, length)] = NULL_BLOCK
        else:
            column = torch.arange(max_blocks, dtype=torch.int32, device=self.device)  # [max_blocks]
            destination = self.input_block_table[:num_reqs, :max_blocks]
            block_ids = self.block_table[:, :max_blocks].index_select(0, idx_mapping)  # [num_reqs, max_blocks]
            if self.sliding_window is not None:
                block_ids = block_ids.masked_fill(column < null_blocks[:, None], NULL_BLOCK)
            torch.where(column < num_blocks[:, None], block_ids, destination, out=destination)
        written = self.input_written_columns
        written[:num_reqs] = torch.maximum(written[:num_reqs], num_blocks)
        self.input_block_table[num_reqs:num_rows_cleared] = NULL_BLOCK
        written[num_reqs:num_rows_cleared] = 0

    def num_null_blocks(self, num_computed_tokens: Tensor) -> Tensor:
        """How many leading blocks no query of this step can see: they may already belong to somebody else. [num_reqs]"""
        if self.sliding_window is None or self.cp.size > 1:
            return torch.zeros_like(num_computed_tokens)
        return (num_computed_tokens - (self.sliding_window - 1)).clamp(min=0) // self.block_size

    def compute_slot_mapping(self, req_state_idx: Tensor, positions: Tensor) -> GroupSlots:
        """The slot of each token, looked up in the **persistent** table through the pool row.

        Args:
            req_state_idx: [num_tokens] pool row of each token.
            positions: [num_tokens] int64.
        """
        if self.cp.size > 1:
            return self.compute_local_slot_mapping(req_state_idx, positions)
        block_size = self.block_size
        block_indices = positions // block_size  # [num_tokens] which logical block
        block_offsets = positions % block_size  # [num_tokens] where inside it
        block_numbers = self.block_table[req_state_idx, block_indices].to(torch.int64)  # [num_tokens] physical block
        slot_ids = block_numbers * block_size + block_offsets  # [num_tokens] linear KV slot
        return GroupSlots(block_indices, block_offsets, block_numbers, slot_ids)

    def compute_local_slot_mapping(self, req_state_idx: Tensor, positions: Tensor) -> GroupSlots:
        """The same where several ranks share a request: a table entry is a virtual block, one block on every rank."""
        block_size, cp = self.block_size, self.cp
        virtual_size = block_size * cp.size  # a virtual block: one block on every rank
        block_indices = positions // virtual_size  # [num_tokens] which virtual block
        virtual_offsets = positions % virtual_size  # [num_tokens] where inside it
        is_local = is_local_token(virtual_offsets, cp)  # [num_tokens]
        rounds = virtual_offsets // (cp.interleave * cp.size)  # [num_tokens] full deals before this token
        block_offsets = rounds * cp.interleave + virtual_offsets % cp.interleave  # [num_tokens] offset on its rank
        block_numbers = self.block_table[req_state_idx, block_indices].to(torch.int64)  # [num_tokens]
        slot_ids = block_numbers * block_size + block_offsets  # [num_tokens]
        slot_ids = torch.where(is_local, slot_ids, PAD_SLOT_ID)  # [num_tokens] another rank writes the others
        return GroupSlots(block_indices, block_offsets, block_numbers, slot_ids)


def is_local_token(positions: Tensor, cp: ContextParallel) -> Tensor:
    """Whether this rank holds the token at each position [num_tokens]: bool."""
    return positions // cp.interleave % cp.size == cp.rank


class BlockTables:
    """The tables of all KV-cache groups."""

    def __init__(self, groups: Sequence[BlockTable]) -> None:
        self.groups = tuple(groups)

    def append_block_ids(self, req_state_idx: int, block_ids: Sequence[Sequence[int]], overwrite: bool) -> None:
        """Stage the new ids of a row, one list per group."""
        for group, ids in zip(self.groups, block_ids, strict=True):
            group.append_block_ids(req_state_idx, ids, overwrite)

    def apply_staged_writes(self) -> None:
        """Bring the staged ids of every group to the device."""
        for group in self.groups:
            group.apply_staged_writes()

    def gather_block_tables(self, idx_mapping: Tensor, num_computed_tokens: Tensor, num_rows_cleared: int) -> None:
        """Fill the tables that attention reads, of every group."""
        for group in self.groups:
            group.gather(idx_mapping, num_computed_tokens, num_rows_cleared)

    def compute_slot_mappings(self, req_state_idx: Tensor, positions: Tensor) -> tuple[GroupSlots, ...]:
        """Slots of every group, for tokens at `(req_state_idx [num_tokens], positions [num_tokens])`."""
        return tuple(group.compute_slot_mapping(req_state_idx, positions) for group in self.groups)
