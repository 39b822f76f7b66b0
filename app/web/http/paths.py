"""Paths as proxies and people write them: with the root path or without it, with a slash at their end or without it."""

from starlette.types import ASGIApp, Receive, Scope, Send


class ForgivenPaths:
    """Bring the path of a request into the one form that the routes expect.

    ASGI wants the root path in front of every path. Many proxies take it off, and files below `/static` would not be
    found then. A slash at the end (chat programs add one) is dropped here, not by a redirect: its address would be that of
    this server behind the proxy.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            root, path = scope.get("root_path", "").rstrip("/"), scope["path"]
            inner = path[len(root) :] if path == root or path.startswith(f"{root}/") else path
            scope = {**scope, "path": f"{root}{inner.rstrip('/') or '/'}"}
        await self.app(scope, receive, send)
