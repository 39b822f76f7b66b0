"""Self-contained links: a whole scenario as one word for an address, and back.

    1 + base64url(raw deflate of the compact scenario, as JSON in UTF-8) + ~ + CRC-32 of all characters before the ~

`1` is the version. The checksum is 4 bytes, big-endian, as base64url too: 6 characters, so "1abc" is followed by
`~o7bYCA`. No part of it is padded. static/js/core/address/link.js does the same in a browser; the bytes of two deflate
engines differ, what they decode to does not.

Reading forgives what mail and chat programs do to a link, and nothing else: line breaks and spaces in it, percent
encoding, the backslashes of Markdown, punctuation around it, the rest of the address. Any other change is found.
"""

import base64
import math
import re
import zlib
from collections.abc import Mapping
from typing import Any

from app.errors import Fault, ScenarioError
from app.scenario.format.compact import compact, to_json
from app.scenario.format.outline import has_outline
from app.scenario.format.parse import parse_json

VERSION = "1"
MAX_JSON_BYTES = 1_048_576  # of the scenario, inflated: as much as the API takes
MAX_LINK_LENGTH = 1_572_864  # what cannot be pressed smaller is about as long as this
WHERE = "/s"
_CHECKSUM_LENGTH = 6

_IN_AN_ADDRESS = re.compile(r"[?&;]s=([^&#]*)")
_PERCENT = re.compile(r"%([0-7][0-9A-Fa-f])")  # ASCII: all that a link is made of
_BROKEN_LINE = re.compile(r"[\r\n][\s>|]*")  # mail programs begin quoted lines with > or |
_IGNORED = re.compile(r"[\s\\\u00ad\u200b-\u200f\u2060\ufeff]")  # white space, invisible characters, Markdown's backslash
_BEFORE = re.compile(r"^[<>()\[\]{}\"'`*“”‘’«»„]+")
_PARTS = re.compile(r"([^~]*)~([A-Za-z0-9_-]*)(.*)", re.DOTALL)
_NOT_OURS = re.compile(r"[^A-Za-z0-9_-]")
_OURS = re.compile(r"[A-Za-z0-9_-]")
_WHOLE = re.compile(r"[A-Za-z0-9_-]+~[A-Za-z0-9_-]{6}(?=\s)")  # and then other words


def encode_link(scenario: Mapping[str, Any]) -> str:
    """The word for `?s=` that holds the scenario.

    Raises:
        ScenarioError: `link_too_large` (413) for more than MAX_JSON_BYTES.
    """
    text = to_json(compact(scenario))
    if len(text) > MAX_JSON_BYTES:
        raise _too_large()
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15, 9)
    body = VERSION + _base64url(deflate.compress(text) + deflate.flush())
    return f"{body}~{checksum(body)}"


def decode_link(text: str) -> dict[str, Any]:
    """The scenario in a link, or in an address that holds one, in compact form. Whether it can be run is not looked at.

    Raises:
        ScenarioError: `link_truncated`, `link_altered`, `link_characters`, `link_not_canonical`, `link_version`,
            `link_no_version`, `link_not_a_scenario` (400), `link_too_large` (413).
    """
    body, given = _split(_cleaned(text))
    if not body or checksum(body) != given:
        raise _fault("altered")
    if body[:1] != VERSION:
        raise _fault("version" if body[:1] > VERSION else "no_version", version=body[:1], known=VERSION)
    return _scenario(_inflated(_bytes(body[1:])))


def checksum(body: str) -> str:
    """CRC-32 of the ASCII characters of a link before its `~`, as 6 characters."""
    return _base64url(zlib.crc32(body.encode("ascii")).to_bytes(4, "big"))


def _cleaned(text: str) -> str:
    """What of a text is the link: all but what others put around and into it."""
    if len(text) > 4 * MAX_LINK_LENGTH:
        raise _too_large()
    for _ in range(3):  # an address within an address within a message
        if "%" not in text:
            break
        text = _PERCENT.sub(lambda match: chr(int(match[1], 16)), text)
    text = _BROKEN_LINE.sub("", text)
    found = _IN_AN_ADDRESS.search(text)
    text = _BEFORE.sub("", (found[1] if found else text).lstrip())
    whole = _WHOLE.match(text)
    text = whole[0] if whole else _IGNORED.sub("", text)
    if len(text) > MAX_LINK_LENGTH:
        raise _too_large()
    return text


def _split(text: str) -> tuple[str, str]:
    """The characters before the `~` and the 6 behind it, each one that a link may have."""
    parts = _PARTS.fullmatch(text)
    if parts is None:
        raise _fault("truncated")
    body, given, tail = parts.groups()
    if len(given) > _CHECKSUM_LENGTH or "~" in tail:
        raise _fault("altered")
    is_short = len(given) < _CHECKSUM_LENGTH
    goes_on = _OURS.search(tail) is not None  # and then what stands between is no end
    wrong = _NOT_OURS.search(body + tail if is_short and goes_on else body)
    if wrong:
        raise _fault("characters", character=wrong[0])
    if is_short:
        raise _fault("truncated")
    return body, given


def _bytes(body: str) -> bytes:
    """Base64url without padding; of the ways to write the same bytes only the one with no stray bits."""
    try:
        data = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))
    except ValueError:
        data = b""
    if _base64url(data) != body:
        raise _fault("not_canonical")
    return data


def _inflated(data: bytes) -> bytes:
    inflate = zlib.decompressobj(-15)
    try:
        text = inflate.decompress(data, MAX_JSON_BYTES + 1)  # stops there, however much more would follow
    except zlib.error:
        raise _fault("not_a_scenario") from None
    if len(text) > MAX_JSON_BYTES:
        raise _too_large()
    if not inflate.eof or inflate.unused_data:
        raise _fault("not_a_scenario")
    return text


def _scenario(text: bytes) -> dict[str, Any]:
    try:
        document = parse_json(text)
    except ScenarioError:
        raise _fault("not_a_scenario") from None
    if not has_outline(document) or not _is_finite(document):
        raise _fault("not_a_scenario")
    return dict(document)


def _is_finite(node: Any) -> bool:
    """Whether every number is one: 1e999 is none, and becomes null where JavaScript sends it on."""
    if isinstance(node, dict | list):
        return all(map(_is_finite, node.values() if isinstance(node, dict) else node))
    return not isinstance(node, float) or math.isfinite(node)


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode("ascii").rstrip("=")


def _fault(kind: str, **params: Any) -> ScenarioError:
    return ScenarioError([Fault(WHERE, f"link_{kind}", f"link.{kind}", params)], status=400)


def _too_large() -> ScenarioError:
    return ScenarioError([Fault(WHERE, "link_too_large", "link.too_large", {"limit": MAX_JSON_BYTES})], status=413)
