"""The recipes of CONTRIBUTING.md, followed in a copy of the app: a tensor, a stage of three tensors, a third language.

Nothing outside `app/` is touched there, and everything that a reader or a program meets knows what was added.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent

# A tensor: what the pipeline computes, and its declaration.
COMPUTED = '''
    @property
    def is_first_in_block(self) -> Tensor:
        """Whether the token opens its block, on the rank that holds it. [num_tokens] bool"""
        return self.block_offsets == 0  # [num_tokens]
'''
DECLARED = """
        Space(
            "is_first_in_block",
            ("group", "flat_token_idx"),
            "bool",
            "flag",
            [
                _NOT_LOCAL,
                Case("is_first_in_block", "block_offsets[group, flat_token_idx] == 0"),
            ],
            Source(GroupSlots.is_first_in_block.fget, ("return self",)),
            None,
            values=lambda step: [masked(slots.is_first_in_block, ~slots.is_local) for slots in step.slots],
        ),
"""
SPACE_TEXTS = {
    "note.is_first_in_block": "Whether the token at position {position} opens its block.",
    "glossary.is_first_in_block.definition": "True for a token at offset 0 of its block.",
}

# A stage of three tensors, behind the others.
STAGE = '''"""Mix: made up for a test."""

from app.pipeline.slot_mapping import compute_slot_mapping
from app.trace.space import Case, Source, Space, Stage
from app.trace.step import array

_SOURCE = Source(compute_slot_mapping, ("slot_ids = ",))

MIX = Stage(
    "mix",
    sentence=lambda step, translate: translate("summary.mix", {"n": step.batch.num_tokens}),
    tier=4,
    elements=("mix_double", "flat_token_idx"),
    asks="mix_double",
    spaces=[
        Space(
            "mix_double",
            ("flat_token_idx",),
            "int64",
            "count",
            [Case("mix_double", "2 * positions[flat_token_idx]")],
            _SOURCE,
            None,
            values=lambda step: array(2 * step.flat.positions),
            is_key=True,
            is_answer=True,
        ),
        Space(
            "mix_is_even",
            ("flat_token_idx",),
            "bool",
            "flag",
            [Case("mix_is_even", "mix_double[flat_token_idx] % 4 == 0")],
            _SOURCE,
            None,
            values=lambda step: array(step.flat.positions % 2 == 0),
        ),
        Space(
            "mix_len",
            ("batch_idx",),
            "int32",
            "count",
            [Case("mix_len", "num_scheduled_tokens[batch_idx]")],
            _SOURCE,
            None,
            values=lambda step: array(step.batch.num_scheduled_tokens),
        ),
    ],
)
'''
STAGE_TEXTS = {
    **{f"note.{name}": "Mixed." for name in ("mix_double", "mix_is_even", "mix_len")},
    **{f"glossary.{name}.definition": "Mixed." for name in ("mix", "mix_double", "mix_is_even", "mix_len")},
    "stage.mix": "Mix",
    "stage.mix.what": "Mixes.",
    "stage.mix.why": "For a test.",
    "summary.mix": "{n} tokens mixed",
}

# Every way in which a reader or a program meets them.
ASK = """
import json
from fastapi.testclient import TestClient
from app.i18n import LANGUAGES
from app.main import create_app
from app.settings import Settings

with TestClient(create_app(Settings(links=False)), headers={"Accept": "text/html, */*"}) as client:
    paths = ("/?lang=xx", "/handout?lang=xx", "/handout?answers=0", "/nowhere?lang=xx", "/")
    example = client.get("/api/examples/worked-example").json()
    one_rank = client.get("/api/examples/context-parallel-rank-1-of-2").json()
    answers = {
        "languages": LANGUAGES,
        "pages": {path: [(answer := client.get(path)).status_code, answer.text] for path in paths},
        "schema": client.get("/api/spaces").json(),
        "glossary": client.get("/api/glossary").json()["terms"],
        "glossary_xx": client.get("/api/glossary?lang=xx").json()["terms"],
        "examples_xx": client.get("/api/examples?lang=xx").json(),
        "step": client.post("/api/trace?first=1", json=example).json()["steps"][0],
        "step_of_rank": client.post("/api/trace?first=0&last=0", json=one_rank).json()["steps"][0],
        "step_xx": client.post("/api/trace?first=1&lang=xx", json=example).json()["steps"][0],
        "fault_xx": client.post("/api/trace?lang=xx", json={}).json()["errors"][0]["message"],
    }
