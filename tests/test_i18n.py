"""Sentences: placeholders, and the word that goes with a number."""

import re

from app.i18n import LANGUAGES, catalogue, translate

NUMBERS = {"step": 3, "num_tokens": 70, "over": 6, "limit": 64}


def test_a_number_brings_its_word() -> None:
    assert translate("en", "fault.budget", NUMBERS).startswith("Step 3 schedules 70 tokens, 6 more than")
    assert translate("en", "fault.budget", {**NUMBERS, "num_tokens": 1}).startswith("Step 3 schedules 1 token, ")
    assert "70" in translate("zh", "fault.budget", NUMBERS)
    assert translate("en", "check.slots_unique.holds", {"num_slots": 12_345}) == "12,345 slots, all different"


def test_a_name_from_right_to_left_leaves_the_sentence_in_order() -> None:
    said = translate("en", "fault.unknown_req_id", {"step": 2, "req_id": "שלום"})
    assert "\u2068שלום\u2069" in said
    assert "\u2068" not in translate("en", "fault.unknown_req_id", {"step": 2, "req_id": "名 A"})


def test_a_number_with_its_word_is_written_in_one_way() -> None:
    """Anything else would be shown as it stands. `%{y:,}` is Plotly's."""
    for language in LANGUAGES:
        for key, text in catalogue(language).items():
            for found in re.findall(r"(?<!%)\{\w+:[^ ][^{}]*\}", text):
                assert re.fullmatch(r"\{\w+:[^|{}]+\|[^|{}]+\}", found), (key, found)
