"""All stages and their index spaces, and how to walk between them: what `GET /api/spaces` answers."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from app.trace.axes import axis
from app.trace.expressions import compile_expression, spaces_read
from app.trace.space import Space, Stage
from app.trace.stages.batch import BATCH
from app.trace.stages.block_tables import BLOCK_TABLES
from app.trace.stages.flatten import FLATTEN
from app.trace.stages.kv_cache import KV_CACHE
from app.trace.stages.schedule import SCHEDULE
from app.trace.stages.slot_mapping import SLOT_MAPPING
from app.trace.stages.state_pool import STATE_POOL
from app.trace.stages.update import UPDATE

# In the order of the pipeline.
STAGES: Sequence[Stage] = (SCHEDULE, STATE_POOL, BATCH, FLATTEN, BLOCK_TABLES, SLOT_MAPPING, KV_CACHE, UPDATE)

SPACES: Sequence[Space] = tuple(space for stage in STAGES for space in stage.spaces)
STAGE_OF: Mapping[str, str] = {space.name: stage.name for stage in STAGES for space in stage.spaces}

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
        "stages": [stage.describe() for stage in STAGES],
        "axes": {dim: axis(dim).describe() for space in SPACES for dim in space.dims},
        "spaces": {space.name: {"stage": STAGE_OF[space.name]} | space.describe() for space in SPACES},
        "sources": {source.symbol: source.describe_function() for space in SPACES for source in space.sources},
        "coordinates": [{"name": name, "expr": compile_expression(text)} for name, text in COORDINATES],
        "walk": list(WALK),
    }


@functools.cache
def worksheet_blanks() -> frozenset[str]:
    """The spaces that a worksheet leaves blank: what a class works out by hand, and all that would tell it.

    These are the answers, what they are made of in their own stage as far as that is computed, and whatever follows from
    any of those in the same step. What the step before left behind (`prev`) is given.
    """
    made_of = {space.name: spaces_read(_trees(space), with_indices=False) for space in SPACES}
    follows_from = {space.name: spaces_read(_trees(space)) for space in SPACES}
    is_computed = {space.name for space in SPACES if any(case.formula is not None for case in space.cases)}

    def add(blank: frozenset[str], more: Callable[[frozenset[str]], set[str]]) -> frozenset[str]:
        while not (found := more(blank)) <= blank:
            blank |= found
        return blank

    answers = frozenset(space.name for space in SPACES if space.is_answer)
    parts = add(
        answers,
        lambda blank: {part for name in blank for part in made_of[name] & is_computed if STAGE_OF[part] == STAGE_OF[name]},
    )
    return add(parts, lambda blank: {name for name, read in follows_from.items() if read & blank})


def _trees(space: Space) -> list[Any]:
    """What the cells of a space are computed from: formulas and further inputs."""
    return [compile_expression(text) for case in space.cases for text in (case.formula, *case.inputs) if text is not None]
