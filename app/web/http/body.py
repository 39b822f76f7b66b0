"""The body of a request, read no further than it may go."""

from fastapi import Request

from app.errors import Fault, ScenarioError
from app.scenario.format.parse import MAX_BODY_BYTES


async def read_body(request: Request) -> bytes:
    """The body.

    Raises:
        ScenarioError: `body_too_large` (413) as soon as it is.
    """
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            declared = request.headers.get("content-length", "")
            size = int(declared) if declared.isdecimal() and len(declared) < 16 else len(body)
            params = {"bytes": max(size, len(body)), "limit": MAX_BODY_BYTES}
            raise ScenarioError([Fault("", "body_too_large", "body_too_large", params)], status=413)
    return bytes(body)
