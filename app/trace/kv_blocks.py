"""Physical blocks in use: who owns them and how far they are filled.

In: the persistent block tables. Out: one entry per (block, group, row, column), by rising block id. A block in use that the
tables name twice (a shared prefix) has an entry for each of its owners.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from app.pipeline.block_tables import BlockTable
from app.pipeline.input_batch import get_dcp_local_seq_lens


@dataclass(frozen=True)
class KVBlocks:
    """All [num_kv_blocks] int64, by kv_block_idx."""

    block_ids: Tensor
    groups: Tensor
    rows: Tensor  # req_state_idx of the owner
    indices: Tensor  # logical block: the column of the table
    num_filled: Tensor  # slots that hold valid tokens after the step, on this rank
    num_written: Tensor  # slots written in the step, on this rank


def kv_blocks(
    tables: Sequence[BlockTable], is_live: Tensor, num_computed: Tensor, seq_lens: Tensor, num_valid: Tensor
) -> KVBlocks:
    """List the known blocks in the tables of live rows, null blocks left out.

    Args:
        tables: one per group.
        is_live: [max_num_reqs] bool, rows that a request holds.
        num_computed: [max_num_reqs] tokens computed before the step.
        seq_lens: [max_num_reqs] tokens written once the step has run; `num_computed` for rows that do not run.
        num_valid: [max_num_reqs] tokens that count after the step, rejected drafts left out.
    """
    parts: list[Tensor] = []
    for group, table in enumerate(tables):
        columns = torch.arange(table.block_table.shape[1], device=is_live.device)
        is_held = is_live[:, None] & (columns < table.num_blocks[:, None]) & (table.block_table > 0)
        rows, indices = is_held.nonzero(as_tuple=True)  # [n] each
        block_ids = table.block_table[rows, indices].to(torch.int64)  # [n]
        tokens_per_block = table.block_size * table.cp.size
        start = indices * tokens_per_block  # [n] first position of the (virtual) block

        def slots(num_tokens: Tensor, start: Tensor = start, rows: Tensor = rows, table: BlockTable = table) -> Tensor:
            within = (num_tokens[rows] - start).clamp(0, table.block_size * table.cp.size)
            return get_dcp_local_seq_lens(within, table.cp)

        num_filled = slots(num_valid)
        num_written = slots(seq_lens) - slots(num_computed)
        parts.append(torch.stack([block_ids, torch.full_like(rows, group), rows, indices, num_filled, num_written]))
    entries = torch.cat(parts, dim=1)  # [6, num_kv_blocks]
    return KVBlocks(*entries[:, entries[0].argsort(stable=True)].unbind(0))
