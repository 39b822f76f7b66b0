"""What the charts say beside their figures: titles, the sentence of each step, and tables of the same numbers.

In: series of `app.trace`. Out: sentences in one language and plain lists. The words of a scenario are left as they are.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from app.i18n import Translate
from app.rules import NULL_BLOCK
from app.scenario.plan.plan import Plan
from app.trace.counts.block_owners import BlockMap, BlockRange, Run
from app.trace.counts.series import PoolSeries, TokenSeries


class Words:
    """Sentences of the charts in one language."""

    def __init__(self, translate: Translate) -> None:
        self._translate = translate

    def __call__(self, key: str, **params: Any) -> str:
        return self._translate(f"chart.{key}", params)

    def join(self, parts: Iterable[str]) -> str:
        """A list within a sentence."""
        return self._translate("list.separator", {}).join(parts)

    def paragraph(self, *sentences: str | None) -> str:
        """Sentences one after the other, those that are None left out."""
        return self("space").join(sentence for sentence in sentences if sentence)


@dataclass(frozen=True)
class Table:
    """The numbers of a figure for reading: column names, and rows of numbers and words."""

    columns: Sequence[str]
    rows: Sequence[Sequence[int | float | str | None]]


@dataclass(frozen=True)
class Texts:
    """All that stands around one figure. `readings` has a sentence for each step."""

    title: str
    description: str
    table: Table
    readings: Sequence[str]


def token_kinds(series: TokenSeries) -> dict[str, Sequence[int]]:
    """Counts by kind, [num_steps] each; drafts and padding only where there are some."""
    kinds = {"prefill": series.prefill, "decode": series.decode, "draft": series.draft, "padding": series.padding}
    return {kind: counts for kind, counts in kinds.items() if kind in {"prefill", "decode"} or any(counts)}


def token_texts(plan: Plan, series: TokenSeries, say: Words) -> Texts:
    kinds = token_kinds(series)
    readings, rows = [], []
    for step in range(len(plan.steps)):
        counts = {kind: values[step] for kind, values in kinds.items()}
        parts = [say("tokens.part", n=count, kind=say(f"tokens.{kind}")) for kind, count in counts.items() if count]
        readings.append(say("tokens.reading", step=step, parts=say.join(parts) or say("tokens.none")))
        rows.append([step, *counts.values(), sum(counts.values())])
    return Texts(
        title=say("tokens.title"),
        description=say.paragraph(
            say("tokens.description"),
            say("tokens.padded") if "padding" in kinds else None,
            say("stopped", step=plan.stopped.step) if plan.stopped else None,
        ),
        table=Table([say("step"), *(say(f"tokens.{kind}") for kind in kinds), say("tokens.total")], rows),
        readings=readings,
    )


def pool_shares(series: PoolSeries) -> list[float]:
    """Percent of the pool that is used. [num_steps]"""
    return [round(100 * used / series.num_blocks, 1) for used in series.used_blocks]


def pool_texts(plan: Plan, series: PoolSeries, say: Words) -> Texts:
    config = plan.scenario.config
    groups = series.groups if len(series.groups) > 1 else ()
    columns = {
        "used": series.used_blocks,
        "share": pool_shares(series),
        "reserved": series.reserved_blocks,
        "filled": series.filled_slots,
        "waste": series.waste_slots,
        "reserved_slots": series.reserved_slots,
    }
    rows = []
    readings = []
    for step in range(len(plan.steps)):
        values = {name: column[step] for name, column in columns.items()}
        per_group = [column[step] for group in groups for column in (group.filled, group.waste)]
        rows.append([step, *values.values(), *per_group])
        readings.append(say("pool.reading", step=step, all=series.num_blocks, **values))
    of_groups = [say(f"pool.{column}_group", name=group.name) for group in groups for column in ("filled", "waste")]
    return Texts(
        title=say("pool.title"),
        description=say.paragraph(
            say("pool.description", max_model_len=config.max_model_len, num_blocks=series.num_blocks),
            say("pool.groups", n=len(groups)) if groups else None,
            say("pool.on_rank", rank=config.context_parallel.rank) if config.context_parallel.size > 1 else None,
        ),
        table=Table([say("step"), *(say(f"pool.{column}") for column in columns), *of_groups], rows),
        readings=readings,
    )


def block_texts(plan: Plan, blocks: BlockMap, say: Words) -> Texts:
    names = ("blocks", "first", "last", "state", "owner", "owned", "owners", "held", "stale", "free")
    size = blocks.blocks_per_part
    if size is None:
        description = say("blocks.single")
    else:
        order = say("blocks.across" if blocks.parts_per_line > 1 else "blocks.down")
        description = say.paragraph(order, say("blocks.size", size=size) if size > 1 else None)
    last_part = blocks.parts[-1]
    is_cut = last_part.last < blocks.last_block
    return Texts(
        title=say("blocks.title"),
        description=say.paragraph(
            description, say("blocks.unheld", first=last_part.last + 1, last=blocks.last_block) if is_cut else None
        ),
        table=Table(
            [say(f"blocks.col.{name}") for name in names], [_block_row(plan, blocks, run, say) for run in blocks.runs]
        ),
        readings=_block_readings(blocks, say),
    )


def describe_run(plan: Plan, blocks: BlockMap, run: Run, say: Words) -> str:
    """One run in a sentence: which blocks, which steps, whose."""
    part, state = blocks.parts[run.part], run.state
    kind = run_kind(blocks, run)
    if kind == "several":
        words = say("blocks.many", n=state.num_owners)
    elif kind == "held" and part.num_blocks > 1:
        words = say("blocks.most", owner=owner_of(plan, run), n=state.num_owned, size=part.num_blocks)
    elif kind == "held" and state.num_owners > 1:
        words = say("blocks.state.shared", owner=owner_of(plan, run), others=state.num_owners - 1)
    elif kind == "stale" and state.last_owner is None:
        words = say("blocks.stale")
    else:
        words = say(f"blocks.state.{kind}", owner=owner_of(plan, run))
    if part.num_blocks > 1 and kind != "free":
        free = part.num_blocks - state.num_held - state.num_stale
        words = say("blocks.counts", state=words, held=state.num_held, stale=state.num_stale, free=free)
    key = "blocks.at" if run.first_step == run.last_step else "blocks.during"
    return say(key, blocks=_name_blocks(part, say), first=run.first_step, last=run.last_step, state=words)


def run_kind(blocks: BlockMap, run: Run) -> str:
    """`null` for the part of the null block alone, else as the state says."""
    return "null" if blocks.parts[run.part].last == NULL_BLOCK else run.state.kind


def owner_of(plan: Plan, run: Run) -> str | None:
    """Who has most of a part, or had it last."""
    place = run.state.owner if run.state.owner is not None else run.state.last_owner
    return None if place is None else plan.scenario.requests[place].req_id


def part_label(part: BlockRange) -> str:
    """Ids of a part: `12` or `13–36`."""
    return str(part.first) if part.num_blocks == 1 else f"{part.first}–{part.last}"


def _name_blocks(part: BlockRange, say: Words) -> str:
    if part.num_blocks == 1:
        return say("blocks.block", block=str(part.first))
    return say("blocks.range", first=str(part.first), last=str(part.last))


def _block_row(plan: Plan, blocks: BlockMap, run: Run, say: Words) -> list[int | float | str | None]:
    part, state = blocks.parts[run.part], run.state
    kind = run_kind(blocks, run)
    is_null = kind == "null"
    return [
        part_label(part),
        run.first_step,
        run.last_step,
        say(f"blocks.{kind}"),
        owner_of(plan, run) if kind in {"held", "stale"} else None,
        state.num_owned if kind == "held" else None,
        state.num_owners,
        state.num_held,
        state.num_stale,
        0 if is_null else part.num_blocks - state.num_held - state.num_stale,
    ]


def _block_readings(blocks: BlockMap, say: Words) -> list[str]:
    """What the whole pool is after each step."""
    held = [0] * blocks.num_steps
    stale = [0] * blocks.num_steps
    for run in blocks.runs:
        for step in range(run.first_step, run.last_step + 1):
            held[step] += run.state.num_held
            stale[step] += run.state.num_stale
    return [
        say(
            "blocks.reading",
            step=step,
            held=held[step],
            stale=stale[step],
            free=blocks.last_block - held[step] - stale[step],
        )
        for step in range(blocks.num_steps)
    ]
