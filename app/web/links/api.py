"""`/api/links`: a scenario in, a short link out, and the other way round.

A link is made only here, only when somebody asks for it. Whatever fits the format is kept, also a scenario that cannot be
run: why it cannot be is worth a link too.
"""

from collections.abc import Callable
from typing import Any

import anyio
import anyio.to_thread
import orjson
from fastapi import APIRouter, Request
from fastapi.responses import Response

from app.errors import Fault, ScenarioError
from app.links.identity import canonical_bytes, link_id, read_link_id, readable
from app.links.store import (
    MAX_STORED_BYTES,
    IdTakenError,
    LinkError,
    LinkStore,
    LinkTooLargeError,
    StoreFullError,
    StoreUnavailableError,
    logger,
)
from app.scenario.format.model import Scenario
from app.scenario.format.parse import parse_json, parse_scenario
from app.web.api.notation import reader_of, scenario_content
from app.web.http.body import read_body
from app.web.http.problems import LanguageQuery, problem_response, request_language
from app.web.links.addresses import Addresses
from app.web.links.rate_limit import RateLimit, client_key

_PROBLEM: dict[str, Any] = {
    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
}
_NOT_FOUND = {"description": "There is no such link (`unknown_link`), or this server keeps none (`links_off`).", **_PROBLEM}
_UNAVAILABLE = {"description": "The links cannot be reached now (`links_unavailable`).", **_PROBLEM}


def links_router(store: LinkStore | None, addresses: Addresses, limit: RateLimit | None = None) -> APIRouter:
    """Routes under `/api/links`. Without a store they answer that short links are off."""
    router = APIRouter(prefix="/api/links", tags=["links"])
    rate_limit = limit or RateLimit()
    limiter = anyio.CapacityLimiter(4)  # more than one write waits anyway

    @router.post(
        "",
        summary="Make a short link",
        response_description="id and url of the link: the same for the same scenario, however it is spelt.",
        responses={
            201: {"description": "The link is new."},
            400: {"description": "The body is not JSON.", **_PROBLEM},
            404: {"description": "This server keeps no links (`links_off`).", **_PROBLEM},
            413: {"description": "The scenario is too large to be kept (`link_too_large_to_store`).", **_PROBLEM},
            422: {"description": "The body is not a scenario.", **_PROBLEM},
            429: {"description": "Too many links were made (`rate_limited`); Retry-After says when to go on.", **_PROBLEM},
            503: _UNAVAILABLE,
            507: {"description": "As many links as may be are kept (`links_full`).", **_PROBLEM},
        },
        openapi_extra={
            "requestBody": {
                "required": True,
                "content": scenario_content(),
            }
        },
    )
    async def make_link(
        request: Request,
        lang: LanguageQuery = "",  # noqa: ARG001  read by request_language
    ) -> Response:
        """Keep a scenario on this server, for whoever has the link."""
        links = _on(store)
        scenario = parse_scenario(reader_of(request)(await read_body(request)))
        client = client_key(request.client.host if request.client else "")
        seconds = rate_limit.take(client)
        if seconds and not await anyio.to_thread.run_sync(_is_kept, links, scenario, limiter=limiter):
            fault = Fault("", "rate_limited", "rate_limited", {"seconds": seconds, "minutes": -(-seconds // 60)})
            return problem_response(429, request_language(request), [fault], headers={"Retry-After": str(seconds)})
        is_new = False
        try:
            name, is_new = await anyio.to_thread.run_sync(links.keep, scenario, limiter=limiter)
        except LinkError as error:
            raise link_refusal(error) from error
        finally:
            if not is_new and not seconds:
                rate_limit.give_back(client)
        body = orjson.dumps({"id": name, "url": addresses.page(request, f"/s/{name}")})
        return Response(body, 201 if is_new else 200, media_type="application/json", headers={"Cache-Control": "no-store"})

    @router.get(
        "/{link_id}",
        summary="The scenario of a short link",
        responses={404: _NOT_FOUND, 503: _UNAVAILABLE},
    )
    async def get_link(
        link_id: str,
        lang: LanguageQuery = "",  # noqa: ARG001  read by request_language
    ) -> Response:
        """The scenario as it was kept, its defaults left out."""
        _, scenario = await anyio.to_thread.run_sync(load_link(store), link_id, limiter=limiter)
        # What an id stands for never changes; only its keeper may take it away.
        return Response(orjson.dumps(scenario), media_type="application/json", headers={"Cache-Control": "max-age=86400"})

    return router


def _is_kept(links: LinkStore, scenario: Scenario) -> bool:
    """Whether there is a link of it already: who asks for that one makes none."""
    canonical = canonical_bytes(scenario)
    try:
        return links.load(link_id(canonical)) == canonical
    except LinkError as error:
        raise link_refusal(error) from error


def load_link(store: LinkStore | None) -> Callable[[str], tuple[str, dict[str, Any]]]:
    """A function that gives the id and the scenario for what was typed as an id. It blocks: call it in a thread.

    It raises ScenarioError: `unknown_link` or `links_off` (404), `links_unavailable` (503).
    """

    def load(text: str) -> tuple[str, dict[str, Any]]:
        links = _on(store)
        name = read_link_id(text)
        try:
            canonical = None if name is None else links.load(name)
        except LinkError as error:
            raise link_refusal(error) from error
        if name is None or canonical is None:
            message = "unknown_link" if text.strip("/ ") else "unknown_link.cut"
            raise ScenarioError([Fault("", "unknown_link", message, {"id": text[:40]})], status=404)
        return name, readable(parse_scenario(parse_json(canonical)))

    return load


def link_refusal(error: LinkError) -> ScenarioError:
    """What the store cannot do, as a problem."""
    if isinstance(error, LinkTooLargeError):
        params = {"bytes": error.num_bytes, "limit": MAX_STORED_BYTES}
        return ScenarioError([Fault("", "link_too_large_to_store", "link_too_large_to_store", params)], status=413)
    if isinstance(error, StoreFullError):
        return ScenarioError([Fault("", "links_full", "links_full", {"limit": error.limit})], status=507)
    if isinstance(error, IdTakenError):
        return ScenarioError([Fault("", "link_id_taken", "link_id_taken")], status=409)
    assert isinstance(error, StoreUnavailableError), error
    logger.error("short links cannot be reached: %s", error)
    return ScenarioError([Fault("", "links_unavailable", "links_unavailable")], status=503)


def _on(store: LinkStore | None) -> LinkStore:
    if store is None:
        raise ScenarioError([Fault("", "links_off", "links_off")], status=404)
    return store
