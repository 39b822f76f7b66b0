"""Block tables for reading, slot mapping for writing."""

from app.pipeline.block_tables import BlockTable, is_local_token
from app.trace.space import Case, Source, Space
from app.trace.stages.vllm import BLOCK_TABLE

_NUM_COMPUTED_OF_ROW = "num_computed_tokens[idx_mapping[batch_idx_padded]]"

BLOCK_TABLES = [
    Space(
        "input_block_tables",
        ("group", "batch_idx_padded", "block_index"),
        "int32",
        "block-tables",
        [
            Case(
                "input_block_tables.stale",
                when="block_index >= num_blocks[group, idx_mapping[batch_idx_padded]]",
            ),
            Case(
                "input_block_tables.null",
                "0",
                when="sliding_window[group] != None and dcp_size == 1 and"
                f" block_index < max({_NUM_COMPUTED_OF_ROW} - (sliding_window[group] - 1), 0) // block_size[group]",
                inputs=(_NUM_COMPUTED_OF_ROW,),
            ),
            Case(
                "input_block_tables.unknown",
                "block_tables[group, idx_mapping[batch_idx_padded], block_index]",
                when="value == None",
            ),
            Case("input_block_tables", "block_tables[group, idx_mapping[batch_idx_padded], block_index]"),
        ],
        Source(BlockTable.gather, ("block_ids = self.block_table", "masked_fill", "out=destination")),
        (BLOCK_TABLE, "_gather_block_tables_kernel"),
        holds="block_id",
    )
]

_POSITION = "positions[flat_token_idx]"
_TOKEN_ROW = "idx_mapping[token_batch_idx[flat_token_idx]]"

_BLOCK = f"block_tables[group, {_TOKEN_ROW}, block_indices[group, flat_token_idx]]"
_SLOT = "block_numbers[group, flat_token_idx_padded] * block_size[group] + block_offsets[group, flat_token_idx_padded]"
_LOCAL_ONLY = Source(BlockTable.compute_local_slot_mapping, ("is_local = ", "torch.where(is_local"))

SLOT_MAPPING = [
    Space(
        "block_indices",
        ("group", "flat_token_idx"),
        "int64",
        "slot-mapping",
        [
            Case("block_indices", f"{_POSITION} // block_size[group]", when="dcp_size == 1"),
            Case(
                "block_indices.parallel",
                f"{_POSITION} // (block_size[group] * dcp_size)",
                source=Source(BlockTable.compute_local_slot_mapping, ("virtual_size = ", "block_indices = ")),
            ),
        ],
        Source(BlockTable.compute_slot_mapping, ("block_indices = positions",)),
        (BLOCK_TABLE, "_compute_slot_mappings_kernel"),
        holds="block_index",
    ),
    Space(
        "block_offsets",
        ("group", "flat_token_idx"),
        "int64",
        "slot-mapping",
        [
            Case("block_offsets", f"{_POSITION} % block_size[group]", when="dcp_size == 1"),
            Case(
                "not_local",
                when="not is_local[flat_token_idx]",
                inputs=("is_local[flat_token_idx]",),
                source=_LOCAL_ONLY,
            ),
            Case(
                "block_offsets.parallel",
                f"{_POSITION} % (block_size[group] * dcp_size) // (dcp_interleave * dcp_size) * dcp_interleave"
                f" + {_POSITION} % dcp_interleave",
                source=Source(
                    BlockTable.compute_local_slot_mapping, ("virtual_offsets = ", "rounds = ", "block_offsets = ")
                ),
            ),
        ],
        Source(BlockTable.compute_slot_mapping, ("block_offsets = ",)),
        (BLOCK_TABLE, "_compute_slot_mappings_kernel"),
        holds="block_offset",
    ),
    Space(
        "block_numbers",
        ("group", "flat_token_idx"),
        "int64",
        "slot-mapping",
        [
            Case(
                "not_local",
                when="dcp_size > 1 and not is_local[flat_token_idx]",
                inputs=("is_local[flat_token_idx]",),
                source=_LOCAL_ONLY,
            ),
            Case(
                "block_numbers.missing",
                when=f"block_indices[group, flat_token_idx] >= num_blocks[group, {_TOKEN_ROW}]",
                inputs=("block_indices[group, flat_token_idx]", f"num_blocks[group, {_TOKEN_ROW}]"),
            ),
            Case(
                "block_numbers.unknown",
                _BLOCK,
                when="value == None",
            ),
            Case(
                "block_numbers",
                _BLOCK,
                when="dcp_size > 1",
                source=Source(BlockTable.compute_local_slot_mapping, ("block_numbers = ",)),
            ),
            Case("block_numbers", _BLOCK),
        ],
        Source(BlockTable.compute_slot_mapping, ("block_numbers = self",)),
        (BLOCK_TABLE, "_compute_slot_mappings_kernel"),
        holds="block_id",
    ),
    Space(
        "is_local",
        ("flat_token_idx",),
        "bool",
        "slot-mapping",
        [Case("is_local", f"{_POSITION} // dcp_interleave % dcp_size == dcp_rank")],
        Source(is_local_token, ("return ",)),
        (BLOCK_TABLE, "_compute_slot_mappings_kernel"),
    ),
    Space(
        "slot_mappings",
        ("group", "flat_token_idx_padded"),
        "int64",
        "slot-mapping",
        [
            Case("slot_mappings.padding", "PAD_SLOT_ID", when="flat_token_idx_padded >= num_tokens"),
            Case(
                "slot_mappings.not_local",
                "PAD_SLOT_ID",
                when="dcp_size > 1 and not is_local[flat_token_idx_padded]",
                inputs=("is_local[flat_token_idx_padded]",),
                source=_LOCAL_ONLY,
            ),
            Case(
                "slot_mappings.unknown",
                when="value == None",
                inputs=("block_numbers[group, flat_token_idx_padded]",),
            ),
            Case(
                "slot_mappings",
                _SLOT,
                when="dcp_size > 1",
                source=Source(BlockTable.compute_local_slot_mapping, ("slot_ids = ",)),
            ),
            Case("slot_mappings", _SLOT),
        ],
        Source(BlockTable.compute_slot_mapping, ("slot_ids = ",)),
        (BLOCK_TABLE, "_compute_slot_mappings_kernel"),
        holds="slot_id",
    ),
]
