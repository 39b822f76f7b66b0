"""What is declared of stages and spaces, and what follows from it: sentences, worksheets, the order of the pipeline."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import torch

from app.examples import examples
from app.i18n import LANGUAGES, Language, catalogue, translator
from app.scenario import load_plan
from app.trace.axes import axis
from app.trace.expressions import compile_expression, spaces_read
from app.trace.schema import SPACES, STAGE_OF, STAGES, describe, worksheet_blanks
from app.trace.trace import trace_scenario

SENTENCES = {  # of step 1 of the worked example: B runs 1 token, A runs 8
    "schedule": "9 tokens of 2 requests",
    "state-pool": "B has row 7, A has row 6; 6 rows are free, 5 is next",
    "batch": "B is row 0, A is row 1",
    "flatten": "one sequence of 9 tokens: 1 of B, 8 of A",
    "block-tables": "the block ids of 2 rows, gathered for reading",
    "slot-mapping": "9 slots to write: 207, 704–711",
    "kv-cache": "4 blocks in use, 2 written in this step",
    "update": "computed after the step: B 32, A 24",
}


def trace(name: str, language: Language = "en") -> dict[str, Any]:
    return trace_scenario(load_plan(examples()[name].scenario_in(language)), torch.device("cpu"), translator(language))


def test_a_stage_says_what_it_did_in_a_step() -> None:
    assert SENTENCES.items() <= trace("worked-example")["steps"][1]["sentences"].items()


def test_numbers_are_listed_as_the_language_lists_them() -> None:
    said = trace("worked-example", "zh")["steps"][1]["sentences"]["slot-mapping"]
    assert said.endswith("207、704–711")
    several = trace("two-groups-two-block-sizes", "zh")["steps"][-1]["sentences"]["slot-mapping"]
    assert "；" in several
    assert not re.search("[,;] ", several)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_stage_says_something_in_every_language(language: Language) -> None:
    for step in trace("two-groups-drafts-padding-preemption", language)["steps"]:
        said = [stage.name for stage in STAGES if step["num_reqs"] or not stage.needs_batch]
        assert list(step["sentences"]) == said
        assert all(step["sentences"].values())


def test_each_group_is_told() -> None:
    """One token in groups of block size 16 and 4: the sentence names a slot of either."""
    said = trace("two-groups-two-block-sizes")["steps"][-1]
    slots = [[slot for slot in group if slot >= 0] for group in said["spaces"]["slot_mappings"]["values"]]
    assert len(slots) == 2
    assert all(str(group[0]) in said["sentences"]["slot-mapping"] for group in slots)


def test_a_worksheet_leaves_blank_what_would_tell_an_answer() -> None:
    blank = worksheet_blanks()
    assert {space.name for space in SPACES if space.is_answer} <= blank
    told = {
        "is_local",  # a flag made of positions
        "input_ids",  # ids that nobody gave are named by their positions
        "logits_indices",  # made of query_start_loc
        "block_indices",
        "block_offsets",
        "block_numbers",
        "token_source",  # made of seq_lens and prefill_len, and says what is_prefilling does
        "num_rejected",  # what num_computed_tokens_after is made of
        "kv_block_num_written",  # made of seq_lens
    }
    assert told <= blank
    given = {"schedule_num_tokens", "num_scheduled_tokens", "num_computed_tokens", "block_tables", "sampled_token_ids"}
    assert not given & blank
    assert not {name for name in blank if STAGE_OF[name] in ("schedule", "state-pool")}


def test_what_an_expression_reads() -> None:
    tree = compile_expression("a[b[x]] + control(c[x]) + prev(d[x]) + find(e, f[x])")
    assert spaces_read([tree]) == {"a", "b", "e", "f"}
    assert spaces_read([tree], with_indices=False) == {"a", "e", "f"}


def test_declarations_are_whole() -> None:
    """Every stage and every case has its sentences; what a stage steps through and asks is a space with that axis."""
    spaces = {space.name: space for space in SPACES}
    assert len(spaces) == len(SPACES), "two spaces of one name"
    for stage in STAGES:
        for language in LANGUAGES:
            wanted = {f"stage.{stage.name}", f"stage.{stage.name}.what", f"stage.{stage.name}.why"}
            wanted |= {f"note.{case.note}" for space in stage.spaces for case in space.cases}
            assert not wanted - catalogue(language).keys(), (stage.name, language)
        if stage.elements is not None:
            name, counted_by = stage.elements
            along = {axis(dim).along for dim in spaces[name].dims}
            assert axis(counted_by).along in along, stage.name
        assert stage.asks is None or stage.asks in spaces, stage.name
    assert [stage["name"] for stage in describe()["stages"]] == list(dict.fromkeys(STAGE_OF.values()))


def test_the_front_end_knows_stages_from_declarations_alone() -> None:
    """No script and no style sheet names a stage, but those that draw more of one than its tables."""
    root = Path(__file__).resolve().parents[2] / "static"
    more = ("js/ui/board/panels.js", "js/ui/board/mapping-lines.js", "js/ui/schedule/")
    words = "js/core/find/query.js"  # what somebody may type: "batch row 3"
    name = re.compile(rf"""["'`]({"|".join(stage.name for stage in STAGES)})["'`]""")
    for path in sorted([*root.glob("js/**/*.js"), *root.glob("css/**/*.css")]):
        place = path.relative_to(root).as_posix()
        if not place.startswith((*more, words)):
            code = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
            assert not name.search(code), f"{place} names {name.search(code)}"
