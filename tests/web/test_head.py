"""HEAD answers as GET does, without a body on the wire."""

import urllib.request


def test_head_of_pages_and_of_the_api(live_server: str) -> None:
    for path in ("/", "/docs", "/healthz", "/api/examples"):
        request = urllib.request.Request(f"{live_server}{path}", method="HEAD")
        with urllib.request.urlopen(request, timeout=10) as answer:
            assert answer.status == 200, path
            assert answer.read() == b"", path
