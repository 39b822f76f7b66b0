"""Schedule: who runs how many tokens, in the order the scheduler said it."""

from app.pipeline.request_state import RequestState
from app.pipeline.runner import Runner
from app.trace.space import Case, Source, Space
from app.trace.stages.vllm import SCHEDULER_OUTPUT, STATES

_SCHEDULE_SOURCE = Source(Runner.step, ("prepare_batch(", "scheduled.num_scheduled_tokens, "))

SCHEDULE = [
    Space(
        "schedule_req_ids",
        ("schedule_idx",),
        "str",
        "schedule",
        [Case("schedule_req_ids")],
        _SCHEDULE_SOURCE,
        (SCHEDULER_OUTPUT, "SchedulerOutput.num_scheduled_tokens"),
        holds="req_id",
    ),
    Space(
        "schedule_num_tokens",
        ("schedule_idx",),
        "int32",
        "schedule",
        [Case("schedule_num_tokens")],
        _SCHEDULE_SOURCE,
        (SCHEDULER_OUTPUT, "SchedulerOutput.num_scheduled_tokens"),
    ),
    Space(
        "schedule_num_drafts",
        ("schedule_idx",),
        "int32",
        "schedule",
        [Case("schedule_num_drafts")],
        _SCHEDULE_SOURCE,
        (SCHEDULER_OUTPUT, "SchedulerOutput.scheduled_spec_decode_tokens"),
    ),
    Space(
        "schedule_req_state_idx",
        ("schedule_idx",),
        "int64",
        "schedule",
        [Case("schedule_req_state_idx", inputs=("row_req_ids[value]", "schedule_req_ids[schedule_idx]"))],
        Source(RequestState.add_request, ("req_id_to_index[req_id]",)),
        (STATES, "RequestState.req_id_to_index"),
        holds="req_state_idx",
    ),
]