print(json.dumps(answers))
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the app answers once all recipes are followed."""
    copy = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "app", copy / "app", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in ("static", "templates"):
        (copy / folder).symlink_to(ROOT / folder)

    insert(copy / "app/pipeline/slot_mapping.py", "    slot_ids: Tensor\n", COMPUTED)
    insert(copy / "app/trace/stages/slot_mapping.py", "    spaces=[\n", DECLARED.removeprefix("\n"))
    insert(copy / "app/trace/stages/slot_mapping.py", "from app.pipeline.slot_mapping import (\n", "    GroupSlots,\n")
    (copy / "app/trace/stages/mix.py").write_text(STAGE, encoding="utf-8")
    insert(
        copy / "app/trace/schema.py",
        "from app.trace.stages.kv_cache import KV_CACHE\n",
        "from app.trace.stages.mix import MIX\n",
    )
    insert(copy / "app/trace/schema.py", "KV_CACHE, UPDATE", ", MIX")

    locales = copy / "app/locales"
    for path in sorted(locales.glob("*.json")):
        said = json.loads(path.read_text(encoding="utf-8")) | SPACE_TEXTS | STAGE_TEXTS
        path.write_text(json.dumps(said), encoding="utf-8")
    english = json.loads((locales / "en.json").read_text(encoding="utf-8"))
    codes = {"language.name": "Bracketed", "language.tag": "x-xx", "language.locale": "xx_XX"}
    bracketed = {key: codes.get(key, f"[{text}]") for key, text in english.items()}
    (locales / "xx.json").write_text(json.dumps(bracketed), encoding="utf-8")

    made = subprocess.run([sys.executable, "-c", ASK], cwd=copy, capture_output=True, text=True, timeout=200)
    assert made.returncode == 0, made.stderr
    found: dict[str, Any] = json.loads(made.stdout.splitlines()[-1])
    return found


def insert(path: Path, after: str, text: str) -> None:
    """Put text behind the one place where a line stands."""
    before = path.read_text(encoding="utf-8")
    assert before.count(after) == 1, f"{path}: {after!r} stands there {before.count(after)} times"
    path.write_text(before.replace(after, after + text), encoding="utf-8")


def test_a_tensor(answers: dict[str, Any]) -> None:
    """B's token is at offset 15; A's eight are at offsets 0 to 7."""
    assert answers["step"]["spaces"]["is_first_in_block"]["values"] == [[False, True, *[False] * 7]]
    spaces = answers["step_of_rank"]["spaces"]
    is_local, offsets = spaces["is_local"]["values"], spaces["block_offsets"]["values"][0]
    of_rank = spaces["is_first_in_block"]["values"][0]
    assert of_rank == [offset == 0 if here else None for here, offset in zip(is_local, offsets, strict=True)]
    assert {True, False, None} == set(of_rank), "tokens of other ranks are not this one's to tell"
    assert answers["schema"]["spaces"]["is_first_in_block"]["stage"] == "slot-mapping"
    assert "is_first_in_block" in {term["term"] for term in answers["glossary"]}
    key, worksheet = (answers["pages"][path][1] for path in ("/handout?lang=xx", "/handout?answers=0"))
    assert 'data-cell="is_first_in_block.0.1"' in key
    assert 'data-cell="is_first_in_block.0.1"' in worksheet
    assert key.count("true") > worksheet.count("true"), "it follows from what a class works out, so it is blank"


def test_a_stage(answers: dict[str, Any]) -> None:
    assert answers["schema"]["stages"][-1] == {
        "name": "mix",
        "tier": 4,
        "elements": {"space": "mix_double", "axis": "flat_token_idx"},
        "asks": "mix_double",
    }
    assert answers["step"]["sentences"]["mix"] == "9 tokens mixed"
    assert answers["step"]["spaces"]["mix_double"]["values"] == [62, *range(32, 48, 2)]  # positions 31 and 16 to 23
    assert {"mix", "mix_double", "mix_is_even", "mix_len"} <= {term["term"] for term in answers["glossary"]}
    assert 'data-cell="mix_double.0"' in answers["pages"]["/handout?lang=xx"][1]


def test_a_third_language(answers: dict[str, Any]) -> None:
    assert answers["languages"] == ["en", "xx", "zh"]
    pages = answers["pages"]
    assert {path: status for path, (status, _) in pages.items()} == dict.fromkeys(pages, 200) | {"/nowhere?lang=xx": 404}
    for path in ("/?lang=xx", "/handout?lang=xx"):
        assert '<html lang="x-xx">' in pages[path][1], path
    assert "[Flatten]" in pages["/?lang=xx"][1]
    assert "[Flatten]" in pages["/handout?lang=xx"][1]
    assert "Bracketed" in pages["/"][1], "the other pages offer it"
    assert all(term["definition"].startswith("[") for term in answers["glossary_xx"])
    assert answers["examples_xx"][0]["title"] == "One decode, one prefill chunk", "examples fall back to English"
    assert answers["step_xx"]["sentences"]["batch"] == "[[B is row 0][, ][A is row 1]]"
    assert answers["fault_xx"].startswith("[")
