"""Rules that stand both in Python and in the page's scripts: what the two make of anything is the same.

The others have tests of their own: links (`scenario/test_link_twins.py`), texts (`scenario/test_text_twins.py`), how cells
follow from cells (`trace/test_links.py`), the walk over a draft (`test_draft_walk.py`). What the page can read off an
answer of the server, it reads: the format of scenarios, stages, spaces, the glossary.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from starlette.datastructures import QueryParams

from app.i18n import LANGUAGES, catalogue, fill, translate, translator
from app.scenario.format.outline import has_outline
from app.scenario.format.parse import MAX_BODY_BYTES, MAX_DEPTH, MAX_KEY_LENGTH
from app.scenario.format.parse_yaml import MAX_YAML_BYTES
from app.trace.words import runs
from app.web.identity import identities, seen
from app.web.links.asked import asked_scenario
from tests.scenario.test_link_twins import generated
from tests.strategies import valid_scenarios

SCRIPT = Path(__file__).parent / "js" / "twins.mjs"
NAMES = [
    "A",
    "B",
    "a",
    "10",
    "007",
    "chat-1",
    "名字",
    "é",
    "😀",
    "👩\u200d🚀",
    "",
    " ",
    "  ",
    " A",
    "A\t",
    "a b",
    "\u00a0",
    "\u200b",
]
NAMES += [
    "\u2800",
    "\u3164x",
    "\ufeff",
    "x\u2028",
    "\x1c",
    "\x85",
    "\x1f ",
    "\u180e",
    "\u061c",
    "שלום",
    "__proto__",
    "e\u0301",
    "\U000e0001",
]


def page(lines: Iterable[dict[str, Any]]) -> list[Any]:
    """What the page's scripts answer to each line."""
    executable = shutil.which("node")
    assert executable, "node is needed: it runs the page's scripts"
    text = "".join(json.dumps(line) + "\n" for line in lines)
    run = subprocess.run([executable, str(SCRIPT)], input=text, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stderr
    return [json.loads(line) for line in run.stdout.split("\n") if line]


def test_every_sentence_is_filled_in_alike() -> None:
    """With numbers on both sides of what is grouped, one thing and several, what is not known, and names of all kinds."""
    chance = random.Random(1)
    values = [0, 1, 2, 999, 1000, 4096, 9999, 10_000, 847_872, -9999, -10_000, 2**31, 2**53 - 1, None, "A", "שלום", "1", ""]
    cases = []
    for language in LANGUAGES:
        sentences = catalogue(language)
        for key in sentences:
            names = {name for part in sentences[key].split("{")[1:] for name in [part.split("}")[0].split(":")[0]]}
            params = {name: chance.choice(values) for name in sorted(names | {"n", "value"}) if chance.random() < 0.9}
            cases.append((language, key, params))
    asked = (
        {"say": {"text": catalogue(language)[key], "one": catalogue(language).get(f"{key}.one"), "params": params}}
        for language, key, params in cases
    )
    for (language, key, params), said in zip(cases, page(asked), strict=True):
        assert said == translate(language, key, params), (key, params)


def test_every_name_that_turns_the_order_is_kept_to_itself_alike() -> None:
    chance = random.Random(5)
    turning = "A1 \u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2069ש\U0001e900😀"
    names = ["".join(chance.choices(turning, k=chance.randint(1, 8))) for _ in range(500)]
    for first, end in ((0x580, 0x920), (0x2000, 0x2070), (0xFB00, 0xFF00), (0x107F0, 0x11010), (0x1E7F0, 0x1F010)):
        names += [f"{chr(code)}1" for code in range(first, end)]
    said = page({"say": {"text": "{name}, 2", "one": None, "params": {"name": name}}} for name in names)
    assert [name for name, one in zip(names, said, strict=True) if one != fill("{name}, 2", {"name": name})] == []


def test_runs_of_numbers_are_written_alike() -> None:
    chance = random.Random(2)
    cases = [[], [5], [207, 704, 705, 706, 711], [1, 3, 5, 7, 9], [0, 1]]
    cases += [sorted(chance.sample(range(40), chance.randint(0, 30))) for _ in range(300)]
    cases += [[chance.randint(-1, 4) for _ in range(chance.randint(0, 9))] for _ in range(300)]
    for language in LANGUAGES:
        say = translator(language)
        asked = [{"runs": {"numbers": numbers, "separator": say("list.separator", {})}} for numbers in cases]
        for numbers, written in zip(cases, page(asked), strict=True):
            assert written == runs(numbers, say), numbers


def test_requests_look_alike() -> None:
    chance = random.Random(3)
    cases = [chance.sample(NAMES, chance.randint(1, len(NAMES))) for _ in range(100)]
    cases.append([f"request-{number}" for number in range(140)])
    cases.append([chr(65 + number) for number in range(26)] + [f"more {number}" for number in range(60)])
    for names, looks in zip(cases, page({"identities": names} for names in cases), strict=True):
        ours = [
            [name, {"letter": one.letter, "colour": one.colour, "hatch": one.hatch}]
            for name, one in identities(names).items()
        ]
        assert looks == ours


def test_every_name_is_shown_alike() -> None:
    """Each character by itself, between others, and in front of and behind one."""
    characters = [chr(code) for code in range(0x3200) if not 0xD800 <= code < 0xE000] + NAMES
    names = [name for one in characters for name in (one, f"x{one}x", f"{one}x", f"x{one}")]
    shown = page({"seen": name} for name in names)
    assert [name for name, one in zip(names, shown, strict=True) if one != seen(name)] == []


def test_what_can_be_drawn_is_told_alike() -> None:
    """Scenarios with one thing in them that is not what it should be."""
    chance = random.Random(4)
    odd = [
        None,
        True,
        0,
        1,
        -1,
        1.5,
        "A",
        "",
        [],
        {},
        [[]],
        [["A"]],
        [["A", 1]],
        [[1, 1]],
        [["A", 1, 2]],
        ["A"],
        [1],
        {"A": 1},
    ]

    def spoiled(node: Any) -> Any:
        if not isinstance(node, dict | list) or not node or chance.random() < 0.25:
            return chance.choice(odd)
        place = chance.choice(list(node) if isinstance(node, dict) else range(len(node)))
        changed = dict(node) if isinstance(node, dict) else list(node)
        if isinstance(changed, dict) and chance.random() < 0.15:
            del changed[place]
        else:
            changed[place] = spoiled(changed[place])
        return changed

    scenarios = generated(60, valid_scenarios())
    fields = ("finished_req_ids", "new_block_ids", "num_computed_tokens", "draft_token_ids", "sampled_token_ids")
    documents = [*scenarios, *odd]
    for _ in range(2_000):
        document = dict(chance.choice(scenarios)) | {"title": "x", "start_step": 0, "config": {"kv_cache_groups": [{}]}}
        document["steps"] = [*document["steps"], {chance.choice(fields): chance.choice(odd)}]
        documents.append(spoiled(document))
    found = page({"outline": document} for document in documents)
    assert [document for document, is_one in zip(documents, found, strict=True) if is_one != has_outline(document)] == []
    assert 200 < sum(found) < len(found) - 200


def test_texts_have_the_same_limits() -> None:
    limits = {"json": MAX_BODY_BYTES, "yaml": MAX_YAML_BYTES, "depth": MAX_DEPTH, "key": MAX_KEY_LENGTH}
    assert page([{"limits": None}]) == [limits]


def test_addresses_name_the_same_scenario() -> None:
    names = [
        "s",
        "S",
        "amp;s",
        "example",
        "EXAMPLE",
        "amp;example",
        "amp;amp;Example",
        "examples",
        "step",
        "lang",
        "LANG",
        "x",
    ]
    texts = ["worked-example", "", "groups", "1abc~xxxxxx", "1%7E", "en", "zh", "de", "a+b", "%20x", "%E5%90%8D"]
    chance = random.Random(5)
    searches = [
        "&".join(f"{chance.choice(names)}={chance.choice(texts)}" for _ in range(chance.randint(0, 4))) for _ in range(600)
    ]
    for search, read in zip(searches, page({"address": search} for search in searches), strict=True):
        asked = asked_scenario(QueryParams(search), "en")
        kind = "link" if read["s"] is not None else "example" if read["example"] else "default"
        name = read["s"] if kind == "link" else read["example"] if kind == "example" else "worked-example"
        if (asked.kind, asked.name) != (kind, name):
            # A name that none of the gallery can have is left out by the page, which says so.
            assert (asked.kind, kind, asked.status) == ("example", "default", 404), search
