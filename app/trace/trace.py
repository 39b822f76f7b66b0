"""The trace: a planned scenario run on the pipeline, with every index space of the steps asked for.

In: a `Plan` and a window of steps. Out: the JSON-like document of the HTTP API. A trace is a pure function of the scenario;
steps before the window only advance the state, steps behind it are not run.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import orjson
import torch

from app.errors import Fault, ScenarioError
from app.i18n import Translate
from app.pipeline.block_tables import GroupConfig
from app.pipeline.context_parallel import ContextParallel
from app.pipeline.kv_cache import ITEM_SIZES, KVCacheLayout
from app.pipeline.record import StepRecord
from app.pipeline.runner import Runner, RunnerConfig
from app.pipeline.scheduler_output import NewRequest, SchedulerOutput
from app.pipeline.token_ids import RequestTokens
from app.rules import PAD_SLOT_ID, UNKNOWN_BLOCK
from app.scenario.format.model import Config
from app.scenario.plan.plan import Admission, Plan, PlannedStep
from app.trace.checks import MAX_CELLS, Check, check_step
from app.trace.counts.pool_history import PoolHistory
from app.trace.counts.summary import summarise
from app.trace.counts.usage import measure_usage
from app.trace.normalise import normalise
from app.trace.schema import STAGES
from app.trace.space import Space, Stage
from app.trace.step import StepTensors, prepare_step

MAX_VALUES = 4_194_304
ENGINE = "vllm 0.33.0"


def trace_scenario(
    plan: Plan, device: torch.device, translate: Translate, first: int = 0, last: int | None = None
) -> dict[str, Any]:
    """`encode_trace` as Python objects."""
    trace: dict[str, Any] = orjson.loads(encode_trace(plan, device, translate, first, last))
    return trace


@torch.inference_mode()  # nothing is differentiated, so no operation needs to keep track
def encode_trace(plan: Plan, device: torch.device, translate: Translate, first: int = 0, last: int | None = None) -> bytes:
    """Run a plan and describe steps `first..last` (default: all; -1: none), as JSON.

    Raises:
        ScenarioError: `response_too_large` (413) if the window holds more than MAX_VALUES values.
    """
    end = len(plan.steps) - 1
    last = end if last is None else min(last, end)
    _refuse_too_large(plan, first, last)
    config = plan.scenario.config
    layout = kv_cache_layout(config)
    steps = _run_window(plan, make_runner(plan, device), layout, translate, first, last) if first <= last else []
    trace = {
        "version": 1,
        "scenario": normalise(plan, first, last),
        "engine": {"mirrors": ENGINE, "torch": torch.__version__.split("+")[0], "device": device.type},
        "constants": _constants(config, layout),
        "summary": summarise(plan),
        "steps": steps,
        "stopped": _stopped(plan, translate),
    }
    return orjson.dumps(trace, option=orjson.OPT_SERIALIZE_NUMPY)


def make_runner(plan: Plan, device: torch.device) -> Runner:
    """A fresh worker for a plan, its initial requests in the pool."""
    config = plan.scenario.config
    parallel = config.context_parallel
    runner = Runner(
        RunnerConfig(
            max_num_reqs=config.max_num_reqs,
            num_speculative_tokens=config.num_speculative_tokens,
            groups=[
                GroupConfig(group.block_size, group.sliding_window, columns)
                for group, columns in zip(config.kv_cache_groups, plan.num_columns, strict=True)
            ],
            cp=ContextParallel(parallel.size, parallel.rank, parallel.interleave),
            cudagraph_mode=config.cudagraph.mode,
            cudagraph_capture_sizes=config.cudagraph.capture_sizes,
        ),
        [
            RequestTokens(
                base=facts.base,
                prompt_len=facts.prompt_len,
                prompt_token_ids=facts.prompt_token_ids,
                num_rule_outputs=facts.num_rule_outputs,
                initial_output_ids=facts.initial_output_ids,
                num_sampled_tokens=facts.num_sampled_tokens,
            )
            for facts in plan.requests
        ],
        device,
    )
    if plan.initial:
        runner.enter_initial([_new_request(admission) for admission in plan.initial])
    return runner


def scheduler_output(planned: PlannedStep) -> SchedulerOutput:
    """A planned step in the pipeline's words."""
    admitted = planned.admitted_req_ids
    return SchedulerOutput(
        removed_req_ids=[req_id for req_id, _ in planned.removed],
        new_requests=[_new_request(admission) for admission in planned.admissions],
        new_block_ids={req_id: ids for req_id, ids in planned.new_block_ids.items() if req_id not in admitted},
        num_scheduled_tokens=[(request.req_id, request.num_tokens) for request in planned.scheduled],
        draft_token_ids=planned.draft_token_ids,
        sampled_token_ids=planned.sampled_token_ids,
    )


