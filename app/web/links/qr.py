"""`/api/qr.svg`: the address of a page of this server as a QR code, for a slide or a sheet of paper.

In: the query of that page (`example`, `s` or `short`, and the place). Out: SVG. The address is put together here, from this
server's own base and the parameters that pages have, so nothing else can be turned into a code.
"""

import io
import re
from urllib.parse import urlencode

import segno
from fastapi import APIRouter, Request
from fastapi.responses import Response

from app.errors import Fault, ScenarioError
from app.links.identity import read_link_id
from app.web.http.problems import LanguageQuery
from app.web.links.addresses import Addresses

# Longer ones become so dense that a phone no longer reads them off a projector.
MAX_LENGTH = 1_200
_STURDY_LENGTH = 300  # up to here there is room for more error correction: 15 % instead of 7 %
_QUIET_ZONE = 4  # modules around the code, as ISO/IEC 18004 wants it

# What a page's address may hold, in this order. `short` becomes the path.
_PARAMETERS = {
    "example": r"[\w-]{1,80}",
    "s": r"[A-Za-z0-9_~-]+",
    "step": r"\d{1,9}",
    "steps": r"\d{1,9}-\d{1,9}",
    "stage": r"[a-z-]{1,20}",
    "pin": r"[A-Za-z0-9_.-]{1,80}",
    "view": r"[a-z]{1,10}",
    "lang": r"[a-z]{2}",
}


def qr_router(addresses: Addresses) -> APIRouter:
    """The route of QR codes."""
    router = APIRouter(prefix="/api", tags=["links"])

    @router.get(
        "/qr.svg",
        summary="The address of a page as a QR code",
        response_class=Response,
        responses={
            200: {"content": {"image/svg+xml": {}}, "description": "Black on white, with its quiet zone."},
            413: {"description": "The address is too long for a code that phones can read (`qr_too_long`)."},
            422: {"description": "A parameter that no page has such a value for."},
        },
    )
    def qr(
        request: Request,
        lang: LanguageQuery = "",  # noqa: ARG001  read by page_address
    ) -> Response:
        """Takes the parameters of the page: `example`, `s` or `short`, `step`, `stage`, `pin`, `view`, `steps`, `lang`."""
        address = page_address(request, addresses)
        if len(address) > MAX_LENGTH:
            params = {"length": len(address), "limit": MAX_LENGTH}
            raise ScenarioError([Fault("", "qr_too_long", "qr_too_long", params)], status=413)
        code = segno.make_qr(address, error="m" if len(address) <= _STURDY_LENGTH else "l")
        svg = io.BytesIO()
        code.save(svg, "svg", border=_QUIET_ZONE, light="#fff", omitsize=True, svgclass=None, lineclass=None, xmldecl=False)
        headers = {
            # Without a base URL the address is the one this reader came by, so it is nobody else's.
            "Cache-Control": "private, max-age=3600",
            "Content-Security-Policy": "default-src 'none'; sandbox",
            "X-Content-Type-Options": "nosniff",
        }
        return Response(svg.getvalue(), media_type="image/svg+xml", headers=headers)

    return router


def page_address(request: Request, addresses: Addresses) -> str:
    """The absolute address of the page whose query the request has.

    Raises:
        ScenarioError: `schema` (422) for a value that no page has.
    """
    query = request.query_params
    path = "/"
    if "short" in query:
        name = read_link_id(query["short"])
        if name is None:
            raise _refusal("short", query["short"])
        path = f"/s/{name}"
    given = {}
    for name, pattern in _PARAMETERS.items():
        value = query.get(name, "")
        if value and not (path != "/" and name in ("example", "s")):
            if not re.fullmatch(pattern, value):
                raise _refusal(name, value)
            given[name] = value
    return addresses.base(request) + path + (f"?{urlencode(given, safe='~')}" if given else "")


def _refusal(name: str, value: str) -> ScenarioError:
    return ScenarioError([Fault("", "schema", "query.value", {"name": name, "given": value[:40]})])
