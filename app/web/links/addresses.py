"""Absolute addresses, as the reader sees them: for short links, QR codes and what an unfurled link shows.

They begin with PAGEWALK_BASE_URL. Without it they begin as the request says: scheme, Host header and root path. Whoever
sends a request chooses its Host, so that is believed only where it looks like a host, it is echoed only in the answer to the
same request, and nothing that is kept between requests (a stored link, a cached picture) holds an absolute address. An HTTP
cache files answers under the host they were asked of; a proxy whose cache does not should set PAGEWALK_BASE_URL.
"""

import re
from urllib.parse import urlencode

from fastapi import Request

_HOST = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")


class Addresses:
    """How absolute addresses of this server begin."""

    def __init__(self, base_url: str = "") -> None:
        """`base_url` as in Settings: no slash at its end, "" to go by the request."""
        self._base_url = base_url

    def base(self, request: Request) -> str:
        """The address of the page without the slash at its end, `https://example.org/pagewalk`."""
        if self._base_url:
            return self._base_url
        host = request.headers.get("host", "")
        if not _HOST.fullmatch(host):
            name, port = request.scope.get("server") or ("localhost", None)
            name = f"[{name}]" if ":" in name else name
            host = f"{name}:{port}" if port else name
        return f"{request.url.scheme}://{host}{root_path(request)}"

    def page(self, request: Request, path: str = "/", **query: str | int | None) -> str:
        """A page's address; a parameter that is None or empty is left out."""
        given = {name: value for name, value in query.items() if value not in (None, "")}
        return f"{self.base(request)}{path}{'?' + urlencode(given, safe='~') if given else ''}"


def root_path(request: Request) -> str:
    """The path that this server is reached under, without a slash at its end."""
    return str(request.scope.get("root_path", "")).rstrip("/")
