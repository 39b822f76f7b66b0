"""Schedule: who runs how many tokens, in the order the scheduler said it."""

from app.i18n import Translate
from app.pipeline.input_batch import prepare_batch
from app.pipeline.request_state import RequestState
from app.trace.space import Case, Source, Space, Stage
from app.trace.stages.vllm import SCHEDULER_OUTPUT, STATES
from app.trace.step import StepTensors

_SCHEDULE_SOURCE = Source(prepare_batch, ("for req_id, count in num_scheduled_tokens",))


def _sentence(step: StepTensors, translate: Translate) -> str:
    tokens = translate("count.tokens", {"n": step.batch.num_tokens})
    return translate(
        "summary.schedule", {"tokens": tokens, "requests": translate("count.requests", {"n": step.batch.num_reqs})}
    )


SCHEDULE = Stage(
    "schedule",
    sentence=_sentence,
    elements=("schedule_num_tokens", "schedule_idx"),
    spaces=[
        Space(
            "schedule_req_ids",
            ("schedule_idx",),
            "str",
            "text",
            [Case("schedule_req_ids")],
            _SCHEDULE_SOURCE,
            (SCHEDULER_OUTPUT, "SchedulerOutput.num_scheduled_tokens"),
            holds="req_id",
            values=lambda step: [request.req_id for request in step.planned.scheduled],
            is_own=True,
        ),
        Space(
            "schedule_num_tokens",
            ("schedule_idx",),
            "int32",
            "count",
            [Case("schedule_num_tokens")],
            _SCHEDULE_SOURCE,
            (SCHEDULER_OUTPUT, "SchedulerOutput.num_scheduled_tokens"),
            values=lambda step: [request.num_tokens for request in step.planned.scheduled],
            is_key=True,
            is_own=True,
        ),
        Space(
            "schedule_num_drafts",
            ("schedule_idx",),
            "int32",
            "count",
            [Case("schedule_num_drafts")],
            _SCHEDULE_SOURCE,
            (SCHEDULER_OUTPUT, "SchedulerOutput.scheduled_spec_decode_tokens"),
            values=lambda step: [request.num_draft_tokens for request in step.planned.scheduled],
            is_own=True,
        ),
        Space(
            "schedule_req_state_idx",
            ("schedule_idx",),
            "int64",
            "index",
            [Case("schedule_req_state_idx", inputs=("row_req_ids[value]", "schedule_req_ids[schedule_idx]"))],
            Source(RequestState.add_request, ("req_id_to_index[req_id]",)),
            (STATES, "RequestState.req_id_to_index"),
            holds="req_state_idx",
            values=lambda step: [step.req_id_to_index[request.req_id] for request in step.planned.scheduled],
            is_own=True,
        ),
    ],
)
