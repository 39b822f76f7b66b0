"""What a scenario is called: an id that follows from what it says, not from how it was written.

Canonical bytes are JSON with the defaults dropped, keys sorted (no order of keys means anything) and tokens per request as
ordered pairs (that order does). Two spellings of one scenario give the same bytes, so the same id, for ever: a field that a
later format adds with a default changes none of them.

An id is the first 70 bits of the SHA-256 of these bytes as 14 characters of Crockford's base 32: lower case, without i, l,
o and u, so that it can be read out, written on a board and typed. Among 100,000 links the chance that any two share an id is
about 100,000² / 2 / 2^70, or 4 in a million million; to hit one of them on purpose takes some 2^53 tries. Where it happens
the second scenario is refused; nothing is ever overwritten.
"""

import hashlib
import json
from typing import Any

from app.scenario.format.model import Scenario

ID_LENGTH = 14
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_LOOKS_LIKE = str.maketrans("ilo", "110", "-")  # what people read or type instead; hyphens are for the eye


def canonical_bytes(scenario: Scenario) -> bytes:
    """The scenario in the one spelling that its id is made from; readable by `parse_json`."""
    document = scenario.model_dump(mode="json", exclude_defaults=True)
    return json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def link_id(canonical: bytes) -> str:
    """The id of canonical bytes."""
    number = int.from_bytes(hashlib.sha256(canonical).digest()[:9]) >> 2  # 72 bits to 70
    return "".join(_ALPHABET[number >> shift & 31] for shift in range(5 * (ID_LENGTH - 1), -1, -5))


def read_link_id(text: str) -> str | None:
    """The id that a person or a chat program means by `text`, or None where it cannot be one.

    Capitals, the letters that look like digits, hyphens, and punctuation behind it are forgiven.
    """
    if len(text) > 64:
        return None
    found = text.strip().rstrip(".,;:!?)]}>\"'*_").lower().translate(_LOOKS_LIKE)
    return found if len(found) == ID_LENGTH and set(found) <= set(_ALPHABET) else None


def readable(scenario: Scenario) -> dict[str, Any]:
    """The scenario as a document in the order of the format's fields, defaults dropped."""
    document: dict[str, Any] = scenario.model_dump(mode="json", exclude_defaults=True)
    return document
