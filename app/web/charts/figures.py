"""Charts over time: what the steps of a plan do, as plotly figures with tables of the same numbers.

A figure carries numbers, words and geometry. What a trace stands for is in its `meta`: its `role`, and `req_id` where it is
one request's. Colours are the page's, which has them for light and dark. Words of a scenario are escaped, since plotly reads
its texts as HTML.
"""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from app.i18n import Translate
from app.scenario.plan.plan import Plan
from app.trace.counts.block_owners import BlockMap, Run, block_map, power_of_two
from app.trace.counts.series import PoolSeries, TokenSeries, pool_series, token_series
from app.web.charts import texts as chart_texts
from app.web.charts.texts import Texts, Words

# Values in the map of owners; from 0 on it is a request's place in the scenario.
CODES = {"free": -1, "stale": -2, "null": -3, "several": -4}
FIGURE_HEIGHT = 290
ROW_HEIGHT = 24
GAP_HEIGHT = 0.6  # of a row
BAR_WIDTH = 0.9
MOST_LINE_TICKS = 16
MAP_HEIGHT = 460
MOST_STEP_TICKS = 10  # steps that each get a tick however narrow the figure is


@dataclass(frozen=True)
class Chart:
    """One figure and what stands around it."""

    name: str
    texts: Texts
    figure: go.Figure

    def as_json(self) -> dict[str, Any]:
        """For orjson."""
        return {
            "name": self.name,
            "title": self.texts.title,
            "description": self.texts.description,
            "figure": self.figure.to_plotly_json(),
            "table": {"columns": self.texts.table.columns, "rows": self.texts.table.rows},
            "readings": self.texts.readings,
        }


def build_charts(plan: Plan, translate: Translate) -> list[Chart]:
    """All charts of a plan.

    Raises:
        ScenarioError: `response_too_large` (413) where too many blocks are handed out to follow them.
    """
    say = Words(translate)
    blocks = block_map(plan)
    tokens = token_series(plan)
    pool = pool_series(plan)
    return [
        Chart("tokens", chart_texts.token_texts(plan, tokens, say), _token_figure(plan, tokens, say)),
        Chart("pool", chart_texts.pool_texts(plan, pool, say), _pool_figure(plan, pool, say)),
        Chart("blocks", chart_texts.block_texts(plan, blocks, say), _blocks_figure(plan, blocks, say)),
    ]


def _token_figure(plan: Plan, series: TokenSeries, say: Words) -> go.Figure:
    steps = list(range(len(plan.steps)))
    bars = [
        go.Bar(name=say(f"tokens.{kind}"), x=steps, y=counts, meta={"role": kind}, hovertemplate="%{y:,}")
        for kind, counts in chart_texts.token_kinds(series).items()
    ]
    layout = _layout(plan, say, height=FIGURE_HEIGHT) | {"annotations": [_unit(say("tokens.unit"), 1)]}
    return go.Figure(bars, layout)


def _pool_figure(plan: Plan, series: PoolSeries, say: Words) -> go.Figure:
    steps = list(range(len(plan.steps)))
    base = [0] * len(steps)  # bars with a base of their own are not stacked: what is used, inside what would be reserved
    share = [f"{percent}%" for percent in chart_texts.pool_shares(series)]

    def bars(role: str, values: Sequence[int], axis: str, **more: Any) -> go.Bar:
        return go.Bar(name=say(f"pool.{role}"), x=steps, y=values, yaxis=axis, meta={"role": role}, **more)

    layout = _layout(plan, say, height=FIGURE_HEIGHT) | {
        "hoversubplots": "axis",
        "yaxis": _value_axis(domain=[0.58, 1]),
        "yaxis2": _value_axis(domain=[0, 0.4], anchor="x"),
        "annotations": [_unit(say("pool.blocks_unit"), 1), _unit(say("pool.slots_unit"), 0.4)],
    }
    layout["xaxis"] |= {"anchor": "y2"}
    of_pool = say("pool.hover", n=series.num_blocks, share="%{customdata}")
    return go.Figure(
        [
            bars("reserved", series.reserved_blocks, "y", base=base, hovertemplate="%{y:,}"),
            bars("used", series.used_blocks, "y", base=base, customdata=share, hovertemplate=of_pool),
            bars("filled", series.filled_slots, "y2", hovertemplate="%{y:,}"),
            bars("waste", series.waste_slots, "y2", hovertemplate="%{y:,}"),
        ],
        layout,
    )


