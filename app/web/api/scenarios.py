"""The JSON API: a scenario in, a trace out; the gallery; the schema of the spaces.

Bodies are read by hand, not by FastAPI, so that size, duplicate keys and every fault with its place are ours to say.
"""

import re
from collections.abc import Callable
from typing import Annotated, Any

import anyio
import anyio.to_thread
import orjson
import torch
from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from app.errors import Fault, ScenarioError
from app.examples import examples
from app.i18n import Language, translator
from app.scenario import load_plan
from app.scenario.format.model import Scenario
from app.trace.schema import describe
from app.trace.trace import encode_trace
from app.web.api.notation import Read, reader_of, scenario_content
from app.web.charts.figures import build_charts
from app.web.charts.script import describe_script
from app.web.http.body import read_body
from app.web.http.problems import LanguageQuery, request_language

_PROBLEM: dict[str, Any] = {
    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
}
_ERRORS: dict[int | str, dict[str, Any]] = {
    400: {"description": "The body is not JSON, or not YAML where it says that it is.", **_PROBLEM},
    413: {"description": "The body, or the trace asked for, is too large.", **_PROBLEM},
    422: {
        "description": "The scenario cannot be run. Every fault has its place, its numbers and what would be right.",
        **_PROBLEM,
    },
}

PROBLEM_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "RFC 9457 problem details",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "where": {"type": "string", "description": "JSON Pointer into what was sent"},
                    "code": {"type": "string"},
                    "message": {"type": "string"},
                    "params": {"type": "object"},
                    "fix": {
                        "type": ["array", "null"],
                        "description": "JSON Patch of what was sent",
                        "items": {"type": "object"},
                    },
                },
            },
        },
    },
}


