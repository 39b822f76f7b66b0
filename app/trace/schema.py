"""Every index space on screen and every relation between them, declared once: see `space` for what a declaration says.

The order is that of the pipeline: schedule, state pool, batch, flatten, block tables, slot mapping, KV cache, update.
"""

import functools
from collections.abc import Sequence
from typing import Any

from app.pipeline.block_tables import BlockTable, is_local_token
from app.pipeline.input_batch import _input_ids, _logits, flatten, get_dcp_local_seq_lens, prepare_batch
from app.pipeline.kv_cache import KVCacheLayout
from app.pipeline.request_state import RequestState
from app.pipeline.runner import Runner
from app.trace.kv_blocks import kv_blocks
from app.trace.expressions import compile_expression
from app.trace.space import Case, Source, Space

_GPU = "vllm/v1/worker/gpu/"
_RUNNER = _GPU + "model_runner.py"
_STATES = (_GPU + "states.py", "RequestState")
_BATCH = _GPU + "input_batch.py"
_TABLES = _GPU + "block_table.py"

_ADDED = "row_status[req_state_idx] == 'added'"
_UNUSED = "row_status[req_state_idx] == 'unused'"
_RAN_BEFORE = "prev(find(idx_mapping, req_state_idx)) != None"


def _pool_space(name: str, note: str, mark: str, updated: Case | None = None, overwritten: bool = True) -> Space:
    """A tensor of the state pool: written when a request gets the row, else carried over from the step before."""
    cases = [Case("row.unused", when=_UNUSED)]
    if overwritten:
        cases.append(Case(note, when=_ADDED))
    if updated is not None:
        cases.append(updated)
    cases += [
        Case("row.initial", when=f"prev({name}[req_state_idx]) == None"),
        Case("row.carried", f"prev({name}[req_state_idx])"),
    ]
    source = Source(RequestState.apply_staged_writes, (mark,))
    return Space(name, ("req_state_idx",), "int32", "state-pool", cases, source, _STATES)


