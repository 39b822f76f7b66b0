"""Errors as RFC 9457 problem details, in the reader's language."""

import logging
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Annotated, Any

import orjson
from fastapi import FastAPI, Query, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from app.errors import Fault, ScenarioError
from app.i18n import LANGUAGES, Language, pick_language, translate

MEDIA_TYPE = "application/problem+json"
_TYPES = {
    400: "urn:pagewalk:problem:unreadable",
    413: "urn:pagewalk:problem:too-large",
    422: "urn:pagewalk:problem:invalid-scenario",
    500: "urn:pagewalk:problem:internal",
}

logger = logging.getLogger(__name__)

# Declared by each route for the documentation; `request_language` reads it, for errors too.
LanguageQuery = Annotated[
    str, Query(description=f"Language of the words ({', '.join(LANGUAGES)}); default by Accept-Language.")
]


def request_language(request: Request) -> Language:
    """The language that `?lang=` or `Accept-Language` asks for."""
    return pick_language(request.query_params.get("lang"), request.headers.get("accept-language"))


def describe_fault(fault: Fault, language: Language) -> dict[str, Any]:
    """A fault as the API gives it."""
    return {
        "where": fault.where,
        "code": fault.code,
        "message": translate(language, f"fault.{fault.message}", fault.params),
        "params": dict(fault.params),
        "fix": None if fault.fix is None else list(fault.fix),
    }


def problem_response(
    status: int,
    language: Language,
    faults: list[Fault],
    num_faults: int | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """One problem with all its faults; `num_faults` counts those left out too."""
    errors = [describe_fault(fault, language) for fault in faults]
    more = (num_faults or len(errors)) - 1
    if errors:
        kind = "more" if more > 0 else "one"
        detail = translate(language, f"problem.detail.{kind}", {"message": errors[0]["message"], "more": more})
    else:
        detail = translate(language, f"problem.{status}.detail", {})
    body = {
        "type": _TYPES.get(status, "about:blank"),
        "title": translate(language, f"problem.{status}.title", {}),
        "status": status,
        "detail": detail,
        "errors": errors,
    }
    return Response(
        orjson.dumps(body),
        status_code=status,
        media_type=MEDIA_TYPE,
        headers={"Content-Language": language, "Vary": "Accept-Language", "Cache-Control": "no-store", **(headers or {})},
    )


def _plain_problem(error: HTTPException) -> Response:
    """What the framework found wrong by itself, in its own words."""
    title = HTTPStatus(error.status_code).phrase
    body = {"type": "about:blank", "title": title, "status": error.status_code, "detail": error.detail, "errors": []}
    return Response(orjson.dumps(body), status_code=error.status_code, media_type=MEDIA_TYPE, headers=error.headers)


def _is_for_a_reader(request: Request) -> bool:
    """Whether somebody typed or followed the address of a page, instead of calling the API."""
    root_path = str(request.scope.get("app_root_path", request.scope.get("root_path", "")))  # a mounted app has its own
    path = request.url.path.removeprefix(root_path)
    wants_html = "text/html" in request.headers.get("accept", "")
    return wants_html and request.method in {"GET", "HEAD"} and not path.startswith(("/api/", "/static/"))


def install_error_handlers(app: FastAPI, lost_page: Callable[[Request], Response]) -> None:
    """Let every error of the app be a problem, but `lost_page` what a browser gets where no page is."""

    @app.exception_handler(ScenarioError)
    async def scenario_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, ScenarioError)
        return problem_response(error.status, request_language(request), error.faults, error.num_faults)

    @app.exception_handler(HTTPException)
    async def http_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        if error.status_code == 404 and _is_for_a_reader(request):
            return lost_page(request)
        allowed = (error.headers or {}).get("Allow", "")
        faults = {
            404: Fault("", "not_found", "not_found.path"),
            405: Fault("", "method", "method", {"method": request.method, "allowed": allowed}),
        }
        fault = faults.get(error.status_code)
        if fault is None:
            return _plain_problem(error)
        return problem_response(error.status_code, request_language(request), [fault], headers=error.headers)

    @app.exception_handler(Exception)
    async def internal_error(request: Request, error: Exception) -> Response:
        logger.error("request failed: %s %s", request.method, request.url.path, exc_info=error)
        return problem_response(500, request_language(request), [])
