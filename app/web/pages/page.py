"""The page at `/`, and at `/s/<id>` for a short link: one template, filled with everything its scripts need to start.

In: query parameters and headers of a browser. Out: HTML in the reader's language, with the message catalogue, the
description of the spaces and the scenario of an example or a short link embedded as JSON. What cannot be read in a query
string is left to the scripts to explain; it never fails the page. A short link that leads nowhere has a page of its own.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from fastapi.staticfiles import StaticFiles
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.datastructures import QueryParams
from starlette.responses import Response
from starlette.types import Scope

from app.examples import examples
from app.i18n import LANGUAGES, Language, catalogue, translate
from app.scenario.format.model import Scenario
from app.web.handout.query import handout_of_page
from app.web.http.problems import request_language
from app.web.links.addresses import Addresses, root_path
from app.web.links.asked import DEFAULT_EXAMPLE, Asked, OpenLink, asked_link, asked_scenario, parameter
from app.web.pages.unfurl import unfurl

ROOT = Path(__file__).resolve().parents[3]
STATIC = ROOT / "static"
TEMPLATES = ROOT / "templates"
LANGUAGE_NAMES = {language: translate(language, "language.name", {}) for language in LANGUAGES}
NOTHING_ASKED = QueryParams()
CLASSIC_SCRIPTS = {"theme.js"}  # loaded by a tag of their own, before the first paint

CONTENT_SECURITY_POLICY = "; ".join(  # without who may frame the page, which depends on its view
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "frame-src 'self'",  # the share dialog previews what others will embed
        "base-uri 'none'",
        "form-action 'none'",
    )
)


@dataclass(frozen=True)
class WorkbenchPage:
    """Context of `workbench.html`."""

    lang: str
    lang_asked: bool  # by the address, so links keep it
    languages: Mapping[str, str]
    root: str  # path that the server is reached under
    title: str
    stylesheets: tuple[str, ...]
    modules: tuple[str, ...]  # scripts to fetch ahead, so that imports do not wait for each other
    boot: Mapping[str, Any]  # id of a JSON script tag -> its data


def pages_router(
    *, describe: Callable[[], Mapping[str, Any]], open_link: OpenLink, addresses: Addresses, has_links: bool
) -> APIRouter:
    """Routes of the pages.

    `describe` gives the schema of the spaces, `open_link` the scenario of a short link; `has_links` says whether short links
    can be made here.
    """
    router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

    @router.get("/")
    def workbench(request: Request) -> HTMLResponse:
        lang = request_language(request)
        return show(request, asked_scenario(request.query_params, lang), lang)

    @router.get("/s")  # cut off
    @router.get("/s/{link_id:path}")
    def short_link(request: Request, link_id: str = "") -> HTMLResponse:
        lang = request_language(request)
        asked = asked_link(link_id, open_link)
        return show(request, asked, lang) if asked.scenario is not None else _no_link(request, asked, lang)

    def show(request: Request, asked: Asked, lang: Language) -> HTMLResponse:
        root = root_path(request)
        is_embedded = asked.kind in ("example", "short") and asked.scenario is not None
        embedded = asked if is_embedded else asked_scenario(NOTHING_ASKED, lang)
        page = _page(
            request,
            lang,
            title=asked.title,
            boot={
                # Definitions come with `GET /api/glossary`, once somebody asks.
                "pw-catalogue": {key: text for key, text in catalogue(lang).items() if not key.startswith("glossary.")},
                "pw-schema": describe(),
                "pw-format": Scenario.model_json_schema(),
                "pw-boot": {
                    "lang": lang,
                    "languages": LANGUAGES,
                    "root": root,
                    "base": addresses.base(request),
                    "example": None if embedded.kind == "short" else embedded.name,
                    "short": embedded.name if embedded.kind == "short" else None,
                    "links": has_links,
                    "first": DEFAULT_EXAMPLE,
                    "about": None if embedded.kind == "short" else examples()[embedded.name].describe(lang),
                    "unknown_example": asked.name if asked.kind == "example" and not asked.scenario else None,
                    "scenario": embedded.scenario,
                },
            },
        )
        head = unfurl(request, asked, lang, addresses)
        handout = root + handout_of_page(asked, request.query_params)
        html = _render(request, "workbench.html", lang, page=page, unfurl=head, handout=handout)
        return HTMLResponse(html, headers=_headers(request.query_params, is_indexed=head.is_indexed))

    return router


def lost_page(request: Request) -> HTMLResponse:
    """What a reader sees at an address where no page is."""
    lang = request_language(request)
    heading, message = translate(lang, "no_page.title", {}), translate(lang, "fault.not_found.path", {})
    return _dead_end(request, lang, 404, code="not_found", heading=heading, message=message, way_on="no_page.way_on")


def _no_link(request: Request, asked: Asked, lang: Language) -> HTMLResponse:
    (fault,) = asked.faults
    heading = translate(lang, f"no_link.{fault.code}.title", {})
    message = translate(lang, f"fault.{fault.message}", fault.params)
    return _dead_end(request, lang, asked.status, code=fault.code, heading=heading, message=message, way_on="no_link.way_on")


def _dead_end(request: Request, lang: Language, status: int, **words: str) -> HTMLResponse:
    page = _page(request, lang, title="", boot={})
    html = _render(request, "no_link.html", lang, page=page, may_come_back=status == 503, **words)
    return HTMLResponse(html, status, headers=_headers(request.query_params, is_indexed=False))


@functools.cache
def _templates() -> Environment:
    return Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )


def _render(request: Request, template: str, lang: Language, **context: Any) -> str:
    return (
        _templates()
        .get_template(template)
        .render(
            t=lambda key, **params: translate(lang, key, params),
            static=lambda path: f"{root_path(request)}/static/{path}",
            json_tag=json_for_script,
            **context,
        )
    )


def _page(request: Request, lang: Language, *, title: str, boot: Mapping[str, Any]) -> WorkbenchPage:
    return WorkbenchPage(
        lang=lang,
        lang_asked=request.query_params.get("lang") == lang,
        languages=LANGUAGE_NAMES,
        root=root_path(request),
        title=title,
        stylesheets=_files("css", ".css"),
        modules=_files("js", ".js"),
        boot=boot,
    )


def _headers(query: QueryParams, *, is_indexed: bool) -> Mapping[str, str]:
    headers = {
        "Content-Security-Policy": f"{CONTENT_SECURITY_POLICY}; {frame_ancestors(query)}",
        "Cache-Control": "no-cache",
        "Vary": "Accept-Language",
        "Referrer-Policy": "same-origin",
        "X-Content-Type-Options": "nosniff",
    }
    return headers if is_indexed else {**headers, "X-Robots-Tag": "noindex"}


def frame_ancestors(query: QueryParams) -> str:
    """Any page may frame the embed view, which edits nothing and cannot become another view; the others none but ours.

    Where `view` is given twice, in whatever spelling the page reads, nobody else may frame it, whatever they say.
    """
    views = [value for name, value in query.multi_items() if parameter(name) == "view"]
    return "frame-ancestors *" if views == ["embed"] else "frame-ancestors 'self'"


class RevalidatedFiles(StaticFiles):
    """The files of `static/`: cached, but asked about on every load, so a module is never older than its neighbours."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "no-cache"
        return response


def static_files() -> RevalidatedFiles:
    """The application to mount at `/static`."""
    return RevalidatedFiles(directory=STATIC)


def json_for_script(data: object) -> str:
    """JSON that is safe between script tags: nothing in it can end the element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _files(folder: str, suffix: str) -> tuple[str, ...]:
    """Paths below `static/`, the design tokens before the stylesheets that use them."""
    found = [path for path in sorted((STATIC / folder).rglob(f"*{suffix}")) if path.name not in CLASSIC_SCRIPTS]
    found.sort(key=lambda path: (path.name != "tokens.css", path.name))  # by name: rooms do not decide the cascade
    return tuple(path.relative_to(STATIC).as_posix() for path in found)
