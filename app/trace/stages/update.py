"""Update: what the step sampled and what that makes of the pool."""

from app.i18n import Translate
from app.pipeline.sampled_tokens import post_update
from app.trace.space import Case, Source, Space, Stage
from app.trace.stages.vllm import INPUT_BATCH, MODEL_RUNNER
from app.trace.step import StepTensors, array
from app.trace.words import listed

_UNFINISHED = "seq_lens[batch_idx] < prefill_len[idx_mapping[batch_idx]]"


def _sentence(step: StepTensors, translate: Translate) -> str:
    computed = zip(step.batch.req_ids, step.update.num_computed_tokens_after.tolist(), strict=True)
    rows = [translate("summary.update.row", {"req_id": req_id, "value": str(count)}) for req_id, count in computed]
    return translate("summary.update", {"rows": listed(rows, translate)})


UPDATE = Stage(
    "update",
    sentence=_sentence,
    tier=3,
    elements=("num_computed_tokens_after", "batch_idx"),
    asks="num_computed_tokens_after",
    spaces=[
        Space(
            "sampled_token_ids",
            ("batch_idx", "sample_idx"),
            "int32",
            "id",
            [Case("sampled_token_ids", control=("logits_indices[cu_num_logits[batch_idx] + sample_idx]",))],
            Source(post_update, ("sampled_token_ids.get(", "sampled_flat = ")),
            (MODEL_RUNNER, "GPUModelRunner.sample_tokens"),
            values=lambda step: [list(step.planned.sampled_token_ids.get(req_id, ())) for req_id in step.batch.req_ids],
            is_key=True,
        ),
        Space(
            "num_sampled",
            ("batch_idx",),
            "int32",
            "count",
            [
                Case("num_sampled.unfinished", "0", when=_UNFINISHED, inputs=("seq_lens[batch_idx]",)),
                Case("num_sampled", "length(sampled_token_ids, batch_idx)"),
            ],
            Source(post_update, ("num_sampled = ",)),
            (INPUT_BATCH, "get_num_sampled_and_rejected"),
            values=lambda step: array(step.update.num_sampled),
        ),
        Space(
            "num_rejected",
            ("batch_idx",),
            "int32",
            "count",
            [
                Case("num_rejected.unfinished", "0", when=_UNFINISHED, inputs=("seq_lens[batch_idx]",)),
                Case("num_rejected", "1 + num_draft_tokens[batch_idx] - num_sampled[batch_idx]"),
            ],
            Source(post_update, ("num_rejected = ",)),
            (INPUT_BATCH, "get_num_sampled_and_rejected"),
            values=lambda step: array(step.update.num_rejected),
        ),
        Space(
            "num_computed_tokens_after",
            ("batch_idx",),
            "int32",
            "count",
            [
                Case(
                    "num_computed_tokens_after",
                    "num_computed_tokens[idx_mapping[batch_idx]] + num_scheduled_tokens[batch_idx]"
                    " - num_rejected[batch_idx]",
                )
            ],
            Source(post_update, ("num_computed = ", "states.num_computed_tokens[idx_mapping] = num_computed")),
            (INPUT_BATCH, "_post_update_kernel"),
            values=lambda step: array(step.update.num_computed_tokens_after),
            is_key=True,
            is_answer=True,
        ),
        Space(
            "total_len_after",
            ("batch_idx",),
            "int32",
            "count",
            [Case("total_len_after", "total_len[idx_mapping[batch_idx]] + num_sampled[batch_idx]")],
            Source(post_update, ("total_len = total_len", "states.total_len[idx_mapping] = total_len")),
            (INPUT_BATCH, "_post_update_kernel"),
            values=lambda step: array(step.update.total_len_after),
        ),
    ],
)
