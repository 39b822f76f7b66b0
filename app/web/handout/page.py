"""`/handout`: any scenario on paper, rendered by the server, without a script.

In: the query of an address (which scenario: `asked`; what of it: `handout_query`). Out: HTML with every stage of the steps
as tables, filled in (the answer key), with chosen tensors blank (the worksheet), or one after the other. What cannot be run
is a page too, with the faults in words and a way on.
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlencode

import anyio
import anyio.to_thread
import torch
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.datastructures import QueryParams

from app.errors import ScenarioError
from app.i18n import Language, tag_of, translate
from app.trace.schema import STAGES
from app.trace.trace import ENGINE
from app.web.handout.fit import name_lines
from app.web.handout.lines import NOT_SHOWN
from app.web.handout.make import MAX_STEPS, Handout, make_handout
from app.web.handout.query import (
    Choice,
    handout_address,
    kept_language,
    page_address,
    page_query,
    read_choice,
    scenario_pairs,
    steps_text,
)
from app.web.http.problems import describe_fault, request_language
from app.web.links.addresses import Addresses, root_path
from app.web.links.asked import Asked, OpenLink, asked_scenario
from app.web.pages.page import LANGUAGE_NAMES, TEMPLATES

MAX_FAULTS = 20
LONGEST_ADDRESS = 260  # characters of a link that paper can carry
LONGEST_CODE = 120  # of one whose QR code a phone reads at 16 mm

STYLESHEETS = ("css/tokens.css", "css/request.css", "handout.css")
CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "style-src 'self'",
        "img-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'self'",
    )
)


@dataclass(frozen=True)
class Problem:
    """Why there is nothing to print."""

    title: str
    sentences: Sequence[str]
    num_more: int


@dataclass(frozen=True)
class HandoutPage:
    """Context of `handout.html`: a handout, or a problem."""

    lang: Language
    root: str  # path that the server is reached under
    kept: str  # query that keeps the language, where the address says it
    languages: Mapping[str, tuple[str, str]]  # code -> name, address
    stylesheets: Sequence[str]
    choice: Choice
    hidden: Sequence[tuple[str, str]]  # fields of the form that keep the scenario and the language
    spaces: Sequence[tuple[str, Sequence[str]]]  # stage -> names, for what can be left blank
    mirrors: str  # version of vLLM
    steps: str  # as the form shows them
    steps_hint: str
    board: str  # address of the same on the workbench
    link: str  # absolute, for paper
    is_long: bool  # too long a link to be printed
    qr: str  # address of the link as a picture, "" where it would be too dense
    handout: Handout | None = None
    problem: Problem | None = None
    nav: Sequence[tuple[str, str]] = field(default_factory=tuple)  # words, address of the steps before and behind


def handout_router(
    device: torch.device, limiter: anyio.CapacityLimiter, addresses: Addresses, open_link: OpenLink
) -> APIRouter:
    """The route of handouts. `open_link` gives the scenario of a short link."""
    router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["lines"] = lambda name: Markup("<wbr>").join(name_lines(name))
    environment.filters["breakable"] = lambda name: Markup("_<wbr>").join(name.split("_"))
    template = environment.get_template("handout.html")

    def render(page: HandoutPage) -> str:
        return template.render(
            page=page,
            t=lambda key, **params: translate(page.lang, key, params),
            static=lambda path: f"{page.root}/static/{path}",
        )

    def answer(request: Request) -> tuple[int, str, bool]:
        language, query = request_language(request), request.query_params
        asked = asked_scenario(query, language, open_link)
        choice = read_choice(query)
        try:
            found: Handout | Problem = _found(asked, choice, device, language)
            status = 200
        except ScenarioError as error:
            status, found = error.status, _problem(error, language)
        page = _page(language, query, asked, choice, root_path(request), addresses.base(request), found)
        return status, render(page), asked.is_somebodys or status != 200

    @router.get("/handout")
    async def handout(request: Request) -> HTMLResponse:
        status, html, is_private = await anyio.to_thread.run_sync(answer, request, limiter=limiter)
        headers = {
            "Content-Security-Policy": CONTENT_SECURITY_POLICY,
            "Content-Language": tag_of(request_language(request)),
            "Cache-Control": "no-cache",
            "Vary": "Accept-Language",
            "Referrer-Policy": "same-origin",
            "X-Content-Type-Options": "nosniff",
        }
        if is_private:
            headers["X-Robots-Tag"] = "noindex"
        return HTMLResponse(html, status_code=status, headers=headers)

    return router


def _found(asked: Asked, choice: Choice, device: torch.device, language: Language) -> Handout:
    if asked.scenario is None:
        raise ScenarioError(asked.faults, asked.status)
    return make_handout(asked.scenario, choice, device, language)


def _problem(error: ScenarioError, language: Language) -> Problem:
    faults = error.faults[:MAX_FAULTS]
    return Problem(
        title=translate(language, f"problem.{error.status}.title", {}),
        sentences=[describe_fault(fault, language)["message"] for fault in faults],
        num_more=error.num_faults - len(faults),
    )


def _page(
    language: Language,
    query: QueryParams,
    asked: Asked,
    choice: Choice,
    root: str,
    base: str,
    found: Handout | Problem,
) -> HandoutPage:
    handout = found if isinstance(found, Handout) else None
    is_shown = handout is not None and handout.last >= 0
    step = handout.first if handout is not None and is_shown else None
    board = page_address(asked, query, step)
    link = base + board
    others = {code: name for code, name in LANGUAGE_NAMES.items() if code != language}
    languages = {code: (name, root + handout_address(asked, query, choice, lang=code)) for code, name in others.items()}
    return HandoutPage(
        lang=language,
        root=root,
        kept=f"?{urlencode(kept_language(query))}" if kept_language(query) else "",
        languages=languages,
        stylesheets=STYLESHEETS,
        choice=choice,
        hidden=scenario_pairs(asked) + kept_language(query),
        spaces=_what_can_be_blank(),
        mirrors=ENGINE.partition(" ")[2],
        steps=steps_text(handout.first, handout.last) if handout is not None and is_shown else "",
        steps_hint="" if handout is None else _steps_hint(handout.num_steps, language),
        board=root + board,
        link=link,
        is_long=len(link) > LONGEST_ADDRESS,
        qr=f"{root}/api/qr.svg?{urlencode(page_query(asked, query, step), safe='~')}" if len(link) <= LONGEST_CODE else "",
        handout=handout,
        problem=found if isinstance(found, Problem) else None,
        nav=_neighbours(language, query, asked, choice, root, handout) if handout else (),
    )


@functools.cache
def _what_can_be_blank() -> Sequence[tuple[str, Sequence[str]]]:
    return [(stage.name, [space.name for space in stage.spaces if space.name not in NOT_SHOWN]) for stage in STAGES]


def _neighbours(
    language: Language, query: QueryParams, asked: Asked, choice: Choice, root: str, handout: Handout
) -> Sequence[tuple[str, str]]:
    """Links to as many steps before and behind as are shown."""
    size = handout.last - handout.first + 1
    found = []
    for first in (handout.first - size, handout.last + 1):
        start, end = max(first, 0), min(first + size, handout.num_steps) - 1
        if size > 0 and start <= end:
            key = "handout.step" if start == end else "handout.steps"
            words = translate(language, key, {"step": str(start), "first": str(start), "last": str(end)})
            found.append((words, root + handout_address(asked, query, choice, steps=steps_text(start, end))))
    return found


def _steps_hint(num_steps: int, language: Language) -> str:
    if num_steps == 0:
        return translate(language, "chart.no_steps", {})
    if num_steps == 1:
        return translate(language, "handout.form.step_hint", {})
    return translate(language, "handout.form.steps_hint", {"first": "0", "last": str(num_steps - 1), "most": str(MAX_STEPS)})
