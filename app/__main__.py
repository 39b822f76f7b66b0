"""`python -m app`: serve PageWalk at HOST and PORT until it is stopped.

What can go wrong before the first request (a bad setting, a taken port, a missing device) is said in one line on
standard error, with exit status 1.
"""

from __future__ import annotations

import errno
import os
import socket
import sys
from dataclasses import replace

import uvicorn

from app.settings import Settings, SettingsError, pick_device


def main() -> int:
    """Run the server; returns the exit status."""
    try:
        settings = Settings.from_environment()
        sockets = listen(settings.host, settings.port)
        settings = replace(settings, device=pick_device(settings.device))
    except SettingsError as error:
        print(error, file=sys.stderr)
        return 1
    # Imported only now: it takes seconds, and the sentences above should not wait for it.
    from app.main import create_app

    config = uvicorn.Config(create_app(settings), log_level="warning", access_log=False)
    ready = f"PageWalk is at {address(settings.host, sockets[0])} (computing on {settings.device}). Ctrl+C stops it."
    try:
        _Server(config, ready).run(sockets)
    except KeyboardInterrupt:  # uvicorn has shut down in order and passes the signal on
        print()
    return 0


def listen(host: str, port: int) -> list[socket.socket]:
    """Take the port, on every address that the name stands for (localhost may be two). Raises SettingsError.

    It is bound before anything slow is imported, so a taken port is said at once and nobody can take it in between.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (socket.gaierror, UnicodeError):
        raise SettingsError(f"HOST is {host!r}, which names no address. Use 127.0.0.1, or leave it unset.") from None
    sockets: list[socket.socket] = []
    fault: OSError | None = None
    for family, _, _, _, (bind_host, _, *rest) in found:
        try:
            sockets.append(_bind(family, (bind_host, port, *rest)))
        except OSError as error:
            fault = error
            if error.errno in _NOT_OURS:
                break
            continue  # one address of several may be of a family that this machine does not speak
        port = sockets[0].getsockname()[1]  # port 0 has become a real one, which the other addresses share
    if fault is not None and (not sockets or fault.errno in _NOT_OURS):
        for server in sockets:
            server.close()
        raise SettingsError(_listen_fault(host, port, fault))
    return sockets


def address(host: str, server: socket.socket) -> str:
    """The URL to open: as HOST says it, but a wildcard address becomes this machine."""
    port = server.getsockname()[1]
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{name}:{port}"


_NOT_OURS = {errno.EADDRINUSE, errno.EACCES}


class _Server(uvicorn.Server):
    """Says where the page is once it answers there, not before."""

    def __init__(self, config: uvicorn.Config, ready: str) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            print(self._ready, flush=True)


def _bind(family: int, socket_address: tuple[str | int, ...]) -> socket.socket:
    server = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # said, or asyncio leaves Nagle on
    try:
        if os.name == "posix":  # a port whose last connections are still closing counts as free
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        server.bind(socket_address)
        server.listen()
    except OSError:
        server.close()
        raise
    return server


def _listen_fault(host: str, port: int, fault: OSError) -> str:
    if fault.errno == errno.EADDRINUSE:
        other = port + 1 if port < 65_535 else port - 1
        return f"Port {port} on {host} is taken. Choose another one, for example: PORT={other} make run"
    if fault.errno == errno.EACCES:
        return f"Port {port} is not open to this user. Choose one above 1023, for example: PORT=8000 make run"
    return f"HOST is {host!r}, where this machine cannot listen ({fault.strerror}). Use 127.0.0.1, or leave it unset."


if __name__ == "__main__":
    sys.exit(main())
