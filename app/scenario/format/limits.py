"""Bounds that several fields decide together, before any step is looked at."""

from collections.abc import Collection, Iterator

from app.errors import Fault, pointer, remove, replace
from app.scenario.format.model import Config, Scenario, Step

MAX_POOL_TOKENS = 2**26  # max_num_reqs * max_model_len
MAX_TABLE_ENTRIES = 2**24  # max_num_reqs * columns, all groups together
MAX_GIVEN_BLOCKS = 2**25  # from the block pool, all steps together


def prevents_planning(fault: Fault) -> bool:
    """Whether the steps cannot be looked at: tables and pool would be too large."""
    return fault.message in ("schema.pool_tokens", "schema.table_entries")


def limit_faults(scenario: Scenario) -> Iterator[Fault]:
    """Faults with code `schema`, `duplicate_key` or `duplicate_req_id`."""
    yield from _config_faults(scenario.config)
    last_step = max(len(scenario.steps) - 1, 0)
    if scenario.start_step > last_step:
        params = {"given": scenario.start_step, "last": last_step, "num_steps": len(scenario.steps)}
        message = "schema.start_step" if scenario.steps else "schema.start_step.no_steps"
        yield Fault("/start_step", "schema", message, params, replace("/start_step", last_step))
    yield from _request_faults(scenario)
    known = {request.req_id for request in scenario.requests}
    num_groups = len(scenario.config.kv_cache_groups)
    for index, step in enumerate(scenario.steps):
        yield from _step_faults(index, step, known, num_groups)


def _step_faults(index: int, step: Step, known: Collection[str], num_groups: int) -> Iterator[Fault]:
    for req_id, block_ids in step.new_block_ids.items():
        if len(block_ids) != num_groups and req_id in known:
            where = pointer("steps", index, "new_block_ids", req_id)
            params = {"step": index, "req_id": req_id, "given": len(block_ids), "num_groups": num_groups}
            yield Fault(where, "schema", "schema.groups", params, remove(where))
    names: set[str] = set()
    for place, (req_id, _) in enumerate(step.num_scheduled_tokens):
        if req_id in names:
            pair = pointer("steps", index, "num_scheduled_tokens", place)
            params = {"step": index, "req_id": req_id, "key": req_id}
            yield Fault(pair + "/0", "duplicate_key", "duplicate_key", params, remove(pair))
        names.add(req_id)


def _config_faults(config: Config) -> Iterator[Fault]:
    max_num_reqs = config.max_num_reqs
    num_columns = sum(config.num_columns(group) for group in config.kv_cache_groups)
    if max_num_reqs * config.max_model_len > MAX_POOL_TOKENS:
        params = {
            "max_num_reqs": max_num_reqs,
            "max_model_len": config.max_model_len,
            "product": max_num_reqs * config.max_model_len,
            "limit": MAX_POOL_TOKENS,
            "right": MAX_POOL_TOKENS // max_num_reqs,
        }
        where = "/config/max_model_len"
        yield Fault(where, "schema", "schema.pool_tokens", params, replace(where, MAX_POOL_TOKENS // max_num_reqs))
    elif max_num_reqs * num_columns > MAX_TABLE_ENTRIES:
        product = max_num_reqs * num_columns
        params = {"max_num_reqs": max_num_reqs, "columns": num_columns, "product": product, "limit": MAX_TABLE_ENTRIES}
        yield Fault("/config/kv_cache_groups", "schema", "schema.table_entries", params)
    parallel = config.context_parallel
    if parallel.rank >= parallel.size:
        params = {"rank": parallel.rank, "size": parallel.size, "last": parallel.size - 1}
        where = "/config/context_parallel/rank"
        yield Fault(where, "schema", "schema.rank", params, replace(where, parallel.size - 1))
    undivided = [index for index, group in enumerate(config.kv_cache_groups) if group.block_size % parallel.interleave]
    if undivided:
        block_size = config.kv_cache_groups[undivided[0]].block_size
        params = {"interleave": parallel.interleave, "block_size": block_size, "group": undivided[0]}
        yield Fault("/config/context_parallel/interleave", "schema", "schema.interleave", params)
    for index, group in enumerate(config.kv_cache_groups):
        if group.sliding_window is not None and parallel.size > 1:
            where = pointer("config", "kv_cache_groups", index, "sliding_window")
            params = {"group": index, "sliding_window": group.sliding_window, "size": parallel.size}
            yield Fault(where, "schema", "schema.window_with_cp", params, replace(where, None))
    for index, size in enumerate(config.cudagraph.capture_sizes):
        if size > config.max_num_batched_tokens:
            where = pointer("config", "cudagraph", "capture_sizes", index)
            params = {"given": size, "limit": config.max_num_batched_tokens}
            yield Fault(where, "schema", "schema.capture_size", params, remove(where))


def _request_faults(scenario: Scenario) -> Iterator[Fault]:
    first_place: dict[str, int] = {}
    max_prompt = scenario.config.max_model_len - 1
    num_groups = len(scenario.config.kv_cache_groups)
    for index, request in enumerate(scenario.requests):
        where = pointer("requests", index)
        if request.req_id in first_place:
            params = {"req_id": request.req_id, "first": first_place[request.req_id]}
            yield Fault(where + "/req_id", "duplicate_req_id", "duplicate_req_id", params)
        first_place.setdefault(request.req_id, index)
        if (request.prompt_len is None) == (request.prompt_token_ids is None):
            message = "schema.no_prompt" if request.prompt_len is None else "schema.two_prompts"
            fix = None if request.prompt_len is None else remove(where + "/prompt_len")
            yield Fault(where, "schema", message, {"req_id": request.req_id}, fix)
            continue
        if request.num_prompt_tokens > max_prompt:
            name = "prompt_token_ids" if request.prompt_len is None else "prompt_len"
            params = {
                "req_id": request.req_id,
                "given": request.num_prompt_tokens,
                "limit": max_prompt,
                "max_model_len": scenario.config.max_model_len,
            }
            fix = replace(where + "/prompt_len", max_prompt) if request.prompt_len is not None else None
            yield Fault(f"{where}/{name}", "schema", "schema.prompt_len", params, fix)
        block_ids = request.initial.block_ids if request.initial else None
        if block_ids is not None and len(block_ids) != num_groups:
            at = where + "/initial/block_ids"
            params = {"req_id": request.req_id, "given": len(block_ids), "num_groups": num_groups}
            yield Fault(at, "schema", "schema.groups", params, remove(at))
