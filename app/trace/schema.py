"""All index spaces and how to walk between them: what `GET /api/spaces` answers.

The order is that of the pipeline: schedule, state pool, batch, flatten, block tables, slot mapping, KV cache, update.
"""

import functools
from collections.abc import Sequence
from typing import Any

from app.trace.expressions import compile_expression
from app.trace.space import Space
from app.trace.stages.batch import BATCH
from app.trace.stages.flatten import FLATTEN
from app.trace.stages.kv_cache import KV_CACHE
from app.trace.stages.schedule import SCHEDULE
from app.trace.stages.state_pool import STATE_POOL
from app.trace.stages.tables import BLOCK_TABLES, SLOT_MAPPING
from app.trace.stages.update import UPDATE

SPACES: Sequence[Space] = (
    *SCHEDULE,
    *STATE_POOL,
    *BATCH,
    *FLATTEN,
    *BLOCK_TABLES,
    *SLOT_MAPPING,
    *KV_CACHE,
    *UPDATE,
)

# How to get from the coordinates that a cell has to those they imply, tried in order.
COORDINATES: Sequence[tuple[str, str]] = (
    ("flat_token_idx", "logits_indices[logit_idx]"),
    ("flat_token_idx", "flat_token_idx_padded"),
    ("batch_idx", "batch_idx_padded"),
    ("batch_idx", "batch_boundary"),
    ("batch_idx", "token_batch_idx[flat_token_idx]"),
    ("batch_idx", "find(idx_mapping, req_state_idx)"),
    ("batch_idx", "find(schedule_idx, schedule_idx)"),
    ("group", "kv_block_groups[kv_block_idx]"),
    ("req_state_idx", "kv_block_rows[kv_block_idx]"),
    ("block_index", "kv_block_indices[kv_block_idx]"),
    ("req_state_idx", "idx_mapping[batch_idx]"),
    ("req_id", "row_req_ids[req_state_idx]"),
    ("position", "positions[flat_token_idx]"),
    ("block_index", "block_indices[group, flat_token_idx]"),
    ("block_offset", "block_offsets[group, flat_token_idx]"),
    ("block_id", "block_numbers[group, flat_token_idx]"),
    ("block_id", "block_tables[group, req_state_idx, block_index]"),
    ("slot_id", "slot_mappings[group, flat_token_idx]"),
    ("byte_offset", "slot_byte_offsets[group, flat_token_idx]"),
)

WALK = (
    "req_id",
    "req_state_idx",
    "batch_idx",
    "flat_token_idx",
    "position",
    "block_index",
    "block_offset",
    "block_id",
    "slot_id",
    "byte_offset",
)


@functools.cache
def describe() -> dict[str, Any]:
    """The whole schema as JSON-like data: what `GET /api/spaces` answers."""
    return {
        "version": 1,
        "spaces": {space.name: space.describe() for space in SPACES},
        "sources": {source.symbol: source.describe_function() for space in SPACES for source in space.sources},
        "coordinates": [{"name": name, "expr": compile_expression(text)} for name, text in COORDINATES],
        "walk": list(WALK),
    }
