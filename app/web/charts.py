"""Charts over time: what the steps of a plan do, as plotly figures with tables of the same numbers.

A figure carries numbers, words and geometry. What a trace stands for is in its `meta`: its `role`, and `req_id` where it is
one request's. Colours are the page's, which has them for light and dark. Words of a scenario are escaped, since plotly reads
its texts as HTML.
"""

import functools
import gzip
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from typing import Any

import plotly.graph_objects as go
from fastapi import APIRouter, Request
from fastapi.responses import Response

from app.i18n import Translate
from app.scenario.plan import Plan
from app.trace.block_owners import BlockMap, Run, block_map
from app.trace.series import PoolSeries, TokenSeries, pool_series, token_series
from app.web import chart_texts
from app.web.chart_texts import Texts, Words

# Values in the map of owners; from 0 on it is a request's place in the scenario.
CODES = {"free": -1, "stale": -2, "null": -3, "several": -4}
ROW_HEIGHT = 20
MAP_HEIGHT = 460
MOST_STEP_TICKS = 10  # steps that each get a tick however narrow the figure is
SCRIPT_VERSION = version("plotly")


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


def describe_script() -> dict[str, Any]:
    """Where the script that draws the figures is, and ids of the style elements it would add to the page as it loads.

    The page's policy refuses inline styles. The script leaves one out where an element of its id is there already, its own
    rules where that element has the class `no-inline-styles`; the page brings the few of them that count. The other is of
    its map renderer, which no chart here uses.
    """
    return {"path": f"vendor/plotly.min.js?v={SCRIPT_VERSION}", "style_ids": list(_style_ids())}


def script_router() -> APIRouter:
    """plotly.js as the Python package brings it: cached for good under the version's name, compressed where it may be."""
    router = APIRouter(include_in_schema=False)

    @router.get("/vendor/plotly.min.js")
    def plotly_script(request: Request, v: str = "") -> Response:
        is_zipped = "gzip" in request.headers.get("accept-encoding", "")
        headers = {
            "Cache-Control": "public, max-age=31536000, immutable" if v == SCRIPT_VERSION else "no-cache",
            "Vary": "Accept-Encoding",
            "X-Content-Type-Options": "nosniff",
            **({"Content-Encoding": "gzip"} if is_zipped else {}),
        }
        return Response(_zipped_script() if is_zipped else _script(), media_type="text/javascript", headers=headers)

    return router


def _script() -> bytes:
    return files("plotly").joinpath("package_data", "plotly.min.js").read_bytes()


@functools.cache
def _zipped_script() -> bytes:
    return gzip.compress(_script(), compresslevel=6, mtime=0)


@functools.cache
def _style_ids() -> tuple[str, ...]:
    found = re.findall(rb'getElementById\("([0-9a-f]{64})"\)', _script())
    return ("plotly.js-style-global", *sorted({name.decode() for name in found}))


def _token_figure(plan: Plan, series: TokenSeries, say: Words) -> go.Figure:
    steps = list(range(len(plan.steps)))
    bars = [
        go.Bar(name=say(f"tokens.{kind}"), x=steps, y=counts, meta={"role": kind}, hovertemplate="%{y:,}")
        for kind, counts in chart_texts.token_kinds(series).items()
    ]
    layout = _layout(plan, say, height=260) | {"annotations": [_unit(say("tokens.unit"), 1)]}
    return go.Figure(bars, layout)


def _pool_figure(plan: Plan, series: PoolSeries, say: Words) -> go.Figure:
    steps = list(range(len(plan.steps)))
    base = [0] * len(steps)  # bars with a base of their own are not stacked: what is used, inside what would be reserved
    share = [f"{percent}%" for percent in chart_texts.pool_shares(series)]

    def bars(role: str, values: Sequence[int], axis: str, **more: Any) -> go.Bar:
        return go.Bar(name=say(f"pool.{role}"), x=steps, y=values, yaxis=axis, meta={"role": role}, **more)

    layout = _layout(plan, say, height=260) | {
        "hoversubplots": "axis",
        "yaxis": _value_axis(domain=[0.62, 1]),
        "yaxis2": _value_axis(domain=[0, 0.38], anchor="x"),
        "annotations": [_unit(say("pool.blocks_unit"), 1), _unit(say("pool.slots_unit"), 0.38)],
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
    is_map = blocks.blocks_per_row is not None
    num_rows = len(blocks.rows)
    layout = _layout(plan, say, height=MAP_HEIGHT if is_map else 64 + ROW_HEIGHT * num_rows)
    every = -(-num_rows // 12) if is_map else 1
    labelled = range(0, num_rows, every)
    layout |= {
        "hovermode": "closest",
        "bargap": 0.16,
        "yaxis": {
            "range": [num_rows - 0.5, -0.5],
            "tickvals": list(labelled),
            "ticktext": [
                str(blocks.rows[row].first) if is_map else chart_texts.row_label(blocks.rows[row]) for row in labelled
            ],
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
    by_trace: dict[tuple[str, str | None], list[Run]] = {}
    for run in blocks.runs:
        kind = chart_texts.run_kind(blocks, run)
        owner = chart_texts.owner_of(plan, run) if kind == "held" else None
        if kind != "free":
            by_trace.setdefault((kind, owner), []).append(run)
    places = {request.req_id: index for index, request in enumerate(plan.scenario.requests)}
    # Requests in the scenario's order, then the rest.
    order = sorted(by_trace.items(), key=lambda item: places.get(item[0][1] or "", len(places)))
    return [
        go.Bar(
            name=_escape(owner) if owner is not None else say(f"blocks.{kind}"),
            orientation="h",
            y=[run.row for run in runs],
            base=[run.first_step - 0.5 for run in runs],
            x=[run.last_step - run.first_step + 1 for run in runs],
            text=[f"+{run.state.num_owners - 1}" if run.state.num_owners > 1 else "" for run in runs],
            customdata=[_escape(chart_texts.describe_run(plan, blocks, run, say)) for run in runs],
            hovertemplate="%{customdata}<extra></extra>",
            meta=_bar_meta(plan, kind, owner, runs),
        )
        for (kind, owner), runs in order
    ]


def _bar_meta(plan: Plan, kind: str, owner: str | None, runs: Sequence[Run]) -> dict[str, Any]:
    if kind == "stale":
        return {"role": "stale", "last_owners": [chart_texts.owner_of(plan, run) for run in runs]}
    return {"role": "owner", "req_id": owner} if kind == "held" else {"role": kind}


def _owner_map(plan: Plan, blocks: BlockMap, say: Words) -> go.Heatmap:
    """A cell for each row and step."""
    codes: list[list[int]] = [[] for _ in blocks.rows]
    texts: list[list[str]] = [[] for _ in blocks.rows]
    owners: dict[int, str] = {}
    for run in blocks.runs:
        kind, place = chart_texts.run_kind(blocks, run), run.state.owner
        num_steps = run.last_step - run.first_step + 1
        if kind == "held" and place is not None:
            owners[place] = plan.scenario.requests[place].req_id
            codes[run.row] += [place] * num_steps
        else:
            codes[run.row] += [CODES[kind]] * num_steps
        texts[run.row] += [_escape(chart_texts.describe_run(plan, blocks, run, say))] * num_steps
    return go.Heatmap(
        z=codes,
        text=texts,
        hovertemplate="%{text}<extra></extra>",
        showscale=False,
        zsmooth=False,
        meta={"role": "owners", "codes": CODES, "owners": [[place, owners[place]] for place in sorted(owners)]},
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