_POOL = [
    Space(
        "row_req_ids",
        ("req_state_idx",),
        "str",
        "state-pool",
        [Case("row.unused", when=_UNUSED), Case("row_req_ids")],
        Source(RequestState.add_request, ("req_id_to_index[req_id]",)),
        (_STATES[0], "RequestState.add_request"),
        holds="req_id",
    ),
    Space(
        "row_status",
        ("req_state_idx",),
        "str",
        "state-pool",
        [
            Case("row.unused", when=_UNUSED),
            Case("row_status.added", when=_ADDED),
            Case("row_status.live", when="row_status[req_state_idx] == 'live'"),
            Case("row_status.freed"),
        ],
        Source(RequestState.remove_request, ("free_indices.append",)),
        (_STATES[0], "RequestState.remove_request"),
    ),
    _pool_space("prompt_len", "prompt_len.added", "self.prompt_len["),
    _pool_space("prefill_len", "prefill_len.added", "self.prefill_len["),
    _pool_space(
        "total_len",
        "total_len.added",
        "self.total_len[",
        Case("row.updated", "prev(total_len_after[find(idx_mapping, req_state_idx)])", when=_RAN_BEFORE),
    ),
    _pool_space(
        "num_computed_tokens",
        "num_computed_tokens.added",
        "self.num_computed_tokens[",
        Case("row.updated", "prev(num_computed_tokens_after[find(idx_mapping, req_state_idx)])", when=_RAN_BEFORE),
    ),
    Space(
        "last_sampled_tokens",
        ("req_state_idx",),
        "int32",
        "state-pool",
        [
            Case("row.unused", when=_UNUSED),
            Case(
                "last_sampled_tokens.updated",
                "prev(sampled_token_ids[find(idx_mapping, req_state_idx),"
                " num_sampled[find(idx_mapping, req_state_idx)] - 1])",
                when=f"{_RAN_BEFORE} and prev(num_sampled[find(idx_mapping, req_state_idx)]) > 0",
            ),
            Case("last_sampled_tokens.initial", when="prev(last_sampled_tokens[req_state_idx]) == None"),
            Case("row.carried", "prev(last_sampled_tokens[req_state_idx])"),
        ],
        Source(Runner._post_update, ("last_sampled_tokens[",)),
        (_BATCH, "_post_update_kernel"),
    ),
    Space(
        "draft_tokens",
        ("req_state_idx", "draft_idx"),
        "int32",
        "state-pool",
        [Case("draft_tokens.unknown", when="draft_tokens[req_state_idx, draft_idx] == -1"), Case("draft_tokens")],
        Source(RequestState.set_draft_tokens, ("self.draft_tokens[",)),
        (_STATES[0], "RequestState.draft_tokens"),
        exactness="simplified",
    ),
    Space(
        "num_blocks",
        ("group", "req_state_idx"),
        "int32",
        "state-pool",
        [
            Case("row.unused", when=_UNUSED),
            Case("num_blocks.added", when=_ADDED),
            Case("row.initial", when="prev(num_blocks[group, req_state_idx]) == None"),
            Case(
                "row.carried",
                "prev(num_blocks[group, req_state_idx])",
                when="value == prev(num_blocks[group, req_state_idx])",
            ),
            Case("num_blocks.appended"),
        ],
        Source(BlockTable.apply_staged_writes, ("self.num_blocks[rows]",)),
        (_TABLES, "BlockTables.append_block_ids"),
    ),
    Space(
        "block_tables",
        ("group", "req_state_idx", "block_index"),
        "int32",
        "state-pool",
        [
            Case("block_tables.freed", when="row_status[req_state_idx] == 'freed'"),
            Case("block_tables.stale", when="block_index >= num_blocks[group, req_state_idx]"),
            Case("block_tables.unknown", when="value == None"),
            Case("block_tables.null", when="value == 0"),
            Case("block_tables.added", when=_ADDED),
            Case("block_tables.initial", when="prev(num_blocks[group, req_state_idx]) == None"),
            Case(
                "block_tables.carried",
                "prev(block_tables[group, req_state_idx, block_index])",
                when="block_index < prev(num_blocks[group, req_state_idx])",
            ),
            Case("block_tables.appended"),
        ],
        Source(BlockTable.apply_staged_writes, ("self.block_table.view(-1)[",)),
        (_TABLES, "BlockTables.apply_staged_writes"),
        holds="block_id",
    ),
]

_SCHEDULE_SOURCE = Source(Runner.step, ("prepare_batch(", "scheduled.num_scheduled_tokens, "))
_SCHEDULER_OUTPUT = "vllm/v1/core/sched/output.py"

_SCHEDULE = [
    Space(
        "schedule_req_ids",
        ("schedule_idx",),
        "str",
        "schedule",
        [Case("schedule_req_ids")],
        _SCHEDULE_SOURCE,
        (_SCHEDULER_OUTPUT, "SchedulerOutput.num_scheduled_tokens"),
        holds="req_id",
    ),
    Space(
        "schedule_num_tokens",
        ("schedule_idx",),
        "int32",
        "schedule",
        [Case("schedule_num_tokens")],
        _SCHEDULE_SOURCE,
        (_SCHEDULER_OUTPUT, "SchedulerOutput.num_scheduled_tokens"),
    ),
    Space(
        "schedule_num_drafts",
        ("schedule_idx",),
        "int32",
        "schedule",
        [Case("schedule_num_drafts")],
        _SCHEDULE_SOURCE,
        (_SCHEDULER_OUTPUT, "SchedulerOutput.scheduled_spec_decode_tokens"),
    ),
    Space(
        "schedule_req_state_idx",
        ("schedule_idx",),
        "int64",
        "schedule",
        [Case("schedule_req_state_idx", inputs=("row_req_ids[value]", "schedule_req_ids[schedule_idx]"))],
        Source(RequestState.add_request, ("req_id_to_index[req_id]",)),
        (_STATES[0], "RequestState.req_id_to_index"),
        holds="req_state_idx",
    ),
]

_BATCH_SOURCE = Source(prepare_batch, ("order = sorted(", "return (int(not"))

