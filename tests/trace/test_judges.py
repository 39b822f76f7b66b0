"""Every space has a judge that is not the code which computed it."""

from __future__ import annotations

from pathlib import Path

from app.trace.schema import SPACES
from tests.judged import ELSEWHERE, by_formula, by_reference

ROOT = Path(__file__).resolve().parents[2]


def test_every_space_has_a_judge() -> None:
    declared = {space.name for space in SPACES}
    assert by_reference() <= declared, "the reference computes what is not declared"
    unjudged = declared - by_reference() - by_formula() - ELSEWHERE.keys()
    assert not unjudged, (
        f"nothing tells whether {', '.join(sorted(unjudged))} is right: give every case a formula over other spaces, or"
        " compute it in tests/reference.py from the scenario, or test it on its own and say where in tests/judged.py"
    )


def test_what_is_judged_elsewhere_is() -> None:
    assert not ELSEWHERE.keys() & (by_reference() | by_formula()), "judged already"
    for name, path in ELSEWHERE.items():
        assert name in (ROOT / path).read_text(encoding="utf-8"), f"{path} does not speak of {name}"
