"""KV cache: where a slot lies in bytes, and the physical blocks in use."""

from app.pipeline.kv_cache import KVCacheLayout
from app.trace.counts.kv_blocks import kv_blocks
from app.trace.counts.pool_history import StaleBlocks
from app.trace.space import Case, Source, Space

_BLOCK_OF = "kv_block_indices[kv_block_idx]"
_OWNER = "kv_block_rows[kv_block_idx]"
_GROUP = "kv_block_groups[kv_block_idx]"
_SIZE = f"block_size[{_GROUP}]"
_BATCH_OF_OWNER = f"find(idx_mapping, {_OWNER})"
_KV_SOURCE = Source(kv_blocks, ("is_held = ", "block_ids = ", "rows = ", "indices = "))


def _within_block(num_tokens: str) -> str:
    return f"min(max({num_tokens} - {_BLOCK_OF} * {_SIZE}, 0), {_SIZE})"


_NHD = "slot_mappings[group, flat_token_idx] * bytes_per_slot"
_HND = (
    "(block_numbers[group, flat_token_idx] * num_kv_heads * block_size[group] + block_offsets[group, flat_token_idx])"
    " * bytes_per_head"
)

KV_CACHE = [
    Space(
        "slot_byte_offsets",
        ("group", "flat_token_idx"),
        "int64",
        "kv-cache",
        [
            Case("slot_byte_offsets.none", when="slot_mappings[group, flat_token_idx] == -1"),
            Case("slot_byte_offsets.unknown", when="slot_mappings[group, flat_token_idx] == None"),
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
    ),
    *(
        Space(
            f"byte_offsets_{layout.lower()}",
            ("group", "flat_token_idx"),
            "int64",
            "kv-cache",
            [
                Case("slot_byte_offsets.none", when="slot_mappings[group, flat_token_idx] == -1"),
                Case("slot_byte_offsets.unknown", when="slot_mappings[group, flat_token_idx] == None"),
                Case(f"slot_byte_offsets.{layout.lower()}", formula),
            ],
            Source(KVCacheLayout.byte_offsets, ("return slot_ids",) if layout == "NHD" else ("return ((block_numbers",)),
            ("vllm/v1/attention/backends/utils.py", "get_kv_cache_layout"),
            exactness="illustrative",
        )
        for layout, formula in (("NHD", _NHD), ("HND", _HND))
    ),
    Space(
        "kv_block_ids",
        ("kv_block_idx",),
        "int32",
        "kv-cache",
        [Case("kv_block_ids", f"block_tables[kv_block_groups[kv_block_idx], {_OWNER}, {_BLOCK_OF}]")],
        _KV_SOURCE,
        None,
        holds="block_id",
        exactness="simplified",
    ),
    Space(
        "kv_block_groups",
        ("kv_block_idx",),
        "int32",
        "kv-cache",
        [Case("kv_block_groups")],
        _KV_SOURCE,
        None,
        holds="group",
        exactness="simplified",
    ),
    Space(
        "kv_block_rows",
        ("kv_block_idx",),
        "int64",
        "kv-cache",
        [Case("kv_block_rows", inputs=("row_req_ids[value]",))],
        _KV_SOURCE,
        None,
        holds="req_state_idx",
        exactness="simplified",
    ),
    Space(
        "kv_block_indices",
        ("kv_block_idx",),
        "int64",
        "kv-cache",
        [Case("kv_block_indices")],
        _KV_SOURCE,
        None,
        holds="block_index",
        exactness="simplified",
    ),
    Space(
        "kv_block_num_filled",
        ("kv_block_idx",),
        "int32",
        "kv-cache",
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
    ),
    Space(
        "kv_block_num_written",
        ("kv_block_idx",),
        "int32",
        "kv-cache",
        [
            Case("kv_block_num_written.parallel", when="dcp_size > 1"),
            Case("kv_block_num_written.idle", "0", when=f"{_BATCH_OF_OWNER} == None"),
            Case(
                "kv_block_num_written",
                _within_block(f"seq_lens[{_BATCH_OF_OWNER}]") + " - " + _within_block(f"num_computed_tokens[{_OWNER}]"),
            ),
        ],
        Source(kv_blocks, ("num_written = ",)),
        None,
        exactness="simplified",
    ),
    Space(
        "kv_block_num_readable",
        ("kv_block_idx",),
        "int32",
        "kv-cache",
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
    ),
    Space(
        "stale_block_ids",
        ("stale_block_idx",),
        "int32",
        "kv-cache",
        [Case("stale_block_ids", inputs=("stale_block_req_ids[stale_block_idx]",))],
        Source(StaleBlocks.leave, ("self._last_owner[",)),
        None,
        holds="block_id",
        exactness="simplified",
    ),
    Space(
        "stale_block_req_ids",
        ("stale_block_idx",),
        "str",
        "kv-cache",
        [Case("stale_block_req_ids")],
        Source(StaleBlocks.leave, ("self._last_owner[",)),
        None,
        holds="req_id",
        exactness="simplified",
    ),
]
