"""Batch: the step's requests in the order of the batch rows."""

from app.pipeline.input_batch import prepare_batch
from app.trace.space import Case, Source, Space
from app.trace.stages.vllm import INPUT_BATCH, MODEL_RUNNER

_BATCH_SOURCE = Source(prepare_batch, ("order = sorted(", "return (int(not"))

BATCH = [
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
        (MODEL_RUNNER, "GPUModelRunner.prepare_inputs"),
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
        (MODEL_RUNNER, "GPUModelRunner.prepare_inputs"),
        holds="schedule_idx",
    ),
    Space(
        "num_scheduled_tokens",
        ("batch_idx",),
        "int32",
        "batch",
        [Case("num_scheduled_tokens", "schedule_num_tokens[schedule_idx[batch_idx]]")],
        Source(prepare_batch, ("counts = tuple(", "scheduled = torch.tensor(")),
        (INPUT_BATCH, "InputBatch.num_scheduled_tokens"),
    ),
    Space(
        "num_draft_tokens",
        ("batch_idx",),
        "int32",
        "batch",
        [Case("num_draft_tokens", "schedule_num_drafts[schedule_idx[batch_idx]]")],
        Source(prepare_batch, ("drafts = tuple(", "num_drafts = torch.tensor(")),
        (INPUT_BATCH, "InputBatch.num_draft_tokens_per_req"),
    ),
    Space(
        "idx_mapping",
        ("batch_idx",),
        "int64",
        "batch",
        [Case("idx_mapping", "schedule_req_state_idx[schedule_idx[batch_idx]]", inputs=("row_req_ids[value]",))],
        Source(prepare_batch, ("rows = [", "idx_mapping = torch.tensor(")),
        (INPUT_BATCH, "InputBatch.idx_mapping"),
        holds="req_state_idx",
    ),
    Space(
        "is_prefilling",
        ("batch_idx",),
        "bool",
        "batch",
        [Case("is_prefilling", "num_computed_tokens[idx_mapping[batch_idx]] < prefill_len[idx_mapping[batch_idx]]")],
        Source(prepare_batch, ("is_prefilling = num_computed",)),
        (INPUT_BATCH, "InputBatch.is_prefilling_np"),
    ),
]
