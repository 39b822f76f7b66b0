"""What the picture of a scenario says: one step, run, as tokens, rows, slots and blocks; or the schedule alone.

In: a scenario as it was written. Out: a `Card`. The step is run where that is cheap (`MAX_COST`); a scenario that is too
large for it, cannot be run or schedules nothing is shown by its schedule and a sentence.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from app.errors import ScenarioError
from app.i18n import Language, translate
from app.scenario import load_plan
from app.scenario.format.model import Scenario
from app.scenario.format.parse import parse_scenario
from app.trace.trace import trace_scenario
from app.web.identity import Identity, identities

MAX_ROWS = 5  # of the batch
MAX_CELLS = 12  # of the token strip
MAX_BLOCKS = 3
MAX_SCHEDULE = (6, 12)  # requests, steps
MAX_COST = 1_500_000  # about a second


@dataclass(frozen=True)
class BatchRow:
    identity: Identity
    batch_idx: int
    req_state_idx: int


@dataclass(frozen=True)
class Token:
    identity: Identity
    flat_token_idx: int
    position: int
    slot: int | None  # None: unknown; -1: kept by another rank


@dataclass(frozen=True)
class Block:
    identity: Identity
    block_id: int
    block_size: int
    num_filled: int  # before the step's tokens
    written: Sequence[int]  # offsets


@dataclass(frozen=True)
class StepPicture:
    """A step as it ran. Of long runs of tokens the middle is left out: None stands for it."""

    rows: Sequence[BatchRow]
    num_rows: int
    tokens: Sequence[Token | None]
    num_more_tokens: int
    blocks: Sequence[Block]
    num_more_blocks: int


@dataclass(frozen=True)
class SchedulePicture:
    """The schedule as it was written: tokens of requests (rows) in steps (columns), 0 for none."""

    requests: Sequence[Identity]
    num_more_requests: int
    first_step: int
    counts: Sequence[Sequence[int]]  # [request][step]
    current: int  # the step to look at; -1: not among these


@dataclass(frozen=True)
class Card:
    title: str
    place: str  # which step
    facts: Sequence[str]
    sentence: str  # why it is not the step that is shown, or ""
    step: StepPicture | None
    schedule: SchedulePicture | None

    @property
    def alt(self) -> str:
        """The picture in words."""
        return " · ".join(filter(None, (self.title, self.place, *self.facts, self.sentence)))


def make_card(document: Mapping[str, Any], step: int | None, device: torch.device, language: Language) -> Card:
    """The card of a scenario at a step, `start_step` where none is asked for. It never fails: what cannot be run is said."""
    try:
        scenario = parse_scenario(document)
    except ScenarioError:
        title = document.get("title")
        return Card(title[:200] if isinstance(title, str) else "", "", (), _say(language, "refused"), None, None)
    shown = min(max(scenario.start_step if step is None else step, 0), max(len(scenario.steps) - 1, 0))
    place = _say(language, "step", step=str(shown)) if scenario.steps else ""
    counts = (_count(language, "requests", len(scenario.requests)), _count(language, "steps", len(scenario.steps)))
    if not any(step.num_scheduled_tokens for step in scenario.steps):
        return _schedule_card(scenario, shown, "", counts if scenario.requests else (), _say(language, "empty"))
    if cost_of(scenario, shown) > MAX_COST:
        return _schedule_card(scenario, shown, place, counts, "")
    try:
        plan = load_plan(document)
        if shown >= len(plan.steps) or not plan.steps[shown].scheduled:
            return _schedule_card(scenario, shown, place, counts, _say(language, "idle"))
        trace = trace_scenario(plan, device, lambda key, params: translate(language, key, params), shown, shown)
    except ScenarioError:
        return _schedule_card(scenario, shown, place, counts, _say(language, "refused"))
    return _step_card(trace, place, language)


def cost_of(scenario: Scenario, last: int) -> int:
    """Roughly how much work it is to run a scenario up to a step: entries of tensors and lists that are made or read."""
    config = scenario.config
    columns = sum(config.num_columns(group) for group in config.kv_cache_groups)
    cost = config.max_num_reqs * columns + config.num_blocks // 4 + 8 * len(scenario.requests)
    cost += sum(len(request.prompt_token_ids or ()) for request in scenario.requests)
    for index, step in enumerate(scenario.steps):
        cost += 24 * len(step.num_scheduled_tokens) + 400  # planned, whichever step is shown
        cost += sum(len(ids) for per_group in step.new_block_ids.values() for ids in per_group)
        if index <= last:
            tokens = sum(count for _, count in step.num_scheduled_tokens)
            cost += tokens * (1 if index < last else 16 + 8 * len(config.kv_cache_groups))
        if cost > MAX_COST:
            break
    return cost


def _step_card(trace: Mapping[str, Any], place: str, language: Language) -> Card:
    step, constants, scenario = trace["steps"][0], trace["constants"], trace["scenario"]
    spaces = {name: space["values"] for name, space in step["spaces"].items()}
    known = identities([request["req_id"] for request in scenario["requests"]])
    owners = [known[req_id] for req_id in step["req_ids"]]
    rows = [
        BatchRow(owner, batch_idx, row)
        for batch_idx, (owner, row) in enumerate(zip(owners, spaces["idx_mapping"], strict=True))
    ]
    starts = spaces["query_start_loc"]
    chosen, num_shown = _choose_tokens([starts[row + 1] - starts[row] for row in range(step["num_reqs"])])
    slots, positions, batch_idx = spaces["slot_mappings"][0], spaces["positions"], spaces["token_batch_idx"]
    tokens = [
        None if index is None else Token(owners[batch_idx[index]], index, positions[index], slots[index]) for index in chosen
    ]
    blocks, num_more_blocks = _blocks(spaces, owners, constants["block_size"][0], step["num_tokens"])
    num_groups = len(constants["block_size"])
    facts = [
        _count(language, "requests", step["num_reqs"]),
        _count(language, "tokens", step["num_tokens"]),
        _count(language, "blocks", len(blocks) + num_more_blocks),
    ]
    if num_groups > 1:
        facts.append(_count(language, "groups", num_groups))
    return Card(
        title=scenario["title"],
        place=place,
        facts=facts,
        sentence="",
        step=StepPicture(
            rows=rows[:MAX_ROWS],
            num_rows=len(rows),
            tokens=tokens,
            num_more_tokens=step["num_tokens"] - num_shown,
            blocks=blocks,
            num_more_blocks=num_more_blocks,
        ),
        schedule=None,
    )


def _choose_tokens(lengths: Sequence[int]) -> tuple[list[int | None], int]:
    """Tokens to show of each request in batch order, None for those left out between them, and how many are accounted for.

    All of them where they fit; else of every run longer than 4 its first two and its last one, as far as there is room.
    """
    if sum(lengths) <= MAX_CELLS:
        return [*range(sum(lengths))], sum(lengths)
    chosen: list[int | None] = []
    start = 0
    for length in lengths:
        indices = range(start, start + length)
        run: list[int | None] = [*indices] if length <= 4 else [indices[0], indices[1], None, indices[-1]]
        if len(chosen) + len(run) > MAX_CELLS:
            break
        chosen += run
        start += length
    return chosen, start


def _blocks(
    spaces: Mapping[str, Any], owners: Sequence[Identity], block_size: int, num_tokens: int
) -> tuple[list[Block], int]:
    """The first blocks of group 0 that the step writes to, in the order of its tokens, and how many more there are."""
    numbers, offsets = spaces["block_numbers"][0], spaces["block_offsets"][0]
    written: dict[int, list[int]] = {}
    writers: dict[int, Identity] = {}
    for index in range(num_tokens):
        block_id = numbers[index]
        if block_id is not None:
            written.setdefault(block_id, []).append(offsets[index])
            writers.setdefault(block_id, owners[spaces["token_batch_idx"][index]])
    blocks = [
        Block(writers[block_id], block_id, block_size, min(at), sorted(set(at)))
        for block_id, at in list(written.items())[:MAX_BLOCKS]
    ]
    return blocks, len(written) - len(blocks)


def _schedule_card(scenario: Scenario, shown: int, place: str, facts: Sequence[str], sentence: str) -> Card:
    num_requests, num_steps = MAX_SCHEDULE
    known = identities([request.req_id for request in scenario.requests])
    shown_requests = [*known.values()][:num_requests]
    first = min(max(shown - num_steps + 2, 0), max(len(scenario.steps) - num_steps, 0))
    steps = [dict(step.num_scheduled_tokens) for step in scenario.steps[first : first + num_steps]]
    schedule = SchedulePicture(
        requests=shown_requests,
        num_more_requests=max(len(scenario.requests) - num_requests, 0),
        first_step=first,
        counts=[[step.get(req_id, 0) for step in steps] for req_id in list(known)[:num_requests]],
        current=shown - first if steps else -1,
    )
    return Card(scenario.title, place, facts, sentence, None, schedule if shown_requests and steps else None)


def _count(language: Language, key: str, n: int) -> str:
    return _say(language, key, n=n)


def _say(language: Language, key: str, **params: Any) -> str:
    return translate(language, f"picture.{key}", params)
