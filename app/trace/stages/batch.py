"""Batch: the step's requests in the order of the batch rows."""

from app.i18n import Translate
from app.pipeline.input_batch import prepare_batch
from app.trace.space import Case, Source, Space, Stage
from app.trace.stages.vllm import INPUT_BATCH, MODEL_RUNNER
from app.trace.step import StepTensors, array
from app.trace.words import listed

_BATCH_SOURCE = Source(prepare_batch, ("(int(not", "order = sorted("))


def _sentence(step: StepTensors, translate: Translate) -> str:
    named = ({"req_id": req_id, "row": str(row)} for row, req_id in enumerate(step.batch.req_ids))
    return translate("summary.batch", {"rows": listed([translate("summary.batch.row", one) for one in named], translate)})


BATCH = Stage(
    "batch",
    sentence=_sentence,
    tier=0,
    elements=("idx_mapping", "batch_idx"),
    asks="idx_mapping",
    spaces=[
        Space(
            "idx_mapping",
            ("batch_idx",),
            "int64",
            "index",
            [Case("idx_mapping", "schedule_req_state_idx[schedule_idx[batch_idx]]", inputs=("row_req_ids[value]",))],
            Source(prepare_batch, ("req_state_idx = [", "idx_mapping = torch.tensor(")),
            (INPUT_BATCH, "InputBatch.idx_mapping"),
            holds="req_state_idx",
            values=lambda step: array(step.batch.idx_mapping),
            is_key=True,
            is_answer=True,
        ),
        Space(
            "num_scheduled_tokens",
            ("batch_idx",),
            "int32",
            "count",
            [Case("num_scheduled_tokens", "schedule_num_tokens[schedule_idx[batch_idx]]")],
            Source(prepare_batch, ("counts = [", "scheduled = torch.tensor(")),
            (INPUT_BATCH, "InputBatch.num_scheduled_tokens"),
            values=lambda step: array(step.batch.num_scheduled_tokens),
            is_key=True,
        ),
        Space(
            "num_draft_tokens",
            ("batch_idx",),
            "int32",
            "count",
            [Case("num_draft_tokens", "schedule_num_drafts[schedule_idx[batch_idx]]")],
            Source(prepare_batch, ("draft_counts = [", "num_draft_tokens = torch.tensor(")),
            (INPUT_BATCH, "InputBatch.num_draft_tokens_per_req"),
            values=lambda step: array(step.batch.num_draft_tokens),
        ),
        Space(
            "is_prefilling",
            ("batch_idx",),
            "bool",
            "flag",
            [Case("is_prefilling", "num_computed_tokens[idx_mapping[batch_idx]] < prefill_len[idx_mapping[batch_idx]]")],
            Source(prepare_batch, ("is_prefilling = num_computed",)),
            (INPUT_BATCH, "InputBatch.is_prefilling_np"),
            values=lambda step: array(step.batch.is_prefilling),
            is_key=True,
        ),
        Space(
            "sort_key",
            ("batch_idx", "sort_key_part"),
            "int32",
            "count",
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
            values=lambda step: step.batch.sort_key,
            is_own=True,
        ),
        Space(
            "schedule_idx",
            ("batch_idx",),
            "int32",
            "index",
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
            values=lambda step: step.batch.schedule_idx,
            is_own=True,
        ),
    ],
)
