"""HEAD wherever GET works: link checkers and unfurlers ask for headers alone."""

from starlette.types import ASGIApp, Receive, Scope, Send


class HeadAsGet:
    """Let the application answer HEAD as it would answer GET; the server leaves the body out."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "HEAD":
            scope = {**scope, "method": "GET"}
        await self.app(scope, receive, send)
