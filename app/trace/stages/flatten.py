"""Flatten: one flat sequence of tokens, and which of them yield logits."""

from app.pipeline.input_batch import flatten, get_dcp_local_seq_lens, prepare_input_ids, prepare_logits
from app.trace.space import Case, Source, Space
from app.trace.stages.vllm import CP_UTILS, INPUT_BATCH

_LOGIT_ROW = "bisect(cu_num_logits, logit_idx)"
_CP_BASE = "seq_lens[batch_idx_padded] // dcp_interleave // dcp_size * dcp_interleave"

FLATTEN = [
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
        (INPUT_BATCH, "InputBatch.query_start_loc"),
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
        (INPUT_BATCH, "_prepare_pos_seq_lens_kernel"),
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
        (CP_UTILS, "prepare_dcp_local_seq_lens"),
    ),
    Space(
        "token_batch_idx",
        ("flat_token_idx",),
        "int64",
        "flatten",
        [Case("token_batch_idx", "bisect(query_start_loc, flat_token_idx)", inputs=("num_scheduled_tokens[value]",))],
        Source(flatten, ("token_batch_idx = torch.repeat_interleave",)),
        (INPUT_BATCH, "_prepare_pos_seq_lens_kernel"),
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
        (INPUT_BATCH, "_prepare_pos_seq_lens_kernel"),
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
        Source(prepare_input_ids, ("token_source[",)),
        (INPUT_BATCH, "_combine_sampled_and_draft_tokens_kernel"),
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
        Source(prepare_input_ids, ("input_ids[",)),
        (INPUT_BATCH, "_prepare_prefill_inputs_kernel, _combine_sampled_and_draft_tokens_kernel"),
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
        Source(prepare_logits, ("num_logits =", "cu_num_logits[1:]")),
        (INPUT_BATCH, "InputBatch.cu_num_logits"),
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
        Source(prepare_logits, ("first_logit_token =", "logits_indices =")),
        (INPUT_BATCH, "_combine_sampled_and_draft_tokens_kernel"),
        holds="flat_token_idx",
    ),
    Space(
        "expanded_idx_mapping",
        ("logit_idx",),
        "int64",
        "flatten",
        [Case("expanded_idx_mapping", f"idx_mapping[{_LOGIT_ROW}]")],
        Source(flatten, ("expanded_idx_mapping=",)),
        (INPUT_BATCH, "_expand_idx_mapping_kernel"),
        holds="req_state_idx",
    ),
    Space(
        "expanded_local_pos",
        ("logit_idx",),
        "int32",
        "flatten",
        [Case("expanded_local_pos", f"logit_idx - control(cu_num_logits[{_LOGIT_ROW}])")],
        Source(prepare_logits, ("local_pos = logit_idx",)),
        (INPUT_BATCH, "_expand_idx_mapping_kernel"),
    ),
]
