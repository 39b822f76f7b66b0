"""Slot mapping: where each token is written, looked up in the persistent tables."""

from app.i18n import Translate
from app.pipeline.context_parallel import is_local_token
from app.pipeline.slot_mapping import (
    compute_local_slot_mapping,
    compute_slot_mapping,
    pad_slot_mapping,
)
from app.rules import UNKNOWN_SLOT_ID
from app.trace.space import Case, Source, Space, Stage
from app.trace.stages.vllm import BLOCK_TABLE
from app.trace.step import StepTensors, array, masked
from app.trace.words import runs

_POSITION = "positions[flat_token_idx]"
_TOKEN_ROW = "idx_mapping[token_batch_idx[flat_token_idx]]"

_BLOCK = f"block_tables[group, {_TOKEN_ROW}, block_indices[group, flat_token_idx]]"
_SLOT = "block_numbers[group, flat_token_idx_padded] * block_size[group] + block_offsets[group, flat_token_idx_padded]"
_LOCAL_ONLY = Source(compute_local_slot_mapping, ("is_local = ", "torch.where(is_local"))
# What a token of another rank has no value of here.
_NOT_LOCAL = Case(
    "not_local",
    when="dcp_size > 1 and not is_local[flat_token_idx]",
    inputs=("is_local[flat_token_idx]",),
    source=_LOCAL_ONLY,
    state="not_local",
)


def _sentence(step: StepTensors, translate: Translate) -> str:
    """How many slots are written, and which, by group where there are several."""
    names, total = step.group_names, 0
    parts: list[str] = []
    for name, slots in zip(names, step.slots, strict=True):
        real = slots.slot_ids[: step.batch.num_tokens][slots.has_slot].tolist()
        total += len(real)
        if real:
            slot_ids = runs(real, translate)
            parts.append(f"{name} {slot_ids}" if len(names) > 1 else slot_ids)
    if total == 0:
        return translate("summary.no_slot", {})
    return translate("summary.slot_mapping", {"n": total, "slots": translate("list.of_lists", {}).join(parts)})


SLOT_MAPPING = Stage(
    "slot-mapping",
    sentence=_sentence,
    tier=2,
    elements=("slot_mappings", "flat_token_idx"),
    asks="slot_mappings",
    spaces=[
        Space(
            "is_local",
            ("flat_token_idx",),
            "bool",
            "flag",
            [Case("is_local", f"{_POSITION} // dcp_interleave % dcp_size == dcp_rank")],
            Source(is_local_token, ("return ",)),
            (BLOCK_TABLE, "_compute_slot_mappings_kernel"),
            values=lambda step: array(step.slots[0].is_local),
            is_key=True,
            exists=lambda step: step.cp.size > 1,
        ),
        Space(
            "block_indices",
            ("group", "flat_token_idx"),
            "int64",
            "index",
            [
                Case("block_indices", f"{_POSITION} // block_size[group]", when="dcp_size == 1"),
                Case(
                    "block_indices.parallel",
                    f"{_POSITION} // (block_size[group] * dcp_size)",
                    source=Source(compute_local_slot_mapping, ("virtual_size = ", "block_indices = ")),
                ),
            ],
            Source(compute_slot_mapping, ("block_indices = positions",)),
            (BLOCK_TABLE, "_compute_slot_mappings_kernel"),
            holds="block_index",
            values=lambda step: [array(slots.block_indices) for slots in step.slots],
            is_key=True,
        ),
        Space(
            "block_offsets",
            ("group", "flat_token_idx"),
            "int64",
            "index",
            [
                Case("block_offsets", f"{_POSITION} % block_size[group]", when="dcp_size == 1"),
                _NOT_LOCAL,
                Case(
                    "block_offsets.parallel",
                    f"{_POSITION} % (block_size[group] * dcp_size) // (dcp_interleave * dcp_size) * dcp_interleave"
                    f" + {_POSITION} % dcp_interleave",
                    source=Source(compute_local_slot_mapping, ("virtual_offsets = ", "block_offsets = ")),
                ),
            ],
            Source(compute_slot_mapping, ("block_offsets = ",)),
            (BLOCK_TABLE, "_compute_slot_mappings_kernel"),
            holds="block_offset",
            values=lambda step: [masked(slots.block_offsets, ~slots.is_local) for slots in step.slots],
            is_key=True,
        ),
        Space(
            "block_numbers",
            ("group", "flat_token_idx"),
            "int64",
            "id",
            [
                _NOT_LOCAL,
                Case(
                    "block_numbers.missing",
                    when=f"block_indices[group, flat_token_idx] >= num_blocks[group, {_TOKEN_ROW}]",
                    inputs=("block_indices[group, flat_token_idx]", f"num_blocks[group, {_TOKEN_ROW}]"),
                    state="missing",
                ),
                Case(
                    "block_numbers.unknown",
                    _BLOCK,
                    when="value == None",
                    state="unknown",
                ),
                Case(
                    "block_numbers",
                    _BLOCK,
                    when="dcp_size > 1",
                    source=Source(compute_local_slot_mapping, ("block_numbers = ",)),
                ),
                Case("block_numbers", _BLOCK),
            ],
            Source(compute_slot_mapping, ("block_numbers = table",)),
            (BLOCK_TABLE, "_compute_slot_mappings_kernel"),
            holds="block_id",
            values=lambda step: [masked(slots.block_numbers, ~slots.has_slot) for slots in step.slots],
            is_key=True,
        ),
        Space(
            "slot_mappings",
            ("group", "flat_token_idx_padded"),
            "int64",
            "id",
            [
                Case(
                    "slot_mappings.padding",
                    "PAD_SLOT_ID",
                    when="flat_token_idx_padded >= num_tokens",
                    source=Source(pad_slot_mapping, ("return ",)),
                    state="padding",
                ),
                Case(
                    "slot_mappings.not_local",
                    "PAD_SLOT_ID",
                    when="dcp_size > 1 and not is_local[flat_token_idx_padded]",
                    inputs=("is_local[flat_token_idx_padded]",),
                    source=_LOCAL_ONLY,
                    state="not_local",
                ),
                Case(
                    "slot_mappings.unknown",
                    when="value == None",
                    inputs=("block_numbers[group, flat_token_idx_padded]",),
                    source=Source(compute_slot_mapping, ("is_known = ", "torch.where(is_known")),
                    state="unknown",
                ),
                Case(
                    "slot_mappings",
                    _SLOT,
                    when="dcp_size > 1",
                    source=Source(compute_local_slot_mapping, ("slot_ids = block_numbers",)),
                ),
                Case("slot_mappings", _SLOT),
            ],
            Source(compute_slot_mapping, ("slot_ids = block_numbers",)),
            (BLOCK_TABLE, "_compute_slot_mappings_kernel"),
            holds="slot_id",
            values=lambda step: [masked(slots.slot_ids, slots.slot_ids == UNKNOWN_SLOT_ID) for slots in step.slots],
            is_key=True,
            is_answer=True,
        ),
    ],
)