def _blocks_figure(plan: Plan, blocks: BlockMap, say: Words) -> go.Figure:
    parts = blocks.parts
    is_map = blocks.blocks_per_part is not None
    if is_map:
        per_line = blocks.parts_per_line
        num_lines = -(-len(parts) // per_line)
        lines = range(0, num_lines, power_of_two(-(-num_lines // MOST_LINE_TICKS)))
        places, labels = [line + 0.5 for line in lines], [str(parts[line * per_line].first) for line in lines]
        end, height = float(num_lines), MAP_HEIGHT
    else:
        places, end = _bar_places(blocks)
        labels = [chart_texts.part_label(part) for part in parts]
        height = 64 + round(ROW_HEIGHT * end)
    layout = _layout(plan, say, height) | {
        "hovermode": "closest",
        "yaxis": {
            "range": [end, 0],
            "tickvals": places,
            "ticktext": labels,
            "fixedrange": True,
            "showgrid": False,
            "zeroline": False,
        },
        "annotations": [_unit(say("blocks.unit"), 1)],
    }
    traces = [_owner_map(plan, blocks, say)] if is_map else _owner_bars(plan, blocks, say)
    return go.Figure(traces if plan.steps else [], layout)


def _owner_bars(plan: Plan, blocks: BlockMap, say: Words) -> list[go.Bar]:
    """A bar for each run of steps in which a block is held, stale or null; what is free stays blank."""
    places, _ = _bar_places(blocks)
    by_trace: dict[tuple[str, str | None], list[Run]] = {}
    for run in blocks.runs:
        kind = chart_texts.run_kind(blocks, run)
        owner = chart_texts.owner_of(plan, run) if kind == "held" else None
        if kind != "free":
            by_trace.setdefault((kind, owner), []).append(run)
    numbers = {request.req_id: index for index, request in enumerate(plan.scenario.requests)}
    # Requests in the scenario's order, then the rest.
    order = sorted(by_trace.items(), key=lambda item: numbers.get(item[0][1] or "", len(numbers)))
    return [
        go.Bar(
            name=_escape(owner) if owner is not None else say(f"blocks.{kind}"),
            orientation="h",
            y=[places[run.part] for run in runs],
            width=BAR_WIDTH,
            base=[run.first_step - 0.5 for run in runs],
            x=[run.last_step - run.first_step + 1 for run in runs],
            text=[f"+{run.state.num_owners - 1}" if run.state.num_owners > 1 else "" for run in runs],
            customdata=[_escape(chart_texts.describe_run(plan, blocks, run, say)) for run in runs],
            hovertemplate="%{customdata}<extra></extra>",
            meta=_bar_meta(plan, kind, owner, runs),
        )
        for (kind, owner), runs in order
    ]


def _bar_places(blocks: BlockMap) -> tuple[list[float], float]:
    """Where parts lie along the vertical axis, and where it ends: ids that nobody ever holds take less room."""
    places, end = [], 0.0
    for part in blocks.parts:
        height = GAP_HEIGHT if part.num_blocks > 1 else 1.0
        places.append(round(end + height / 2, 2))
        end = round(end + height, 2)
    return places, end


def _bar_meta(plan: Plan, kind: str, owner: str | None, runs: Sequence[Run]) -> dict[str, Any]:
    if kind == "stale":
        return {"role": "stale", "last_owners": [chart_texts.owner_of(plan, run) for run in runs]}
    return {"role": "owner", "req_id": owner} if kind == "held" else {"role": kind}


def _owner_map(plan: Plan, blocks: BlockMap, say: Words) -> go.Heatmap:
    """Within the column of each step, the parts of the pool side by side, line after line."""
    per_line = blocks.parts_per_line
    num_lines = -(-len(blocks.parts) // per_line)
    per_step = per_line + 1 if per_line > 1 else 1  # a blank cell keeps the steps apart
    codes: list[list[int | None]] = [[None] * (per_step * blocks.num_steps) for _ in range(num_lines)]
    texts: list[list[str]] = [[""] * (per_step * blocks.num_steps) for _ in range(num_lines)]
    owners: dict[int, str] = {}
    kinds: set[str] = set()
    for run in blocks.runs:
        kind, place = chart_texts.run_kind(blocks, run), run.state.owner
        if kind == "held" and place is not None:
            owners[place] = plan.scenario.requests[place].req_id
            code = place
        else:
            kinds.add(kind)
            code = CODES[kind]
        text = _escape(chart_texts.describe_run(plan, blocks, run, say))
        line, column = divmod(run.part, per_line)
        for step in range(run.first_step, run.last_step + 1):
            codes[line][step * per_step + column] = code
            texts[line][step * per_step + column] = text
    return go.Heatmap(
        z=codes,
        x0=-0.5 + 0.5 / per_step,
        dx=1 / per_step,
        y0=0.5,
        dy=1,
        ygap=1,
        text=texts,
        hovertemplate="%{text}<extra></extra>",
        hoverongaps=False,
        showscale=False,
        zsmooth=False,
        meta={
            "role": "owners",
            "per_line": per_line,
            "owners": sorted(owners.items()),
            "kinds": [[code, kind, say(f"blocks.{kind}")] for kind, code in CODES.items() if kind in kinds],
        },
    )


def _layout(plan: Plan, say: Words, height: int) -> dict[str, Any]:
    """Steps along x, and nothing that moves: figures are read, not zoomed."""
    num_steps = len(plan.steps)
    return {
        "template": {},
        "height": height,
        "margin": {"l": 56, "r": 8, "t": 24, "b": 40},
        "barmode": "stack",
        "bargap": 0.2,
        "showlegend": True,
        "hovermode": "x unified",
        "hoverdistance": -1,
        "dragmode": False,
        "xaxis": {
            "title": {"text": say("step")},
            "range": [-0.5, max(num_steps, 1) - 0.5],
            "tickformat": "d",
            "fixedrange": True,
            "showgrid": False,
            "zeroline": False,
            "showspikes": False,
            "unifiedhovertitle": {"text": say("at_step", step="%{x}")},
            **({"dtick": 1} if num_steps <= MOST_STEP_TICKS else {}),
        },
        "yaxis": _value_axis(),
    }


def _value_axis(**more: Any) -> dict[str, Any]:
    return {"rangemode": "tozero", "tickformat": ",d", "nticks": 5, "fixedrange": True, "zeroline": False, **more}


def _unit(text: str, top: float) -> dict[str, Any]:
    """The name of a vertical axis, lying above it."""
    place = {"xref": "paper", "yref": "paper", "x": 0, "y": top, "xanchor": "left", "yanchor": "bottom", "yshift": 3}
    return {"text": text, "showarrow": False, **place}


def _escape(text: str) -> str:
    return html.escape(text, quote=False)
