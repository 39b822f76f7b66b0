"""`python -m app` as a person starts it: it says where it is and stops on Ctrl+C; what is in the way is one plain line."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from app.__main__ import address, listen
from app.settings import SettingsError

ROOT = Path(__file__).resolve().parent.parent


def start(**environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "app"],
        cwd=ROOT,
        env=os.environ | {"HOST": "127.0.0.1"} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_it_says_where_it_is_answers_there_and_stops() -> None:
    with start(PORT="0") as server:
        try:
            assert server.stdout is not None
            said = server.stdout.readline()
            found = re.search(r"http://127\.0\.0\.1:\d+", said)
            assert found is not None, said + server.communicate()[1]
            with urllib.request.urlopen(f"{found.group()}/healthz", timeout=10) as answer:
                assert answer.status == 200
            server.send_signal(signal.SIGINT)
            _, complaints = server.communicate(timeout=30)
        finally:
            server.kill()
    assert server.returncode == 0
    assert complaints == ""


def test_a_taken_port_is_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with start(PORT=str(port)) as server:
            said, complaints = server.communicate(timeout=60)
    assert server.returncode == 1
    assert said == ""
    assert re.fullmatch(
        rf"Port {port} on 127\.0\.0\.1 is taken\. Choose another one, for example: PORT=\d+ make run\n", complaints
    )


def test_a_bad_setting_is_one_line() -> None:
    with start(PORT="eighty") as server:
        _, complaints = server.communicate(timeout=60)
    assert server.returncode == 1
    assert complaints == "PORT must be a whole number from 0 to 65535, not 'eighty'.\n"


def test_a_host_that_is_not_ours() -> None:
    with pytest.raises(SettingsError, match=r"HOST is '192\.0\.2\.1', where this machine cannot listen"):
        listen("192.0.2.1", 0)


@pytest.mark.parametrize(
    ("host", "family", "shown"),
    [
        ("127.0.0.1", socket.AF_INET, "http://127.0.0.1:"),
        ("0.0.0.0", socket.AF_INET, "http://127.0.0.1:"),
        ("localhost", None, "http://localhost:"),
        ("::1", socket.AF_INET6, "http://[::1]:"),
        ("::", socket.AF_INET6, "http://[::1]:"),
    ],
)
def test_addresses(host: str, family: socket.AddressFamily | None, shown: str) -> None:
    if family == socket.AF_INET6 and not has_ipv6():
        with pytest.raises(SettingsError, match="HOST"):
            listen(host, 0)
        return
    sockets = listen(host, 0)
    try:
        ports = {server.getsockname()[1] for server in sockets}
        assert len(ports) == 1
        assert family is None or [server.family for server in sockets] == [family]
        assert address(host, sockets[0]) == f"{shown}{ports.pop()}"
    finally:
        for server in sockets:
            server.close()


def has_ipv6() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


def test_an_answer_on_a_kept_connection_is_sent_at_once() -> None:
    """Nagle's algorithm waits 40 ms for an acknowledgement; asyncio turns it off only on sockets that say TCP."""
    for server in listen("127.0.0.1", 0):
        with server, socket.create_connection(server.getsockname()), server.accept()[0] as accepted:
            assert accepted.proto == socket.IPPROTO_TCP