_BATCH_SPACES = [
    Space(
        "sort_key",
        ("batch_idx", "sort_key_part"),
        "int32",
        "batch",
        [
            Case(
                "sort_key.drafts",
                "0 if schedule_num_drafts[schedule_idx[batch_idx]] > 0 else 1",
                when="sort_key_part == 0",
            ),
            Case(
                "sort_key.uniform",
                "0 if schedule_num_tokens[schedule_idx[batch_idx]] == 1 + num_speculative_tokens else 1",
                when="sort_key_part == 1",
            ),
            Case("sort_key.count", "schedule_num_tokens[schedule_idx[batch_idx]]"),
        ],
        _BATCH_SOURCE,
        (_RUNNER, "GPUModelRunner.prepare_inputs"),
    ),
    Space(
        "schedule_idx",
        ("batch_idx",),
        "int32",
        "batch",
        [
            Case(
                "schedule_idx",
                inputs=("schedule_req_ids[value]",),
                control=("sort_key[batch_idx, 0]", "sort_key[batch_idx, 1]", "sort_key[batch_idx, 2]"),
            )
        ],
        _BATCH_SOURCE,
        (_RUNNER, "GPUModelRunner.prepare_inputs"),
        holds="schedule_idx",
    ),
    Space(
        "num_scheduled_tokens",
        ("batch_idx",),
        "int32",
        "batch",
        [Case("num_scheduled_tokens", "schedule_num_tokens[schedule_idx[batch_idx]]")],
        Source(prepare_batch, ("counts = tuple(", "scheduled = torch.tensor(")),
        (_BATCH, "InputBatch.num_scheduled_tokens"),
    ),
    Space(
        "num_draft_tokens",
        ("batch_idx",),
        "int32",
        "batch",
        [Case("num_draft_tokens", "schedule_num_drafts[schedule_idx[batch_idx]]")],
        Source(prepare_batch, ("drafts = tuple(", "num_drafts = torch.tensor(")),
        (_BATCH, "InputBatch.num_draft_tokens_per_req"),
    ),
    Space(
        "idx_mapping",
        ("batch_idx",),
        "int64",
        "batch",
        [Case("idx_mapping", "schedule_req_state_idx[schedule_idx[batch_idx]]", inputs=("row_req_ids[value]",))],
        Source(prepare_batch, ("rows = [", "idx_mapping = torch.tensor(")),
        (_BATCH, "InputBatch.idx_mapping"),
        holds="req_state_idx",
    ),
    Space(
        "is_prefilling",
        ("batch_idx",),
        "bool",
        "batch",
        [Case("is_prefilling", "num_computed_tokens[idx_mapping[batch_idx]] < prefill_len[idx_mapping[batch_idx]]")],
        Source(prepare_batch, ("is_prefilling = num_computed",)),
        (_BATCH, "InputBatch.is_prefilling_np"),
    ),
]

_LOGIT_ROW = "bisect(cu_num_logits, logit_idx)"
_CP_BASE = "seq_lens[batch_idx_padded] // dcp_interleave // dcp_size * dcp_interleave"

