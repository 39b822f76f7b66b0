"""KV cache: where a slot lies in bytes, and the physical blocks in use."""

import dataclasses
import functools

from app.i18n import Translate
from app.pipeline.kv_cache import LAYOUTS, KVCacheLayout, Layout
from app.trace.counts.kv_blocks import kv_blocks
from app.trace.counts.loaded import LoadedSlots
from app.trace.counts.pool_history import StaleBlocks
from app.trace.space import Case, Source, Space, Stage
from app.trace.step import StepTensors, Values, array, masked

_BLOCK_OF = "kv_block_indices[kv_block_idx]"
_OWNER = "kv_block_rows[kv_block_idx]"
_GROUP = "kv_block_groups[kv_block_idx]"
_SIZE = f"block_size[{_GROUP}]"
_BATCH_OF_OWNER = f"find(idx_mapping, {_OWNER})"
_KV_SOURCE = Source(kv_blocks, ("is_held = ", "block_ids = ", "rows = ", "indices = "))


def _within_block(num_tokens: str) -> str:
    return f"min(max({num_tokens} - {_BLOCK_OF} * {_SIZE}, 0), {_SIZE})"


_LOADED = "kv_block_num_filled[kv_block_idx] - ({} - {})".format(
    *(f"min(kv_block_computed_{edge}[kv_block_idx], kv_block_num_filled[kv_block_idx])" for edge in ("end", "begin"))
)
_NHD = "slot_mappings[group, flat_token_idx] * bytes_per_slot"
_HND = (
    "(block_numbers[group, flat_token_idx] * num_kv_heads * block_size[group] + block_offsets[group, flat_token_idx])"
    " * bytes_per_head"
)


def _byte_offsets(step: StepTensors, order: Layout) -> list[Values]:
    """Per group, the byte in one layer's memory at which each token's slot begins in a layout."""
    layout = dataclasses.replace(step.layout, order=order)
    return [
        masked(
            layout.byte_offsets(slots.block_numbers, slots.block_offsets, table.block_size),
            ~slots.has_slot,
        )
        for table, slots in zip(step.tables, step.slots, strict=True)
    ]


def _sentence(step: StepTensors, translate: Translate) -> str:
    blocks = step.kv_blocks
    num_used = len(set(blocks.block_ids.tolist()))  # a block that several requests share is one block
    num_written = len(set(blocks.block_ids[blocks.num_written > 0].tolist()))
    return translate("summary.kv_cache", {"used": translate("count.blocks", {"n": num_used}), "touched": num_written})


