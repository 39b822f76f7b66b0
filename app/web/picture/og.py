"""`/og.png`: the picture of a scenario at a step, for whoever unfurls a link to it.

In: the query of a page. Out: a PNG, computed at most once while it is in memory. Text reaches it as glyphs alone, so a title
can do no more than be read.
"""

import hashlib
import re
import threading
from collections import OrderedDict
from collections.abc import Hashable

import anyio
import anyio.to_thread
import torch
from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.datastructures import QueryParams

from app.errors import Fault, ScenarioError
from app.web.http.problems import LanguageQuery, problem_response, request_language
from app.web.links.asked import Asked, OpenLink, asked_scenario
from app.web.picture.content import make_card
from app.web.picture.drawing import drawable_language, fonts, render

MAX_PICTURES = 128  # kept in memory, some 60 KiB each
MAX_AT_ONCE = 16  # two of them drawn, at about a second each: programs that unfurl wait no longer


def og_router(device: torch.device, open_link: OpenLink) -> APIRouter:
    """The route of pictures, computing on `device`."""
    router = APIRouter(include_in_schema=False)
    limiter = anyio.CapacityLimiter(2)  # a page is never kept waiting by pictures
    kept = _Kept()
    lettering = fonts()

    def answer(request: Request) -> tuple[bytes, Asked]:
        query, language = request.query_params, drawable_language(request_language(request), lettering)
        step = asked_step(query)
        asked = asked_scenario(query, language, open_link)
        if asked.scenario is None:
            raise ScenarioError(asked.faults, status=asked.status)
        key = (asked.kind, hashlib.sha256(asked.name.encode(errors="replace")).digest(), step, language)
        png = kept.get(key)
        if png is None:
            png = render(make_card(asked.scenario, step, device, language), language, lettering)
            kept.put(key, png)
        return png, asked

    @router.get("/og.png")
    async def picture(
        request: Request,
        lang: LanguageQuery = "",  # noqa: ARG001  read by request_language
    ) -> Response:
        now = limiter.statistics()
        if now.borrowed_tokens + now.tasks_waiting >= MAX_AT_ONCE:
            fault = Fault("", "pictures_busy", "pictures_busy")
            return problem_response(503, request_language(request), [fault], headers={"Retry-After": "10"})
        png, asked = await anyio.to_thread.run_sync(answer, request, limiter=limiter)
        etag = f'"{hashlib.sha256(png).hexdigest()[:24]}"'
        headers = {"ETag": etag, "Cache-Control": "public, max-age=3600", "X-Content-Type-Options": "nosniff"}
        if "lang" not in request.query_params:
            headers["Vary"] = "Accept-Language"
        if asked.is_somebodys:
            headers["X-Robots-Tag"] = "noindex"
        if etag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(png, media_type="image/png", headers=headers)

    return router


def asked_step(query: QueryParams) -> int | None:
    """The step that a query asks for, None where it asks for none that could be."""
    text = query.get("step", "")
    return int(text) if re.fullmatch(r"-?[0-9]{1,9}", text) else None


class _Kept:
    """The latest pictures. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pictures: OrderedDict[Hashable, bytes] = OrderedDict()

    def get(self, key: Hashable) -> bytes | None:
        with self._lock:
            if key in self._pictures:
                self._pictures.move_to_end(key)
            return self._pictures.get(key)

    def put(self, key: Hashable, png: bytes) -> None:
        with self._lock:
            self._pictures[key] = png
            while len(self._pictures) > MAX_PICTURES:
                self._pictures.popitem(last=False)