_FLATTEN = [
    Space(
        "query_start_loc",
        ("batch_boundary",),
        "int32",
        "flatten",
        [
            Case("query_start_loc.first", "0", when="batch_boundary == 0"),
            Case(
                "query_start_loc",
                "control(query_start_loc[batch_boundary - 1]) + num_scheduled_tokens[batch_boundary - 1]",
                when="batch_boundary <= num_reqs",
            ),
            Case("query_start_loc.padded", "num_tokens"),
        ],
        Source(flatten, ("query_start_loc = torch.full", "query_start_loc[0]", "query_start_loc[1 : num_reqs + 1] =")),
        (_BATCH, "InputBatch.query_start_loc"),
        holds="flat_token_idx",
    ),
    Space(
        "seq_lens",
        ("batch_idx_padded",),
        "int32",
        "flatten",
        [
            Case(
                "seq_lens",
                "num_computed_tokens[idx_mapping[batch_idx_padded]] + num_scheduled_tokens[batch_idx_padded]",
                when="batch_idx_padded < num_reqs",
            ),
            Case("seq_lens.padded", "0"),
        ],
        Source(flatten, ("seq_lens = torch.zeros", "seq_lens[:num_reqs] =")),
        (_BATCH, "_prepare_pos_seq_lens_kernel"),
    ),
    Space(
        "dcp_local_seq_lens",
        ("batch_idx_padded",),
        "int32",
        "flatten",
        [
            Case(
                "dcp_local_seq_lens",
                f"{_CP_BASE} + min(max(seq_lens[batch_idx_padded] - {_CP_BASE} * dcp_size"
                " - dcp_rank * dcp_interleave, 0), dcp_interleave)",
            )
        ],
        Source(get_dcp_local_seq_lens, ("base =", "remainder =", "return base")),
        (_GPU + "cp_utils.py", "prepare_dcp_local_seq_lens"),
    ),
    Space(
        "token_batch_idx",
        ("flat_token_idx",),
        "int64",
        "flatten",
        [Case("token_batch_idx", "bisect(query_start_loc, flat_token_idx)", inputs=("num_scheduled_tokens[value]",))],
        Source(flatten, ("token_batch_idx = torch.repeat_interleave",)),
        (_BATCH, "_prepare_pos_seq_lens_kernel"),
        holds="batch_idx",
    ),
    Space(
        "positions",
        ("flat_token_idx",),
        "int64",
        "flatten",
        [
            Case(
                "positions",
                "num_computed_tokens[idx_mapping[token_batch_idx[flat_token_idx]]]"
                " + (flat_token_idx - control(query_start_loc[token_batch_idx[flat_token_idx]]))",
            )
        ],
        Source(flatten, ("shift = num_computed", "positions = flat_token_idx")),
        (_BATCH, "_prepare_pos_seq_lens_kernel"),
        holds="position",
    ),
    Space(
        "token_source",
        ("flat_token_idx",),
        "str",
        "flatten",
        [
            Case("token_source.draft", when="value == 'draft'"),
            Case("token_source.sampled", when="value == 'sampled'"),
            Case("token_source.prefill"),
        ],
        Source(_input_ids, ("token_source[",)),
        (_BATCH, "_combine_sampled_and_draft_tokens_kernel"),
    ),
    Space(
        "input_ids",
        ("flat_token_idx",),
        "int32",
        "flatten",
        [
            Case("input_ids.unknown", when="value == -1"),
            Case(
                "input_ids.draft",
                "draft_tokens[idx_mapping[token_batch_idx[flat_token_idx]], flat_token_idx"
                " - (control(query_start_loc[token_batch_idx[flat_token_idx] + 1])"
                " - num_draft_tokens[token_batch_idx[flat_token_idx]])]",
                when="token_source[flat_token_idx] == 'draft'",
            ),
            Case(
                "input_ids.sampled",
                "last_sampled_tokens[idx_mapping[token_batch_idx[flat_token_idx]]]",
                when="token_source[flat_token_idx] == 'sampled'",
            ),
            Case(
                "input_ids.prefill",
                "all_token_ids[idx_mapping[token_batch_idx[flat_token_idx]], positions[flat_token_idx]]",
            ),
        ],
        Source(_input_ids, ("input_ids[",)),
        (_BATCH, "_prepare_prefill_inputs_kernel, _combine_sampled_and_draft_tokens_kernel"),
    ),
    Space(
        "cu_num_logits",
        ("logits_boundary",),
        "int32",
        "flatten",
        [
            Case("cu_num_logits.first", "0", when="logits_boundary == 0"),
            Case(
                "cu_num_logits",
                "control(cu_num_logits[logits_boundary - 1]) + 1 + num_draft_tokens[logits_boundary - 1]",
            ),
        ],
        Source(_logits, ("num_logits =", "cu_num_logits[1:]")),
        (_BATCH, "InputBatch.cu_num_logits"),
        holds="logit_idx",
    ),
    Space(
        "logits_indices",
        ("logit_idx",),
        "int64",
        "flatten",
        [
            Case(
                "logits_indices",
                f"query_start_loc[{_LOGIT_ROW} + 1] - (1 + num_draft_tokens[{_LOGIT_ROW}]) + expanded_local_pos[logit_idx]",
                inputs=("token_batch_idx[value]",),
            )
        ],
        Source(_logits, ("first_logit_token =", "logits_indices =")),
        (_BATCH, "_combine_sampled_and_draft_tokens_kernel"),
        holds="flat_token_idx",
    ),
    Space(
        "expanded_idx_mapping",
        ("logit_idx",),
        "int64",
        "flatten",
        [Case("expanded_idx_mapping", f"idx_mapping[{_LOGIT_ROW}]")],
        Source(flatten, ("expanded_idx_mapping=",)),
        (_BATCH, "_expand_idx_mapping_kernel"),
        holds="req_state_idx",
    ),
    Space(
        "expanded_local_pos",
        ("logit_idx",),
        "int32",
        "flatten",
        [Case("expanded_local_pos", f"logit_idx - control(cu_num_logits[{_LOGIT_ROW}])")],
        Source(_logits, ("local_pos = logit_idx",)),
        (_BATCH, "_expand_idx_mapping_kernel"),
    ),
]

