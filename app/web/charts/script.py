"""The script that draws the charts on the page: plotly.js, served from inside the Python package."""

import functools
import gzip
import re
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

SCRIPT_VERSION = version("plotly")


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
