"""What a request looks like on what the server draws: as in the browser."""

from __future__ import annotations

import pytest

from app.web.identity import identities, seen


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (" ", "␣"),
        ("\u00a0", "␣"),
        ("\u200b\u200b", "␣␣"),
        (" A", "␣A"),
        ("A\t", "A␣"),
        ("a b", "a b"),
        ("\u2800", "␣"),
        ("👩\u200d🚀", "👩\u200d🚀"),
        ("10", "10"),
    ],
)
def test_a_name_of_blanks_can_be_seen(name: str, shown: str) -> None:
    """The same in tests/js/page-core.test.js."""
    assert seen(name) == shown


def test_a_blank_is_the_letter_of_its_request() -> None:
    assert [one.letter for one in identities([" ", "A", "chat"]).values()] == ["␣", "A", "B"]
