"""A step: its stages and what may stand between them, what it records, and that nothing changes a record any more."""

import ast
import copy
import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import app.pipeline
from app.examples import examples
from app.pipeline import runner as stages
from app.pipeline.block_tables import GroupConfig
from app.pipeline.record import StepContext, StepRecord
from app.pipeline.runner import STAGES, Runner, RunnerConfig
from app.pipeline.scheduler_output import NewRequest, SchedulerOutput
from app.pipeline.token_ids import RequestTokens
from app.scenario import load_plan
from app.trace.trace import make_runner, scheduler_output

EXAMPLES = {name: example.scenario for name, example in examples().items()}


def small_runner(device: torch.device, run: tuple[stages.Stage, ...] = STAGES) -> Runner:
    """4 rows, blocks of 4 slots, two requests: a with a prompt of 5, b with one of 3."""
    requests = [RequestTokens(1_000, 5, None, 0, (), 4), RequestTokens(2_000, 3, None, 0, (), 4)]
    return Runner(RunnerConfig(4, 0, [GroupConfig(4, None, 8)]), requests, device, run)


FIRST = SchedulerOutput(
    new_requests=[NewRequest("a", 0, 5, 5, 0, [[7, 9]]), NewRequest("b", 1, 3, 3, 0, [[4]])],
    num_scheduled_tokens=[("a", 5), ("b", 3)],
    sampled_token_ids={"a": [51], "b": [52]},
)
SECOND = SchedulerOutput(
    removed_req_ids=["a"], num_scheduled_tokens=[("b", 1)], new_block_ids={"b": [[9]]}, sampled_token_ids={"b": [53]}
)
NOTHING = SchedulerOutput()


def tensors(value: Any, path: str = "") -> Iterator[tuple[str, torch.Tensor]]:
    """Every tensor of a record, with the way to it."""
    if isinstance(value, torch.Tensor):
        yield path, value
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from tensors(getattr(value, field.name), f"{path}.{field.name}")
    elif isinstance(value, tuple | list):
        for index, entry in enumerate(value):
            yield from tensors(entry, f"{path}[{index}]")


def test_a_step_is_what_its_stages_do_in_order(device: torch.device) -> None:
    seen: list[str] = []

    def spied(stage: stages.Stage) -> stages.Stage:
        def run(runner: Runner, step: StepContext) -> None:
            seen.append(stage.__name__)
            stage(runner, step)

        return run

    runner = small_runner(device, tuple(spied(stage) for stage in STAGES))
    runner.step(FIRST)
    assert seen == [stage.__name__ for stage in STAGES]
    assert seen == [
        "remove_requests",
        "add_requests",
        "append_block_ids",
        "apply_staged_writes",
        "set_draft_tokens",
        "snapshot_pool",
        "stop_if_nothing_is_scheduled",
        "prepare_batch",
        "dispatch",
        "flatten",
        "gather_block_tables",
        "snapshot_input_block_tables",
        "compute_slot_mappings",
        "post_update",
    ]
    seen.clear()
    record = runner.step(NOTHING)
    assert seen[-1] == "stop_if_nothing_is_scheduled"
    assert record.batch is record.flat is record.update is None
    assert record.pool.num_computed_tokens.tolist() == [0, 0, 3, 5]  # b at row 2, a at row 3


def test_something_can_be_put_between_two_stages(device: torch.device) -> None:
    """Block 9 is handed to somebody else before the slots are computed: a's last token goes to slot 5 * 4."""

    def swap_block(runner: Runner, step: StepContext) -> None:
        runner.block_tables[0].block_table[3, 1] = 5

    place = STAGES.index(stages.compute_slot_mappings)
    plain = small_runner(device).step(FIRST)
    faulty = small_runner(device, (*STAGES[:place], swap_block, *STAGES[place:])).step(FIRST)
    assert plain.slots[0].slot_ids.tolist() == [16, 17, 18, 28, 29, 30, 31, 36]  # b: block 4; a: blocks 7 and 9
    assert faulty.slots[0].slot_ids.tolist() == [16, 17, 18, 28, 29, 30, 31, 20]
    assert faulty.input_block_tables[0].values.tolist() == [4, 7, 9]  # gathered before


def test_a_record_says_who_left_and_who_came(device: torch.device) -> None:
    runner = small_runner(device)
    first, second = runner.step(FIRST), runner.step(SECOND)
    assert first.changes.added == {"a": 3, "b": 2}
    assert first.pool.req_id_to_index == {"a": 3, "b": 2}
    assert first.pool.free_indices == (0, 1)
    (left,) = second.changes.removed
    assert (left.req_id, left.req_state_idx) == ("a", 3)
    assert [ids.tolist() for ids in left.block_ids] == [[7, 9]]
    assert second.changes.added == {}
    assert second.pool.free_indices == (0, 1, 3)


def test_a_record_holds_tables_as_far_as_they_were_written(device: torch.device) -> None:
    runner = small_runner(device)
    first, second = runner.step(FIRST), runner.step(SECOND)
    assert first.tables[0].block_table.lengths.tolist() == [0, 0, 1, 2]
    assert first.tables[0].block_table.values.tolist() == [4, 7, 9]
    assert second.tables[0].block_table.lengths.tolist() == [0, 0, 2, 2]
    assert second.tables[0].block_table.values.tolist() == [4, 9, 7, 9]  # a's row is stale, and still there
    assert second.tables[0].num_blocks.tolist() == [0, 0, 2, 2]
    assert second.input_block_tables[0].lengths.tolist() == [2]  # one batch row
    # a comes back to row 3 with one block, before its old second one.
    back = SchedulerOutput(new_requests=[NewRequest("a", 0, 5, 5, 0, [[6]])], num_scheduled_tokens=[("a", 4)])
    third = runner.step(back)
    assert third.tables[0].block_table.values.tolist() == [4, 9, 6, 9]
    assert third.tables[0].num_blocks.tolist() == [0, 0, 2, 1]
    assert third.input_block_tables[0].values.tolist() == [6, 9]  # behind a's block what b left in batch row 0


