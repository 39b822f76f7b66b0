"""Update: what the step sampled and what that makes of the pool."""

from app.pipeline.runner import Runner
from app.trace.space import Case, Source, Space
from app.trace.stages.vllm import INPUT_BATCH, MODEL_RUNNER

_UNFINISHED = "seq_lens[batch_idx] < prefill_len[idx_mapping[batch_idx]]"

UPDATE = [
    Space(
        "sampled_token_ids",
        ("batch_idx", "sample_idx"),
        "int32",
        "update",
        [Case("sampled_token_ids", control=("logits_indices[cu_num_logits[batch_idx] + sample_idx]",))],
        Source(Runner.post_update, ("sampled = [", "sampled_flat = ")),
        (MODEL_RUNNER, "GPUModelRunner.sample_tokens"),
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
        Source(Runner.post_update, ("num_sampled = ",)),
        (INPUT_BATCH, "get_num_sampled_and_rejected"),
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
        Source(Runner.post_update, ("num_rejected = ",)),
        (INPUT_BATCH, "get_num_sampled_and_rejected"),
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
        Source(Runner.post_update, ("num_computed = ", "states.num_computed_tokens[rows] = num_computed")),
        (INPUT_BATCH, "_post_update_kernel"),
    ),
    Space(
        "total_len_after",
        ("batch_idx",),
        "int32",
        "update",
        [Case("total_len_after", "total_len[idx_mapping[batch_idx]] + num_sampled[batch_idx]")],
        Source(Runner.post_update, ("total_len = total_len", "states.total_len[rows] = total_len")),
        (INPUT_BATCH, "_post_update_kernel"),
    ),
]
