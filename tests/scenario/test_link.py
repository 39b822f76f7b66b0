"""Self-contained links: exact there and back, every change of one character found, every other damage named."""

from __future__ import annotations

import base64
import re
import string
import zlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import ScenarioError
from app.examples import examples
from app.scenario.format.compact import compact, to_json
from app.scenario.format.link import MAX_JSON_BYTES, checksum, decode_link, encode_link
from app.scenario.format.parse import parse_scenario
from tests.bench_links import TARGETS, link_of, worked_example
from tests.scenario.faults import sentence
from tests.strategies import invalid_scenarios, valid_scenarios

FAST = settings(max_examples=200, deadline=None, derandomize=True, database=None)
SLOW = settings(max_examples=5_000, deadline=None, database=None)
ALPHABET = string.ascii_letters + string.digits + "-_~"
LINK = encode_link(worked_example())


def refusal(text: str) -> tuple[str, dict[str, Any]]:
    """Why a link cannot be read: the code without its `link_`, and the numbers."""
    with pytest.raises(ScenarioError) as caught:
        decode_link(text)
    (fault,) = caught.value.faults
    assert fault.where == "/s"
    assert fault.message == f"link.{fault.code.removeprefix('link_')}"
    assert "{" not in sentence(fault)
    assert caught.value.status == (413 if fault.code == "link_too_large" else 400)
    return fault.code.removeprefix("link_"), dict(fault.params)


def sealed(data: bytes, version: str = "1") -> str:
    """A link with the right checksum around any bytes."""
    body = version + base64.urlsafe_b64encode(data).decode().rstrip("=")
    return f"{body}~{checksum(body)}"


def pressed(data: bytes) -> bytes:
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    return deflate.compress(data) + deflate.flush()


# ---- there and back


def test_the_checksum_by_hand() -> None:
    # CRC-32 of the bytes 31 61 62 63 is 0xa3b6d808: zlib and the standard's table agree. In base64 these four bytes are
    # 101000 111011 011011 011000 000010 000000 = o 7 b Y C A.
    assert zlib.crc32(b"1abc") == 0xA3B6D808
    assert checksum("1abc") == "o7bYCA"


def test_a_link_by_hand() -> None:
    # A stored block of deflate: 01, the length and its complement (little-endian), then the bytes as they are.
    text = b'{"version":1,"requests":[],"steps":[]}'
    stored = b"\x01" + len(text).to_bytes(2, "little") + (len(text) ^ 0xFFFF).to_bytes(2, "little") + text
    assert decode_link(sealed(stored)) == {"version": 1, "requests": [], "steps": []}


def test_every_example_comes_back_exactly(subtests: pytest.Subtests) -> None:
    for name in examples():
        with subtests.test(name):
            scenario = examples()[name].scenario
            link = encode_link(scenario)
            assert re.fullmatch(r"1[\w-]+~[\w-]{6}", link)
            assert parse_scenario(decode_link(link)) == parse_scenario(scenario)


def comes_back(scenario: dict[str, Any]) -> None:
    document = decode_link(encode_link(scenario))
    assert parse_scenario(document) == parse_scenario(scenario)
    assert compact(document) == document
    orders = [[list(step.num_scheduled_tokens) for step in parse_scenario(one).steps] for one in (document, scenario)]
    assert orders[0] == orders[1]


@FAST
@given(valid_scenarios())
def test_a_scenario_comes_back_exactly(scenario: dict[str, Any]) -> None:
    comes_back(scenario)


@pytest.mark.slow
@SLOW
@given(st.one_of(valid_scenarios(), valid_scenarios(strict=False)))
def test_thousands_of_scenarios_come_back_exactly(scenario: dict[str, Any]) -> None:
    comes_back(scenario)


@FAST
@given(invalid_scenarios())
def test_what_cannot_be_run_is_refused_for_the_same_reasons_after_the_link(case: tuple[dict[str, Any], str]) -> None:
    scenario, _ = case

    def reasons(document: Any) -> list[tuple[str, str]]:
        try:
            parse_scenario(document)
        except ScenarioError as error:
            return [(fault.where, fault.message) for fault in error.faults]
        return []

    try:
        document = decode_link(encode_link(scenario))
    except ScenarioError as error:  # it has not even a scenario's outline
        assert [fault.code for fault in error.faults] == ["link_not_a_scenario"]  # noqa: PT017
        return
    assert {message for _, message in reasons(document)} == {message for _, message in reasons(scenario)}


# ---- the compact form