def test_batch_rows_of_the_step_before_are_cleared(device: torch.device) -> None:
    """The step before that scheduled anything: one that schedules nothing gathers nothing."""
    runner = small_runner(device)
    table = runner.input_block_tables[0].input_block_table
    runner.step(FIRST)
    assert table[:3, :2].tolist() == [[4, 0], [7, 9], [0, 0]]  # b, then a: rising counts
    runner.step(NOTHING)
    assert table[:3, :2].tolist() == [[4, 0], [7, 9], [0, 0]]
    runner.step(SECOND)
    assert table[:3, :2].tolist() == [[4, 9], [0, 0], [0, 0]]


def test_a_record_is_as_large_as_what_stands_in_the_tables(device: torch.device) -> None:
    """A history over a wide pool: 4,096 rows of 3,500 columns, of which one row is used."""
    requests = [RequestTokens(1_000, 3_500, None, 0, (), 1)]
    runner = Runner(RunnerConfig(4_096, 0, [GroupConfig(1, None, 3_500)]), requests, device)
    scheduled = SchedulerOutput(
        new_requests=[NewRequest("a", 0, 3_500, 3_500, 0, [range(1, 3_501)])], num_scheduled_tokens=[("a", 3_499)]
    )
    for record in (runner.step(scheduled), runner.step(NOTHING)):
        held = {tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes() for _, tensor in tensors(record)}
        # 3,500 ids in each kind of table; 7 counts and ids by row; at most ten numbers of 8 bytes for each token.
        assert sum(held.values()) < 2 * 3_500 * 4 + 9 * 4_096 * 4 + 10 * 3_500 * 8


def test_no_later_step_changes_a_record(subtests: pytest.Subtests, device: torch.device) -> None:
    for name in EXAMPLES:
        with subtests.test(name):
            plan = load_plan(EXAMPLES[name])
            runner = make_runner(plan, device)
            records: list[StepRecord] = []
            copies: list[StepRecord] = []
            for planned in plan.steps:
                records.append(runner.step(scheduler_output(planned)))
                copies.append(copy.deepcopy(records[-1]))
            for tensor in (tensor for buffers in (runner.states, *runner.block_tables) for tensor in vars(buffers).values()):
                if isinstance(tensor, torch.Tensor):
                    tensor.fill_(-99)
            for table in runner.input_block_tables:
                table.input_block_table.fill_(-99)
                table.written_columns.fill_(-99)
            runner.states.req_id_to_index.clear()
            runner.states.free_indices.clear()
            for record, kept in zip(records, copies, strict=True):
                for (path, ours), (_, theirs) in zip(tensors(record), tensors(kept), strict=True):
                    assert torch.equal(ours, theirs), path
                assert record.pool.req_id_to_index == kept.pool.req_id_to_index
                assert record.pool.free_indices == kept.pool.free_indices


def test_advancing_leaves_the_buffers_as_a_step_does(subtests: pytest.Subtests, device: torch.device) -> None:
    for name in EXAMPLES:
        with subtests.test(name):
            plan = load_plan(EXAMPLES[name])
            stepped, advanced = make_runner(plan, device), make_runner(plan, device)
            for planned in plan.steps:
                record = stepped.step(scheduler_output(planned))
                changes = advanced.advance(scheduler_output(planned))
                assert changes.added == record.changes.added
                assert [left.req_id for left in changes.removed] == [left.req_id for left in record.changes.removed]
                assert advanced.states.req_id_to_index == stepped.states.req_id_to_index
                assert advanced.states.free_indices == stepped.states.free_indices
                for ours, theirs in zip(
                    (advanced.states, *advanced.block_tables, *advanced.input_block_tables),
                    (stepped.states, *stepped.block_tables, *stepped.input_block_tables),
                    strict=True,
                ):
                    for field, tensor in vars(ours).items():
                        if isinstance(tensor, torch.Tensor):
                            assert torch.equal(tensor, vars(theirs)[field]), field


def test_each_file_builds_on_those_above_it_alone() -> None:
    """The order in which the package asks to be read names every file, and no file needs one that comes later."""
    assert app.pipeline.__doc__ is not None
    listed = re.findall(r"^\d+\. ([\w, ]+):", app.pipeline.__doc__, re.MULTILINE)
    order = [name for names in listed for name in names.split(", ")]
    folder = Path(app.pipeline.__file__).parent
    assert sorted(order) == sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__")
    for index, name in enumerate(order):
        for node in ast.walk(ast.parse((folder / f"{name}.py").read_text())):
            if not isinstance(node, ast.ImportFrom) or not str(node.module).startswith("app.pipeline"):
                continue
            modules = (
                [alias.name for alias in node.names] if node.module == "app.pipeline" else [str(node.module).split(".")[2]]
            )
            assert set(modules) <= set(order[:index]), f"{name} imports {modules}"