KV_CACHE = Stage(
    "kv-cache",
    sentence=_sentence,
    tier=3,
    elements=("slot_byte_offsets", "flat_token_idx"),
    needs_batch=False,
    spaces=[
        Space(
            "slot_byte_offsets",
            ("group", "flat_token_idx"),
            "int64",
            "count",
            [
                Case("slot_byte_offsets.none", when="slot_mappings[group, flat_token_idx] == -1", state="none"),
                Case("slot_byte_offsets.unknown", when="slot_mappings[group, flat_token_idx] == None", state="unknown"),
                Case(
                    "slot_byte_offsets.nhd",
                    _NHD,
                    when="kv_layout == 'NHD'",
                ),
                Case(
                    "slot_byte_offsets.hnd",
                    _HND,
                ),
            ],
            Source(KVCacheLayout.byte_offsets, ("return ",)),
            ("vllm/v1/attention/backends/utils.py", "get_kv_cache_layout"),
            exactness="illustrative",
            values=lambda step: _byte_offsets(step, step.layout.order),
            exists=lambda step: step.has_batch,
            is_answer=True,
        ),
        *(
            Space(
                f"byte_offsets_{layout.lower()}",
                ("group", "flat_token_idx"),
                "int64",
                "count",
                [
                    Case("slot_byte_offsets.none", when="slot_mappings[group, flat_token_idx] == -1", state="none"),
                    Case("slot_byte_offsets.unknown", when="slot_mappings[group, flat_token_idx] == None", state="unknown"),
                    Case(f"slot_byte_offsets.{layout.lower()}", formula),
                ],
                Source(KVCacheLayout.byte_offsets, ("return slot_ids",) if layout == "NHD" else ("return ((block_numbers",)),
                ("vllm/v1/attention/backends/utils.py", "get_kv_cache_layout"),
                exactness="illustrative",
                values=functools.partial(_byte_offsets, order=layout),
                exists=lambda step: step.has_batch,
                is_detail=True,
            )
            for layout, formula in zip(LAYOUTS, (_NHD, _HND), strict=True)
        ),
        Space(
            "kv_block_ids",
            ("kv_block_idx",),
            "int32",
            "id",
            [Case("kv_block_ids", f"block_tables[kv_block_groups[kv_block_idx], {_OWNER}, {_BLOCK_OF}]")],
            _KV_SOURCE,
            None,
            holds="block_id",
            exactness="simplified",
            values=lambda step: array(step.kv_blocks.block_ids),
        ),
        Space(
            "kv_block_groups",
            ("kv_block_idx",),
            "int32",
            "index",
            [Case("kv_block_groups")],
            _KV_SOURCE,
            None,
            holds="group",
            exactness="simplified",
            values=lambda step: array(step.kv_blocks.groups),
        ),
        Space(
            "kv_block_rows",
            ("kv_block_idx",),
            "int64",
            "index",
            [Case("kv_block_rows", inputs=("row_req_ids[value]",))],
            _KV_SOURCE,
            None,
            holds="req_state_idx",
            exactness="simplified",
            values=lambda step: array(step.kv_blocks.rows),
        ),
        Space(
            "kv_block_indices",
            ("kv_block_idx",),
            "int64",
            "index",
            [Case("kv_block_indices")],
            _KV_SOURCE,
            None,
            holds="block_index",
            exactness="simplified",
            values=lambda step: array(step.kv_blocks.indices),
        ),
        Space(
            "kv_block_num_filled",
            ("kv_block_idx",),
            "int32",
            "count",
            [
                Case("kv_block_num_filled.parallel", when="dcp_size > 1"),
                Case(
                    "kv_block_num_filled",
                    _within_block(f"num_computed_tokens_after[{_BATCH_OF_OWNER}]"),
                    when=f"{_BATCH_OF_OWNER} != None",
                ),
                Case("kv_block_num_filled.idle", _within_block(f"num_computed_tokens[{_OWNER}]")),
            ],
            Source(kv_blocks, ("num_filled = ",)),
            None,
            exactness="simplified",
            values=lambda step: array(step.kv_blocks.num_filled),
        ),
        Space(
            "kv_block_num_written",
            ("kv_block_idx",),
            "int32",
            "count",
            [
                Case("kv_block_num_written.parallel", when="dcp_size > 1"),
                Case("kv_block_num_written.idle", "0", when=f"{_BATCH_OF_OWNER} == None"),
                Case(
                    "kv_block_num_written",
                    _within_block(f"seq_lens[{_BATCH_OF_OWNER}]") + " - " + _within_block(f"num_computed_tokens[{_OWNER}]"),
                ),
            ],
            Source(kv_blocks, ("num_written=",)),
            None,
            exactness="simplified",
            values=lambda step: array(step.kv_blocks.num_written),
        ),
        Space(
            "kv_block_num_readable",
            ("kv_block_idx",),
            "int32",
            "count",
            [
                Case("kv_block_num_readable.parallel", when="dcp_size > 1"),
                Case("kv_block_num_readable.idle", "0", when=f"{_BATCH_OF_OWNER} == None"),
                Case(
                    "kv_block_num_readable.below_window",
                    "0",
                    when=f"sliding_window[{_GROUP}] != None and {_BLOCK_OF} <"
                    f" max(num_computed_tokens[{_OWNER}] - (sliding_window[{_GROUP}] - 1), 0) // {_SIZE}",
                    inputs=(f"num_computed_tokens[{_OWNER}]",),
                ),
                Case("kv_block_num_readable", _within_block(f"seq_lens[{_BATCH_OF_OWNER}]")),
            ],
            Source(kv_blocks, ("null_blocks = ", "is_read = ", "num_readable = ")),
            None,
            exactness="simplified",
            values=lambda step: array(step.kv_blocks.num_readable),
        ),
        Space(
            "kv_block_num_holders",
            ("kv_block_idx",),
            "int32",
            "count",
            [Case("kv_block_num_holders")],
            Source(kv_blocks, ("num_holders=",)),
            None,
            exactness="simplified",
            values=lambda step: array(step.kv_blocks.num_holders),
            exists=lambda step: step.kv_blocks.has_shared,
        ),
        Space(
            "kv_block_is_first_holder",
            ("kv_block_idx",),
            "bool",
            "flag",
            [Case("kv_block_is_first_holder")],
            Source(kv_blocks, ("is_first_holder[1:] = ",)),
            None,
            exactness="simplified",
            values=lambda step: array(step.kv_blocks.is_first_holder),
            exists=lambda step: step.kv_blocks.has_shared,
            is_detail=True,
        ),
        Space(
            "kv_block_num_loaded",
            ("kv_block_idx",),
            "int32",
            "count",
            [Case("kv_block_num_loaded", _LOADED)],
            Source(kv_blocks, ("num_loaded = ",)),
            None,
            exactness="simplified",
            values=lambda step: array(step.kv_blocks.num_loaded),
            exists=lambda step: step.kv_blocks.has_loaded,
        ),
        Space(
            "kv_block_computed_begin",
            ("kv_block_idx",),
            "int32",
            "index",
            [Case("kv_block_computed_begin")],
            Source(LoadedSlots.follow, ("group.hold(", "group.write(")),
            None,
            exactness="simplified",
            values=lambda step: array(step.kv_blocks.computed_begin),
            exists=lambda step: step.kv_blocks.has_loaded,
            is_detail=True,
        ),
        Space(
            "kv_block_computed_end",
            ("kv_block_idx",),
            "int32",
            "index",
            [Case("kv_block_computed_end")],
            Source(LoadedSlots.follow, ("group.hold(", "group.write(")),
            None,
            exactness="simplified",
            values=lambda step: array(step.kv_blocks.computed_end),
            exists=lambda step: step.kv_blocks.has_loaded,
            is_detail=True,
        ),
        Space(
            "stale_block_ids",
            ("stale_block_idx",),
            "int32",
            "id",
            [Case("stale_block_ids", inputs=("stale_block_req_ids[stale_block_idx]",))],
            Source(StaleBlocks.leave, ("self._last_owner[",)),
            None,
            holds="block_id",
            exactness="simplified",
            values=lambda step: array(step.stale_block_ids),
        ),
        Space(
            "stale_block_req_ids",
            ("stale_block_idx",),
            "str",
            "text",
            [Case("stale_block_req_ids")],
            Source(StaleBlocks.leave, ("self._last_owner[",)),
            None,
            holds="req_id",
            exactness="simplified",
            values=lambda step: list(step.stale_block_req_ids),
        ),
    ],
)