def kv_cache_layout(config: Config) -> KVCacheLayout:
    """What one layer stores per slot."""
    cache = config.kv_cache
    return KVCacheLayout(cache.num_kv_heads, cache.head_size, ITEM_SIZES[cache.dtype], cache.layout)


def _new_request(admission: Admission) -> NewRequest:
    return NewRequest(
        req_id=admission.req_id,
        request_idx=admission.request_idx,
        prompt_len=admission.prompt_len,
        prefill_len=admission.prefill_len,
        num_computed_tokens=admission.num_computed_tokens,
        block_ids=admission.block_ids,
        req_state_idx=admission.req_state_idx,
        num_output_tokens=admission.num_output_tokens,
        last_sampled_token=admission.last_sampled_token,
    )


def _run_window(
    plan: Plan, runner: Runner, layout: KVCacheLayout, translate: Translate, first: int, last: int
) -> list[dict[str, Any]]:
    config = plan.scenario.config
    history = PoolHistory(plan)
    history.enter(plan.initial, runner.states.req_id_to_index)
    steps: list[dict[str, Any]] = []
    num_values = 0
    for index, planned in enumerate(plan.steps[: last + 1]):
        scheduled = scheduler_output(planned)
        if index < first:
            history.after_step(planned, runner.advance(scheduled))
            continue
        record = runner.step(scheduled)
        history.after_step(planned, record.changes)
        step = prepare_step(record, planned, plan.scenario, layout, history)
        num_values += count_values(step)
        if num_values > MAX_VALUES:
            raise _too_large(first, index - 1)
        checks = check_step(step, history.rows, config.num_blocks)
        steps.append(_describe_step(index, step, config, checks, translate))
    return steps


def _refuse_too_large(plan: Plan, first: int, last: int) -> None:
    """Refuse a window whose first step is too large by its tokens and block tables alone, before any tensor is made."""
    if first <= last:
        step = plan.steps[first]
        num_tokens = sum(request.num_tokens for request in step.scheduled)
        if num_tokens + step.num_table_entries > MAX_VALUES:
            raise _too_large(first, first - 1)


def _too_large(first: int, last_that_fits: int) -> ScenarioError:
    params = {"limit": MAX_VALUES, "first": first, "last": last_that_fits}
    if last_that_fits < first:
        params = {"limit": MAX_VALUES, "first": first, "last": -1}
        return ScenarioError([Fault("", "response_too_large", "response_too_large.step", params)], status=413)
    return ScenarioError([Fault("", "response_too_large", "response_too_large", params)], status=413)


def _describe_step(
    index: int, step: StepTensors, config: Config, checks: Sequence[Check], translate: Translate
) -> dict[str, Any]:
    record = step.record
    batch, batch_desc = record.batch, record.batch_desc
    return {
        "index": index,
        "num_reqs": batch.num_reqs if batch else 0,
        "num_tokens": batch.num_tokens if batch else 0,
        "num_reqs_padded": batch_desc.num_reqs_padded if batch_desc else 0,
        "num_tokens_padded": batch_desc.num_tokens_padded if batch_desc else 0,
        "cudagraph_mode": batch_desc.cg_mode if batch_desc else "NONE",
        "req_ids": list(batch.req_ids) if batch else [],
        "req_id_to_index": dict(step.req_id_to_index),
        "free_indices": list(step.free_indices),
        "events": _events(step.planned, record),
        "kv_cache": measure_usage(step, config),
        "sentences": {stage.name: stage.sentence(step, translate) for stage in _stages_of(step) if stage.sentence},
        "spaces": {
            space.name: {"dims": list(space.dims), "dtype": space.dtype, "values": space.values(step)}
            for space in _spaces_of(step)
        },
        "checks": [_describe_check(check, translate) for check in checks],
    }


