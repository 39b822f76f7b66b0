"""The page at `/`: one template, filled with everything its scripts need to start.

In: query parameters and headers of a browser. Out: HTML in the reader's language, with the message catalogue, the
description of the spaces and the scenario of an example embedded as JSON. What cannot be read in a query string is left to
the scripts to explain; it never fails the page.
"""

from __future__ import annotations

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

from app.i18n import Language, catalogue, pick_language, translate
from app.scenario.model import Scenario
from app.web.asked import asked_scenario

ROOT = Path(__file__).resolve().parents[2]
STATIC = ROOT / "static"
TEMPLATES = ROOT / "templates"
LANGUAGE_NAMES = {"en": "English", "zh": "中文"}
NOTHING_ASKED = QueryParams()
CLASSIC_SCRIPTS = {"theme.js"}  # loaded by a tag of their own, before the first paint
SAID_BY_THE_API = ("fault.", "check.", "problem.", "stopped.", "glossary.")

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'self'",
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


def pages_router(*, describe: Callable[[], Mapping[str, Any]]) -> APIRouter:
    """Routes of the pages. `describe` gives the schema of the spaces."""
    router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )

    @router.get("/")
    def workbench(request: Request) -> HTMLResponse:
        query = request.query_params
        lang = pick_language(query.get("lang"), request.headers.get("accept-language"))
        root = str(request.scope.get("root_path", "")).rstrip("/")
        asked = asked_scenario(query, lang)
        embedded = asked if asked.kind == "example" and asked.scenario else asked_scenario(NOTHING_ASKED, lang)
        page = WorkbenchPage(
            lang=lang,
            lang_asked=query.get("lang") == lang,
            languages=LANGUAGE_NAMES,
            root=root,
            title=asked.title,
            stylesheets=_files("css", ".css"),
            modules=_files("js", ".js"),
            boot={
                # Definitions come with `GET /api/glossary`, once somebody asks.
                "pw-catalogue": {key: text for key, text in catalogue(lang).items() if not key.startswith("glossary.")},
                "pw-schema": describe(),
                "pw-format": Scenario.model_json_schema(),
                "pw-boot": {
                    "lang": lang,
                    "root": root,
                    "example": embedded.name,
                    "unknown_example": asked.name if asked.kind == "example" and not asked.scenario else None,
                    "scenario": embedded.scenario,
                },
            },
        )
        html = environment.get_template("workbench.html").render(
            page=page,
            t=lambda key, **params: translate(lang, key, params),
            static=lambda path: f"{root}/static/{path}",
            json_tag=json_for_script,
        )
        headers = {
            "Content-Security-Policy": CONTENT_SECURITY_POLICY,
            "Cache-Control": "no-cache",
            "Vary": "Accept-Language",
            "Referrer-Policy": "same-origin",
            "X-Content-Type-Options": "nosniff",
        }
        return HTMLResponse(html, headers=headers)

    return router


def page_messages(lang: Language) -> dict[str, str]:
    """The sentences that the scripts say themselves; those of faults, checks and the glossary come from the API."""
    return {key: text for key, text in catalogue(lang).items() if not key.startswith(SAID_BY_THE_API)}


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
    found.sort(key=lambda path: path.name != "tokens.css")
    return tuple(path.relative_to(STATIC).as_posix() for path in found)