def api_router(device: torch.device, limiter: anyio.CapacityLimiter) -> APIRouter:
    """Routes under `/api`, computing on `device`."""
    router = APIRouter(prefix="/api", tags=["api"])

    async def compute(work: Callable[[], bytes]) -> Response:
        body = await anyio.to_thread.run_sync(work, limiter=limiter)
        return Response(body, media_type="application/json", headers={"Cache-Control": "no-store"})

    @router.post(
        "/trace",
        summary="Run a scenario and return every index space",
        response_description="The trace: version, scenario (normalised), engine, constants, summary, steps, stopped.",
        responses=_ERRORS,
        openapi_extra={
            "requestBody": {
                "required": True,
                "content": scenario_content(),
            }
        },
    )
    async def trace(
        request: Request,
        first: Annotated[str, Query(description="First step of the window, from 0.")] = "0",
        last: Annotated[
            str, Query(description="Last step, inclusive; clipped to the end; -1: the summary alone; default: all.")
        ] = "",
        lang: LanguageQuery = "",  # noqa: ARG001  read by request_language
    ) -> Response:
        """Run the mapping pipeline on a schedule, written as JSON or as YAML.

        How the spaces of a step relate to each other is described by `GET /api/spaces`.
        """
        window = (_integer("first", first, 0) if first else 0, _integer("last", last, -1) if last else None)
        body, read = await read_body(request), reader_of(request)
        language = request_language(request)
        return await compute(lambda: _trace(read, body, device, language, *window))

    @router.post(
        "/charts",
        summary="Draw a scenario's steps as charts",
        response_description="charts: plotly figures with tables of the same numbers; script: what draws them on the page.",
        responses=_ERRORS,
        openapi_extra={
            "requestBody": {
                "required": True,
                "content": scenario_content(),
            }
        },
    )
    async def charts(
        request: Request,
        lang: LanguageQuery = "",  # noqa: ARG001  read by request_language
    ) -> Response:
        """Tokens per step, use of the block pool and who holds which block, over all steps.

        Each chart has `name`, `title`, `description`, a plotly `figure`, a `table` (`columns`, `rows`) of the figure's
        numbers, and `readings`: a sentence for each step. What a trace of a figure stands for is in its `meta`.
        """
        body, read = await read_body(request), reader_of(request)
        language = request_language(request)
        return await compute(lambda: _charts(read, body, language))

    @router.get("/examples", summary="The gallery")
    async def list_examples(
        request: Request,
        lang: LanguageQuery = "",  # noqa: ARG001  read by request_language
    ) -> Response:
        """What every example is called and says: `name`, `title`, `description`, `group`, the `question` to ask oneself
        before looking and its `answer`, the `place` to open it at (`stage` and `pin`, as in the address of the page), its
        `size` (`requests`, `steps`, `groups`), and a `sketch`: tokens by request and step, of the first 8 requests and 16
        steps.
        """
        language = request_language(request)
        return _in_language([example.describe(language) for example in examples().values()])

    @router.get(
        "/examples/{name}",
        summary="One example, as a scenario",
        responses={404: {"description": "No such example.", **_PROBLEM}},
    )
    async def get_example(
        request: Request,
        name: str,
        lang: LanguageQuery = "",  # noqa: ARG001  read by request_language
    ) -> Response:
        example = examples().get(name)
        if example is None:
            raise ScenarioError([Fault("", "not_found", "not_found.example", {"name": name[:128]})], status=404)
        return _in_language(example.scenario_in(request_language(request)))

    @router.get("/spaces", summary="Every index space and how a cell follows from others")
    async def spaces() -> Response:
        """The schema of a trace's steps.

        `stages` are the parts of the pipeline in its order: `tier` says which stand side by side, `elements` by which cells
        and along which index one is stepped through, `asks` which space it finds out. `axes` says of each dim along which
        `axis` it is drawn, whether its entries are columns (`across`), which space is the `tag` in front of each entry, and
        the `letter` of its index in formulas on paper.

        `spaces` describes each tensor: dims, dtype, stage, `kind` (count, id, index, flag or text), the lines of the
        pipeline that compute it (in `sources`), the symbol of vLLM that it mirrors, and its `cases`. The first case whose
        `when` is true explains a cell: `formula` gives its value from others, `state` says what it is besides plain data,
        and a `source` of its own names the lines where others than the space's ran.

        Expressions are JSON: a number, null, a name (a dim of the cell, `value` for the cell itself, a scalar of the
        step or of `constants`), or a list that starts with an operator: `["@", space, index...]` a cell of the step or
        an array of `constants`; `+ - * // % == != < <= > >= and or not min max`; `["if", test, a, b]`; `["str", text]`;
        `["find", space, value]` the index at which a space holds a value; `["bisect", space, value]` the last index at
        which it is at most that value; `["len", space, index...]`; `["prev", expr]` in the step before; `["control",
        expr]` the same value, marking ordering and control. Arithmetic with null gives null. `all_token_ids` stands for
        vLLM's tensor of that name and is not part of a trace. `coordinates` say which further coordinates a cell's own
        imply; `walk` their order.
        """
        return Response(orjson.dumps(describe()), media_type="application/json")

    return router


def scenario_components() -> dict[str, Any]:
    """JSON schemas of the scenario format and of problems, for OpenAPI."""
    schema = Scenario.model_json_schema(ref_template="#/components/schemas/{model}")
    return {**schema.pop("$defs"), "Scenario": schema, "Problem": PROBLEM_SCHEMA}


def _trace(read: Read, body: bytes, device: torch.device, language: Language, first: int, last: int | None) -> bytes:
    plan = load_plan(read(body))
    return encode_trace(plan, device, translator(language), first, last)


def _charts(read: Read, body: bytes, language: Language) -> bytes:
    charts = build_charts(load_plan(read(body)), translator(language))
    return orjson.dumps({"charts": [chart.as_json() for chart in charts], "script": describe_script()})


def _in_language(body: object) -> Response:
    """JSON whose words depend on who asks."""
    return Response(orjson.dumps(body), media_type="application/json", headers={"Vary": "Accept-Language"})


def _integer(name: str, text: str, limit: int) -> int:
    value = int(text[:12]) if re.fullmatch(r"-?[0-9]+", text) else limit - 1  # so many digits are past every end
    if value < limit:
        params = {"name": name, "given": text[:40], "limit": limit}
        raise ScenarioError([Fault("", "schema", "query.integer", params)])
    return value