def _stages_of(step: StepTensors) -> list[Stage]:
    """The stages that a step went through."""
    return [stage for stage in STAGES if step.has_batch or not stage.needs_batch]


def _spaces_of(step: StepTensors) -> Iterator[Space]:
    """The spaces that a step has."""
    return (space for stage in _stages_of(step) for space in stage.spaces if space.exists(step))


def count_values(step: StepTensors) -> int:
    """How many values the spaces of a step hold, without making them."""
    return sum(step.size(space.dims) for space in _spaces_of(step))


def _describe_check(check: Check, translate: Translate) -> dict[str, Any]:
    params = {**check.params, "num_cells": len(check.cells)}
    verdict = "holds" if check.holds else "violated"
    return {
        "name": check.name,
        "holds": check.holds,
        "message": translate(f"check.{check.name}.{verdict}", params),
        "params": params,
        "cells": [{"space": space, "at": list(at)} for space, at in check.cells[:MAX_CELLS]],
    }


def _events(planned: PlannedStep, record: StepRecord) -> list[dict[str, Any]]:
    """What happened to the pool, in order."""
    rows = record.pool.req_id_to_index
    events: list[dict[str, Any]] = [
        {"kind": "remove_request", "req_id": left.req_id, "req_state_idx": left.req_state_idx, "reason": reason}
        for left, (_, reason) in zip(record.changes.removed, planned.removed, strict=True)
    ]
    events += [
        {
            "kind": "add_request",
            "req_id": admission.req_id,
            "req_state_idx": rows[admission.req_id],
            "prefill_len": admission.prefill_len,
            "num_computed_tokens": admission.num_computed_tokens,
            "is_resumed": admission.is_resumed,
            "block_ids": _ids(admission.block_ids),
        }
        for admission in planned.admissions
    ]
    events += [
        {
            "kind": "append_block_ids",
            "req_id": req_id,
            "req_state_idx": rows[req_id],
            "block_ids": _ids(planned.new_block_ids[req_id]),
        }
        for req_id in (request.req_id for request in planned.scheduled)
        if req_id in planned.new_block_ids and req_id not in planned.admitted_req_ids
    ]
    if record.batch is not None and record.update is not None:
        after = record.update.num_computed_tokens_after.tolist()
        events += [
            {"kind": "post_update", "req_id": req_id, "req_state_idx": rows[req_id], "num_computed_tokens": num_computed}
            for req_id, num_computed in zip(record.batch.req_ids, after, strict=True)
        ]
    return events


def _ids(block_ids: Sequence[Sequence[int]]) -> list[list[int | None]]:
    return [[None if block_id == UNKNOWN_BLOCK else block_id for block_id in ids] for ids in block_ids]


def _constants(config: Config, layout: KVCacheLayout) -> dict[str, Any]:
    """The names beside the spaces that formulas use: scalars, and arrays by group."""
    groups = config.kv_cache_groups
    return {
        "PAD_SLOT_ID": PAD_SLOT_ID,
        "max_num_reqs": config.max_num_reqs,
        "max_num_batched_tokens": config.max_num_batched_tokens,
        "max_model_len": config.max_model_len,
        "num_blocks_in_pool": config.num_blocks,
        "num_speculative_tokens": config.num_speculative_tokens,
        "dcp_size": config.context_parallel.size,
        "dcp_rank": config.context_parallel.rank,
        "dcp_interleave": config.context_parallel.interleave,
        "kv_layout": layout.order,
        "num_layers": config.kv_cache.num_layers,
        "num_kv_heads": layout.num_kv_heads,
        "head_size": layout.head_size,
        "itemsize": layout.itemsize,
        "bytes_per_head": layout.bytes_per_head,
        "bytes_per_slot": layout.bytes_per_slot,
        "group_names": [group.name for group in groups],
        "block_size": [group.block_size for group in groups],
        "lcm_block_size": config.lcm_block_size,
        "sliding_window": [group.sliding_window for group in groups],
    }


def _stopped(plan: Plan, translate: Translate) -> dict[str, Any] | None:
    stopped = plan.stopped
    if stopped is None:
        return None
    params = {"step": stopped.step, "needed": stopped.needed, "free": stopped.free}
    return {"code": "pool_exhausted", "message": translate("stopped.pool_exhausted", params), **params}