def test_defaults_are_dropped_wherever_they_stand() -> None:
    spelled_out = parse_scenario(worked_example()).model_dump()
    assert compact(spelled_out) == worked_example()


def test_what_only_looks_like_a_default_stays() -> None:
    odd = {
        "version": 1,
        "title": None,
        "strict": 1,
        "start_step": False,
        "config": {"max_num_reqs": 8.0, "kv_cache_groups": [{}, {}]},
        "requests": [{"req_id": "A", "initial": {}}],
        "steps": [{}, {"new_block_ids": [], "num_computed_tokens": {"A": 0}, "draft_token_ids": {"A": []}}],
        "more": 5,
    }
    assert to_json(compact(odd)) == to_json(odd)


def test_the_order_of_who_runs_is_kept_whatever_the_names_look_like() -> None:
    scenario = {"version": 1, "requests": [], "steps": [{"num_scheduled_tokens": {"10": 1, "9": 2, "__proto__": 3, "a": 4}}]}
    pairs = [["10", 1], ["9", 2], ["__proto__", 3], ["a", 4]]
    assert decode_link(encode_link(scenario))["steps"] == [{"num_scheduled_tokens": pairs}]


def test_however_a_scenario_is_written_its_compact_form_is_the_same() -> None:
    def of(counts: Any, **more: Any) -> dict[str, Any]:
        return compact({"steps": [{"num_scheduled_tokens": counts}], "version": 1, "requests": [], **more})

    assert of({"B": 1, "A": 2}) == of([["B", 1], ["A", 2]], title="", config={"kv_cache": {}})
    assert of({"B": 1, "A": 2}) != of({"A": 2, "B": 1})
    assert compact(worked_example()) == compact(parse_scenario(worked_example()).model_dump())


# ---- damage


def test_every_changed_character_is_found() -> None:
    for place in range(len(LINK)):
        for character in ALPHABET + " )%é":
            if character != LINK[place]:
                refusal(LINK[:place] + character + LINK[place + 1 :])


def test_every_lost_character_is_found() -> None:
    for place in range(len(LINK)):
        refusal(LINK[:place] + LINK[place + 1 :])


def test_every_added_character_is_found() -> None:
    for place in range(len(LINK) + 1):
        for character in ALPHABET:
            refusal(LINK[:place] + character + LINK[place:])


def test_every_swap_of_neighbours_is_found() -> None:
    for place in range(len(LINK) - 1):
        if LINK[place] != LINK[place + 1]:
            refusal(LINK[:place] + LINK[place + 1] + LINK[place] + LINK[place + 2 :])


def test_every_cut_is_called_one() -> None:
    for length in range(len(LINK)):
        assert refusal(LINK[:length])[0] == "truncated"
        assert refusal(f"https://example.org/?s={LINK[:length]}…")[0] == "truncated"


BOMB = pressed(b" " * (1 << 30))  # a gigabyte of nothing in a megabyte
SMALL = b'{"version":1,"requests":[],"steps":[]}'
WITH_A_TAIL = sealed(pressed(SMALL) + b"\0")

DAMAGE = [
    ("", "truncated", {}),
    ("~", "truncated", {}),
    (LINK + "x", "altered", {}),
    (LINK + "~" + LINK, "altered", {}),
    (LINK.swapcase(), "altered", {}),
    (LINK[1:], "altered", {}),
    ("2" + LINK[1:], "altered", {}),
    (LINK[:9] + "é" + LINK[9:], "characters", {"character": "é"}),
    (LINK[:9] + "=" + LINK[9:], "characters", {"character": "="}),
    (sealed(pressed(SMALL), "2"), "version", {"version": "2", "known": "1"}),
    (sealed(b"anything at all", "9"), "version", {"version": "9", "known": "1"}),
    (sealed(pressed(SMALL), "0"), "no_version", {"version": "0", "known": "1"}),
    (sealed(b"\xff\xff\xff"), "not_a_scenario", {}),  # a block type that deflate does not have
    (sealed(b""), "not_a_scenario", {}),
    (sealed(pressed(SMALL)[:-1]), "not_a_scenario", {}),
    (WITH_A_TAIL, "not_a_scenario", {}),
    (sealed(zlib.compress(SMALL)), "not_a_scenario", {}),  # with a header: not raw deflate
    (sealed(pressed(b"")), "not_a_scenario", {}),
    (sealed(pressed(b"\xff\xfe{}")), "not_a_scenario", {}),
    (sealed(pressed(b"[" * 100_000 + b"]" * 100_000)), "not_a_scenario", {}),
    (sealed(pressed(SMALL.replace(b"[]", b"{}"))), "not_a_scenario", {}),
    (sealed(pressed(SMALL.replace(b"1", b'1,"version":1'))), "not_a_scenario", {}),
    (sealed(pressed(SMALL.replace(b"1", b'1,"start_step":1e999'))), "not_a_scenario", {}),
    (sealed(pressed(SMALL.replace(b"1", b'1,"steps":[null]'))), "not_a_scenario", {}),
    (sealed(pressed(b"null")), "not_a_scenario", {}),
    (sealed(pressed(b'"' + b" " * MAX_JSON_BYTES + b'"')), "too_large", {"limit": MAX_JSON_BYTES}),
    (sealed(BOMB), "too_large", {"limit": MAX_JSON_BYTES}),
    ("1" + "A" * 7_000_000, "too_large", {"limit": MAX_JSON_BYTES}),
]