_NUM_COMPUTED_OF_ROW = "num_computed_tokens[idx_mapping[batch_idx_padded]]"

_BLOCK_TABLES = [
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
        Source(BlockTable.gather, ("block_ids = self.block_table", "masked_fill", "destination.copy_")),
        (_TABLES, "_gather_block_tables_kernel"),
        holds="block_id",
    )
]

_POSITION = "positions[flat_token_idx]"
_TOKEN_ROW = "idx_mapping[token_batch_idx[flat_token_idx]]"

_SLOTS = [
    Space(
        "block_indices",
        ("group", "flat_token_idx"),
        "int64",
        "slot-mapping",
        [
            Case("block_indices", f"{_POSITION} // block_size[group]", when="dcp_size == 1"),
            Case("block_indices.parallel", f"{_POSITION} // (block_size[group] * dcp_size)"),
        ],
        Source(BlockTable.compute_slot_mapping, ("block_indices = positions",)),
        (_TABLES, "_compute_slot_mappings_kernel"),
        holds="block_index",
    ),
    Space(
        "block_offsets",
        ("group", "flat_token_idx"),
        "int64",
        "slot-mapping",
        [
            Case("block_offsets", f"{_POSITION} % block_size[group]", when="dcp_size == 1"),
            Case("not_local", when="not is_local[flat_token_idx]", inputs=("is_local[flat_token_idx]",)),
            Case(
                "block_offsets.parallel",
                f"{_POSITION} % (block_size[group] * dcp_size) // (dcp_interleave * dcp_size) * dcp_interleave"
                f" + {_POSITION} % dcp_interleave",
            ),
        ],
        Source(
            BlockTable.compute_slot_mapping,
            ("block_offsets = ", "virtual_offsets = ", "rounds = "),
        ),
        (_TABLES, "_compute_slot_mappings_kernel"),
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
            ),
            Case(
                "block_numbers.missing",
                when=f"block_indices[group, flat_token_idx] >= num_blocks[group, {_TOKEN_ROW}]",
                inputs=("block_indices[group, flat_token_idx]", f"num_blocks[group, {_TOKEN_ROW}]"),
            ),
            Case(
                "block_numbers.unknown",
                f"block_tables[group, {_TOKEN_ROW}, block_indices[group, flat_token_idx]]",
                when="value == None",
            ),
            Case("block_numbers", f"block_tables[group, {_TOKEN_ROW}, block_indices[group, flat_token_idx]]"),
        ],
        Source(BlockTable.compute_slot_mapping, ("block_numbers = self",)),
        (_TABLES, "_compute_slot_mappings_kernel"),
        holds="block_id",
    ),
    Space(
        "is_local",
        ("flat_token_idx",),
        "bool",
        "slot-mapping",
        [Case("is_local", f"{_POSITION} // dcp_interleave % dcp_size == dcp_rank")],
        Source(is_local_token, ("return ",)),
        (_TABLES, "_compute_slot_mappings_kernel"),
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
            ),
            Case(
                "slot_mappings.unknown",
                when="value == None",
                inputs=("block_numbers[group, flat_token_idx_padded]",),
            ),
            Case(
                "slot_mappings",
                "block_numbers[group, flat_token_idx_padded] * block_size[group]"
                " + block_offsets[group, flat_token_idx_padded]",
            ),
        ],
        Source(BlockTable.compute_slot_mapping, ("slot_ids = ",)),
        (_TABLES, "_compute_slot_mappings_kernel"),
        holds="slot_id",
    ),
]

