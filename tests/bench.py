"""Figures of one run: `make bench`. Machines are noisy, so times are given as ratios to work of a known size beside them.

The mapping of one large step (1,024 live requests: 960 decodes and 64 prefill chunks, 16,384 tokens, two groups of block
size 16) on the pipeline, in plain vectorised numpy, in Python loops as small engines do it, and as a bare copy of the
output; then whole requests to `POST /api/trace`.
"""

import random
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import torch
from fastapi.testclient import TestClient

from app.examples import examples
from app.main import create_app
from app.pipeline import runner as stages
from app.pipeline.record import StepContext
from app.pipeline.runner import Runner
from app.pipeline.scheduler_output import SchedulerOutput
from app.scenario import load_plan
from app.trace.trace import make_runner, scheduler_output

NUM_DECODES, NUM_PREFILLS, NUM_TOKENS = 960, 64, 16_384
MAX_MODEL_LEN, MAX_COMPUTED, BLOCK_SIZE = 4_096, 3_500, 16


def large_step() -> dict[str, Any]:
    """One step of 1,024 live requests as a scenario."""
    rng = random.Random(0)
    chunk = (NUM_TOKENS - NUM_DECODES) // NUM_PREFILLS
    requests, scheduled = [], []
    for index in range(NUM_DECODES):
        prompt_len = rng.randint(1, MAX_COMPUTED)
        requests.append({"req_id": f"d{index}", "prompt_len": prompt_len, "initial": {"output_token_ids": 1}})
        scheduled.append([f"d{index}", 1])
    for index in range(NUM_PREFILLS):
        computed = rng.randint(0, MAX_COMPUTED - chunk)
        request = {"req_id": f"p{index}", "prompt_len": MAX_COMPUTED, "initial": {"num_computed_tokens": computed}}
        requests.append(request)
        scheduled.append([f"p{index}", chunk])
    rng.shuffle(scheduled)
    return {
        "version": 1,
        "config": {
            "max_num_reqs": 1_024,
            "max_num_batched_tokens": NUM_TOKENS,
            "max_model_len": MAX_MODEL_LEN,
            "num_blocks": 2**19,
            "kv_cache_groups": [{"name": "a", "block_size": BLOCK_SIZE}, {"name": "b", "block_size": BLOCK_SIZE}],
        },
        "requests": requests,
        "steps": [{"num_scheduled_tokens": scheduled}],
    }


def seconds(work: Callable[[], Any], repeats: int = 15) -> float:
    """The median time of a call."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return median(times)


MAPPING_STAGES = (
    stages.prepare_batch,
    stages.dispatch,
    stages.flatten,
    stages.gather_block_tables,
    stages.compute_slot_mappings,
)


def pipeline_mapping(runner: Runner, scheduled: SchedulerOutput) -> Callable[[], list[torch.Tensor]]:
    """The step's mapping on our pipeline; it leaves the state as it was, so it can be repeated."""

    @torch.inference_mode()  # as a trace runs it
    def work() -> list[torch.Tensor]:
        step = StepContext(scheduled)
        for stage in MAPPING_STAGES:
            stage(runner, step)
        slot_ids = [slots.slot_ids for slots in step.slots]
        tables = [table.input_block_table for table in runner.input_block_tables]
        flat = step.flat
        return [flat.query_start_loc, flat.seq_lens, flat.positions, flat.input_ids, *slot_ids, *tables]

    return work


