"""Flatten: one flat sequence of tokens, and which of them yield logits."""

from typing import Any

from numpy.typing import NDArray

from app.i18n import Translate
from app.pipeline.context_parallel import get_dcp_local_seq_lens
from app.pipeline.flat_tokens import TOKEN_SOURCES, flatten, prepare_input_ids, prepare_logits
from app.trace.space import Case, Source, Space, Stage
from app.trace.stages.vllm import CP_UTILS, INPUT_BATCH
from app.trace.step import StepTensors, array
from app.trace.words import listed

_LOGIT_ROW = "bisect(cu_num_logits, logit_idx)"
_CP_BASE = "seq_lens[batch_idx_padded] // dcp_interleave // dcp_size * dcp_interleave"
# What tells whether a row reads behind the tokens that its request was added with, and how many drafts it ends in.
_READS_ON = (
    "seq_lens[token_batch_idx[flat_token_idx]]",
    "prefill_len[idx_mapping[token_batch_idx[flat_token_idx]]]",
    "num_draft_tokens[token_batch_idx[flat_token_idx]]",
)


def _local_seq_lens(step: StepTensors) -> NDArray[Any]:
    assert step.flat.dcp_local_seq_lens is not None
    return array(step.flat.dcp_local_seq_lens)


def _sentence(step: StepTensors, translate: Translate) -> str:
    batch = step.batch
    counts = batch.num_scheduled_tokens.tolist()
    runs = ({"req_id": req_id, "value": count} for req_id, count in zip(batch.req_ids, counts, strict=True))
    rows = listed([translate("summary.flatten.row", run) for run in runs], translate)
    return translate("summary.flatten", {"n": batch.num_tokens, "rows": rows})


FLATTEN = Stage(
    "flatten",
    sentence=_sentence,
    tier=1,
    elements=("positions", "flat_token_idx"),
    asks="positions",
    spaces=[
        Space(
            "token_batch_idx",
            ("flat_token_idx",),
            "int64",
            "index",
            [Case("token_batch_idx", "bisect(query_start_loc, flat_token_idx)", inputs=("num_scheduled_tokens[value]",))],
            Source(flatten, ("token_batch_idx = torch.repeat_interleave",)),
            (INPUT_BATCH, "_prepare_pos_seq_lens_kernel"),
            holds="batch_idx",
            values=lambda step: array(step.flat.token_batch_idx),
        ),
        Space(
            "token_source",
            ("flat_token_idx",),
            "str",
            "text",
            [
                Case("token_source.draft", when="value == 'draft'", inputs=_READS_ON),
                Case("token_source.sampled", when="value == 'sampled'", inputs=_READS_ON),
                Case("token_source.prefill", inputs=_READS_ON),
            ],
            Source(prepare_input_ids, ("token_source[",)),
            (INPUT_BATCH, "_combine_sampled_and_draft_tokens_kernel"),
            values=lambda step: [TOKEN_SOURCES[source] for source in step.flat.token_source.tolist()],
        ),
        Space(
            "input_ids",
            ("flat_token_idx",),
            "int32",
            "id",
            [
                Case("input_ids.unknown", when="value == -1", state="unknown"),
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
            values=lambda step: array(step.flat.input_ids),
            is_key=True,
        ),
        Space(
            "positions",
            ("flat_token_idx",),
            "int64",
            "index",
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
            values=lambda step: array(step.flat.positions),
            is_key=True,
            is_answer=True,
        ),
        Space(
            "seq_lens",
            ("batch_idx_padded",),
            "int32",
            "count",
            [
                Case(
                    "seq_lens",
                    "num_computed_tokens[idx_mapping[batch_idx_padded]] + num_scheduled_tokens[batch_idx_padded]",
                    when="batch_idx_padded < num_reqs",
                ),
                Case("seq_lens.padded", "0", state="padding"),
            ],
            Source(flatten, ("seq_lens = torch.zeros", "seq_lens[:num_reqs] =")),
            (INPUT_BATCH, "_prepare_pos_seq_lens_kernel"),
            values=lambda step: array(step.flat.seq_lens),
            is_key=True,
            is_answer=True,
        ),
        Space(
            "dcp_local_seq_lens",
            ("batch_idx_padded",),
            "int32",
            "count",
            [
                Case(
                    "dcp_local_seq_lens",
                    f"{_CP_BASE} + min(max(seq_lens[batch_idx_padded] - {_CP_BASE} * dcp_size"
                    " - dcp_rank * dcp_interleave, 0), dcp_interleave)",
                )
            ],
            Source(get_dcp_local_seq_lens, ("base =", "remainder =", "return base")),
            (CP_UTILS, "prepare_dcp_local_seq_lens"),
            values=_local_seq_lens,
            exists=lambda step: step.cp.size > 1,
        ),
        Space(
            "cu_num_logits",
            ("logits_boundary",),
            "int32",
            "index",
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
            values=lambda step: array(step.flat.cu_num_logits),
        ),
        Space(
            "logits_indices",
            ("logit_idx",),
            "int64",
            "index",
            [
                Case(
                    "logits_indices",
                    f"query_start_loc[{_LOGIT_ROW} + 1] - (1 + num_draft_tokens[{_LOGIT_ROW}])"
                    " + expanded_local_pos[logit_idx]",
                    inputs=("token_batch_idx[value]",),
                )
            ],
            Source(prepare_logits, ("first_logit_token =", "logits_indices =")),
            (INPUT_BATCH, "_combine_sampled_and_draft_tokens_kernel"),
            holds="flat_token_idx",
            values=lambda step: array(step.flat.logits_indices),
        ),
        Space(
            "expanded_idx_mapping",
            ("logit_idx",),
            "int64",
            "index",
            [Case("expanded_idx_mapping", f"idx_mapping[{_LOGIT_ROW}]")],
            Source(flatten, ("expanded_idx_mapping=",)),
            (INPUT_BATCH, "_expand_idx_mapping_kernel"),
            holds="req_state_idx",
            values=lambda step: array(step.flat.expanded_idx_mapping),
        ),
        Space(
            "expanded_local_pos",
            ("logit_idx",),
            "int32",
            "index",
            [Case("expanded_local_pos", f"logit_idx - control(cu_num_logits[{_LOGIT_ROW}])")],
            Source(prepare_logits, ("local_pos = logit_idx",)),
            (INPUT_BATCH, "_expand_idx_mapping_kernel"),
            values=lambda step: array(step.flat.expanded_local_pos),
        ),
        Space(
            "query_start_loc",
            ("batch_boundary",),
            "int32",
            "index",
            [
                Case("query_start_loc.first", "0", when="batch_boundary == 0"),
                Case(
                    "query_start_loc",
                    "control(query_start_loc[batch_boundary - 1]) + num_scheduled_tokens[batch_boundary - 1]",
                    when="batch_boundary <= num_reqs",
                ),
                Case("query_start_loc.padded", "num_tokens", state="padding"),
            ],
            Source(flatten, ("query_start_loc = torch.full", "query_start_loc[0]", "query_start_loc[1 : num_reqs + 1] =")),
            (INPUT_BATCH, "InputBatch.query_start_loc"),
            holds="flat_token_idx",
            values=lambda step: array(step.flat.query_start_loc),
            is_answer=True,
        ),
    ],
)
