"""The gallery: every example runs clean, and the numbers its text claims are the numbers it gives."""

from typing import Any

import pytest
import torch

from app.examples import examples
from app.i18n import LANGUAGES, translator
from app.scenario import load_plan
from app.trace.trace import trace_scenario


def steps_of(name: str) -> list[dict[str, Any]]:
    scenario = examples()[name].scenario
    steps = trace_scenario(load_plan(scenario), torch.device("cpu"), translator("en"))["steps"]
    return [{**step, **{space: of["values"] for space, of in step["spaces"].items()}} for step in steps]


@pytest.mark.parametrize("name", examples())
def test_runs_to_its_end_with_every_check_holding(name: str) -> None:
    example = examples()[name]
    for language in LANGUAGES:
        assert all(example.describe(language).values())
    steps = steps_of(name)
    assert len(steps) == len(example.scenario["steps"])
    assert [check["name"] for step in steps for check in step["checks"] if not check["holds"]] == []


def test_every_language_tells_the_same_of_an_example() -> None:
    for example in examples().values():
        assert example.scenario_in("zh")["steps"] is example.scenario["steps"]
        english, chinese = (example.describe(language)["description"] for language in ("en", "zh"))
        assert any("\u4e00" <= character <= "\u9fff" for character in chinese)
        # A question that the reader is left with, in both.
        assert english.endswith("?") and chinese.endswith("？")
    groups = [[example.describe(language)["group"] for example in examples().values()] for language in LANGUAGES]
    assert len(set(groups[0])) == len(set(groups[1])) == len(set(zip(*groups, strict=True)))


def test_worked_example() -> None:
    step = steps_of("worked-example")[1]
    assert step["idx_mapping"] == [7, 6]
    assert step["query_start_loc"] == [0, 1, 9]
    assert step["positions"] == [31, *range(16, 24)]
    assert step["seq_lens"] == [32, 24]
    assert step["input_ids"] == [1031, *range(2016, 2024)]
    assert step["slot_mappings"] == [[207, *range(704, 712)]]  # 12 * 16 + 15, 44 * 16 + 0..7
    assert step["slot_byte_offsets"][0][0] == 847_872  # 207 * 4,096


def test_chunked_prefill() -> None:
    steps = steps_of("chunked-prefill-and-a-new-block")
    # D: 30 computed, one token a step from position 30 on, so position 32 comes in step 3.
    step = steps[3]
    token = step["positions"].index(32)
    assert step["req_ids"][step["token_batch_idx"][token]] == "D"
    assert step["block_indices"][0][token] == 2  # 32 // 16: the third block
    appended = [event["req_id"] for event in step["events"] if event["kind"] == "append_block_ids"]
    assert "D" in appended
    assert [dict(zip(step["req_ids"], step["num_sampled"], strict=True)).get("C") for step in steps] == [None, 0, 0, 1, 1]


def test_recycled_row() -> None:
    before, after, _ = steps_of("a-row-is-recycled")
    row = before["req_id_to_index"]["F"]
    assert after["req_id_to_index"]["G"] == row
    f_blocks, g_row = before["block_tables"][0][row], after["block_tables"][0][row]
    assert len(f_blocks) == 3 and after["num_blocks"][0][row] == 1  # 40 tokens, then 12
    assert g_row == [f_blocks[2], f_blocks[1], f_blocks[2]]  # the last block first; behind it what F left


def test_two_groups_drafts_padding_preemption() -> None:
    steps = steps_of("two-groups-drafts-padding-preemption")
    padded = steps[2]
    assert (padded["num_tokens"], padded["num_tokens_padded"], padded["num_reqs"], padded["num_reqs_padded"]) == (6, 9, 2, 3)
    assert padded["slot_mappings"][0][6:] == [-1, -1, -1] and padded["input_block_tables"][0][2] == []
    assert dict(zip(padded["req_ids"], padded["num_rejected"], strict=True)) == {"Q": 0, "P": 1}
    # P's rejected draft stood at position 39; step 3 runs position 39 again, in the same slot.
    rewritten = [
        step["slot_mappings"][0][token]
        for step in steps[2:4]
        for token, position in enumerate(step["positions"])
        if position == 39 and step["req_ids"][step["token_batch_idx"][token]] == "P"
    ]
    assert len(rewritten) == 2 and rewritten[0] == rewritten[1]
    back = steps[5]
    row = back["req_id_to_index"]["P"]
    # Its 37 prompt tokens, the one sampled in step 1, two in step 2 and one in step 3.
    assert (back["prompt_len"][row], back["prefill_len"][row]) == (37, 41)
    null_blocks = [column for column in steps[3]["input_block_tables"][1][1] if column == 0]
    assert null_blocks


def test_context_parallel() -> None:
    step = steps_of("context-parallel-rank-1-of-2")[1]
    batch_idx = step["req_ids"].index("V")
    # 26 tokens: rank 1 has 4..7, 12..15, 20..23, and of the last round 24, 25 belong to rank 0.
    assert step["seq_lens"][batch_idx] == 26 and step["dcp_local_seq_lens"][batch_idx] == 12
    local = [position for position, is_local in zip(step["positions"], step["is_local"], strict=True) if is_local]
    assert set(local) <= {*range(4, 8), *range(12, 16), *range(20, 24)}


def test_256_requests() -> None:
    step = steps_of("256-requests")[0]
    assert (step["num_reqs"], step["num_tokens"]) == (256, 16_384)
    assert step["num_scheduled_tokens"][:200] == [1] * 200
    assert step["num_scheduled_tokens"][200] > 1