def numpy_mapping(runner: Runner, scheduled: SchedulerOutput) -> Callable[[], list[Any]]:
    """The same mapping in plain vectorised numpy, from arrays that lie ready."""
    states = runner.states
    num_computed = states.num_computed_tokens.numpy()
    prefill_len, last_sampled = states.prefill_len.numpy(), states.last_sampled_tokens.numpy()
    base = np.zeros(len(num_computed), dtype=np.int64)
    tables = [table.block_table.numpy() for table in runner.block_tables]
    num_blocks = [table.num_blocks.numpy() for table in runner.block_tables]
    gathered = [np.zeros_like(table) for table in tables]
    columns = np.arange(tables[0].shape[1])

    def work() -> list[Any]:
        order = sorted(scheduled.num_scheduled_tokens, key=lambda entry: entry[1])
        idx_mapping = np.array([states.req_id_to_index[req_id] for req_id, _ in order])
        counts = np.array([count for _, count in order], dtype=np.int32)
        starts = np.zeros(len(counts) + 1, dtype=np.int32)
        np.cumsum(counts, out=starts[1:])
        computed = num_computed[idx_mapping]
        seq_lens = computed + counts
        token_batch_idx = np.repeat(np.arange(len(counts)), counts)
        rows = idx_mapping[token_batch_idx]
        positions = np.arange(starts[-1]) + (computed - starts[:-1])[token_batch_idx]
        input_ids = (base[rows] + positions) % (2**31 - 1)
        samples = seq_lens - 1 >= prefill_len[idx_mapping]
        input_ids[(starts[1:] - 1)[samples]] = last_sampled[idx_mapping[samples]]
        slots = []
        for table, lengths, target in zip(tables, num_blocks, gathered, strict=True):
            batch = target[: len(counts)]
            np.copyto(batch, table[idx_mapping], where=columns < lengths[idx_mapping][:, None])
            slots.append(table[rows, positions // BLOCK_SIZE].astype(np.int64) * BLOCK_SIZE + positions % BLOCK_SIZE)
        return [starts, seq_lens, positions, input_ids, *slots, *gathered]

    return work


def loop_mapping(runner: Runner, scheduled: SchedulerOutput) -> Callable[[], list[Any]]:
    """The same mapping in Python loops over tokens."""
    states = runner.states
    num_computed = states.num_computed_tokens.tolist()
    tables = [
        [row[:length] for row, length in zip(group.block_table.tolist(), group.num_blocks.tolist(), strict=True)]
        for group in runner.block_tables
    ]

    def work() -> list[Any]:
        order = sorted(scheduled.num_scheduled_tokens, key=lambda entry: entry[1])
        starts, seq_lens, positions = [0], [], []
        slots: list[list[int]] = [[] for _ in tables]
        for req_id, count in order:
            row = states.req_id_to_index[req_id]
            first = num_computed[row]
            seq_lens.append(first + count)
            starts.append(starts[-1] + count)
            positions.extend(range(first, first + count))
            for table, target in zip(tables, slots, strict=True):
                blocks = table[row]
                target.extend(blocks[p // BLOCK_SIZE] * BLOCK_SIZE + p % BLOCK_SIZE for p in range(first, first + count))
        return [starts, seq_lens, positions, *slots]

    return work


def main() -> None:
    app = create_app()  # as it runs: on one core per request
    scenario = large_step()
    plan = load_plan(scenario)
    runner = make_runner(plan, torch.device("cpu"))
    scheduled = scheduler_output(plan.steps[0])
    entering = StepContext(scheduled)
    for stage in stages.STAGES[: stages.STAGES.index(stages.snapshot_pool)]:
        stage(runner, entering)
    ours, theirs = pipeline_mapping(runner, scheduled), numpy_mapping(runner, scheduled)
    output = ours()
    for our, their in zip(output[4:6], theirs()[4:6], strict=True):
        assert our.tolist() == their.tolist(), "the two mappings differ"
    loops = loop_mapping(runner, scheduled)
    assert loops()[3] == output[4].tolist()

    times = {
        "pipeline": seconds(ours),
        "numpy": seconds(theirs),
        "loops": seconds(loops, 5),
        "copy": seconds(lambda: [tensor.clone() for tensor in output]),
    }
    print(f"one step, 1,024 requests, {NUM_TOKENS:,} tokens (pipeline: {times['pipeline'] * 1e3:.2f} ms)")
    for name in ("numpy", "loops", "copy"):
        print(f"  pipeline / {name:<6} {times['pipeline'] / times[name]:6.2f}")

    with TestClient(app) as client:
        worked = examples()["worked-example"].scenario
        request_times = {}
        for name, body, repeats in (("that step", scenario, 7), ("worked example", worked, 50)):
            answer = client.post("/api/trace", json=body)
            assert answer.status_code == 200, answer.text[:300]
            content = client.build_request("POST", "/api/trace", json=body).content
            request_times[name] = seconds(lambda content=content: client.post("/api/trace", content=content), repeats)
            healthz = seconds(lambda: client.get("/healthz"), 30)
            print(f"POST /api/trace, {name}: {request_times[name] * 1e3:.1f} ms, {len(answer.content):,} bytes")
            print(f"  / pipeline     {request_times[name] / times['pipeline']:8.1f}")
            print(f"  / GET /healthz {request_times[name] / healthz:8.1f}")


if __name__ == "__main__":
    main()