@pytest.mark.parametrize(("text", "kind", "params"), DAMAGE, ids=[f"{n}-{kind}" for n, (_, kind, _) in enumerate(DAMAGE)])
def test_each_damage_has_its_own_sentence(text: str, kind: str, params: dict[str, Any]) -> None:
    assert refusal(text) == (kind, params)


def test_of_the_ways_to_write_the_same_bytes_one_is_taken() -> None:
    data = pressed(SMALL + b" ")
    assert len(data) % 3 != 0  # so that the last character has bits to spare
    body = sealed(data).partition("~")[0]
    stray = body[:-1] + ALPHABET_64[ALPHABET_64.index(body[-1]) + 1]
    assert base64.urlsafe_b64decode(stray[1:] + "==="[: -len(stray[1:]) % 4]) == data  # Python takes both
    assert refusal(f"{stray}~{checksum(stray)}")[0] == "not_canonical"
    lone = body + "A" * ((1 - len(body[1:])) % 4)
    assert len(lone[1:]) % 4 == 1
    assert refusal(f"{lone}~{checksum(lone)}")[0] == "not_canonical"


ALPHABET_64 = string.ascii_uppercase + string.ascii_lowercase + string.digits + "-_"


def test_a_bomb_is_not_unpacked_further_than_it_may_be() -> None:
    import tracemalloc

    link = sealed(BOMB)
    tracemalloc.start()
    refusal(link)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 32_000_000


def test_a_scenario_that_is_too_large_gets_no_link() -> None:
    with pytest.raises(ScenarioError) as caught:
        encode_link({**worked_example(), "description": "x" * MAX_JSON_BYTES})
    assert caught.value.faults[0].code == "link_too_large"


# ---- what mail and chat programs do

ADDRESS = f"https://example.org/pagewalk/?s={LINK}&step=1&stage=batch"
WRITTEN = [
    f"  {LINK}\n",
    f"({LINK})",
    f"<{LINK}>",
    f'"{LINK}"',
    f"{LINK}.",
    f"{LINK}),",
    f"{LINK}…",
    f"`{LINK}`",
    f"**{LINK}**",
    LINK.replace("~", "%7E"),
    LINK.replace("~", "%257E"),
    LINK.replace("~", r"\~").replace("_", r"\_"),
    f"{LINK[:70]}\r\n{LINK[70:140]}\r\n{LINK[140:]}",
    f"{LINK[:70]}\n> {LINK[70:140]}\n> {LINK[140:]}",
    f"{LINK[:70]} {LINK[70:]}",
    f"{LINK[:70]}\u200b{LINK[70:]}\ufeff",
    f"{LINK} shows it, ~ 3 blocks",
    ADDRESS,
    f"<a href='{ADDRESS.replace('&', '&amp;')}'>",
    f"look: {ADDRESS}, please",
    f"[One decode]({ADDRESS})",
    f"https://example.org/?step=1&s={LINK}#board",
    "https%3A%2F%2Fexample.org%2F%3Fs%3D" + LINK + "%26step%3D1",
]


@pytest.mark.parametrize("text", WRITTEN, ids=range(len(WRITTEN)))
def test_what_is_written_around_a_link_does_not_break_it(text: str) -> None:
    assert decode_link(text) == worked_example()


# ---- length


@pytest.mark.parametrize("name", TARGETS)
def test_links_are_as_short_as_they_are_to_be(name: str) -> None:
    target, scenario = TARGETS[name]
    assert len(link_of(scenario)) < target