_BLOCK_OF = "kv_block_indices[kv_block_idx]"
_OWNER = "kv_block_rows[kv_block_idx]"
_SIZE = "block_size[kv_block_groups[kv_block_idx]]"
_BATCH_OF_OWNER = f"find(idx_mapping, {_OWNER})"
_KV_SOURCE = Source(kv_blocks, ("rows, indices = ", "block_ids = "))


def _within_block(num_tokens: str) -> str:
    return f"min(max({num_tokens} - {_BLOCK_OF} * {_SIZE}, 0), {_SIZE})"


_KV_CACHE = [
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
                "slot_mappings[group, flat_token_idx] * bytes_per_slot",
                when="kv_layout == 'NHD'",
            ),
            Case(
                "slot_byte_offsets.hnd",
                "(block_numbers[group, flat_token_idx] * num_kv_heads * block_size[group]"
                " + block_offsets[group, flat_token_idx]) * bytes_per_head",
            ),
        ],
        Source(KVCacheLayout.byte_offsets, ("return ",)),
        ("vllm/v1/attention/backends/utils.py", "get_kv_cache_layout"),
        exactness="illustrative",
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
]

_UNFINISHED = "seq_lens[batch_idx] < prefill_len[idx_mapping[batch_idx]]"

_UPDATE = [
    Space(
        "sampled_token_ids",
        ("batch_idx", "sample_idx"),
        "int32",
        "update",
        [Case("sampled_token_ids", control=("logits_indices[cu_num_logits[batch_idx] + sample_idx]",))],
        Source(Runner._post_update, ("sampled = [", "sampled_flat = ")),
        (_RUNNER, "GPUModelRunner.sample_tokens"),
    ),
    Space(
        "num_sampled",
        ("batch_idx",),
        "int32",
        "update",
        [
            Case("num_sampled.unfinished", "0", when=_UNFINISHED, inputs=("seq_lens[batch_idx]",)),
            Case("num_sampled", "length(sampled_token_ids, batch_idx)"),
        ],
        Source(Runner._post_update, ("num_sampled = ",)),
        (_BATCH, "get_num_sampled_and_rejected"),
    ),
    Space(
        "num_rejected",
        ("batch_idx",),
        "int32",
        "update",
        [
            Case("num_rejected.unfinished", "0", when=_UNFINISHED, inputs=("seq_lens[batch_idx]",)),
            Case("num_rejected", "1 + num_draft_tokens[batch_idx] - num_sampled[batch_idx]"),
        ],
        Source(Runner._post_update, ("num_rejected = ",)),
        (_BATCH, "get_num_sampled_and_rejected"),
    ),
    Space(
        "num_computed_tokens_after",
        ("batch_idx",),
        "int32",
        "update",
        [
            Case(
                "num_computed_tokens_after",
                "num_computed_tokens[idx_mapping[batch_idx]] + num_scheduled_tokens[batch_idx] - num_rejected[batch_idx]",
            )
        ],
        Source(Runner._post_update, ("num_computed = ", "states.num_computed_tokens[rows] = num_computed")),
        (_BATCH, "_post_update_kernel"),
    ),
    Space(
        "total_len_after",
        ("batch_idx",),
        "int32",
        "update",
        [Case("total_len_after", "total_len[idx_mapping[batch_idx]] + num_sampled[batch_idx]")],
        Source(Runner._post_update, ("total_len = total_len", "states.total_len[rows] = total_len")),
        (_BATCH, "_post_update_kernel"),
    ),
]

SPACES: Sequence[Space] = (
    *_SCHEDULE,
    *_POOL,
    *_BATCH_SPACES,
    *_FLATTEN,
    *_BLOCK_TABLES,
    *_SLOTS,
    *_KV_CACHE,
    *_UPDATE,
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
        "coordinates": [{"name": name, "expr": compile_expression(text)} for name, text in COORDINATES],
        "walk": list(WALK),
    }
