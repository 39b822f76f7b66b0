"""Reads the recordings of vLLM 0.33.0's kernels and puts a step of ours into their form.

for recording in load():
    for index, expected in enumerate(recording.expected):
        ...
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
NAMED = HERE / "vllm-0.33.0-named.jsonl"
RANDOM = HERE / "vllm-0.33.0-random.jsonl.gz"

# Keys of a recorded step that are looked up under the same name, first in the step itself, then among its spaces.
STEP_KEYS = ("req_ids", "req_id_to_index", "free_indices", "cudagraph_mode", "num_reqs_padded", "num_tokens_padded")
SPACE_KEYS = (
    "num_scheduled_tokens",
    "idx_mapping",
    "is_prefilling",
    "query_start_loc",
    "seq_lens",
    "dcp_local_seq_lens",
    "positions",
    "input_ids",
    "cu_num_logits",
    "logits_indices",
    "expanded_idx_mapping",
    "expanded_local_pos",
    "slot_mappings",
    "num_sampled",
    "num_rejected",
    "num_blocks",
)
TRIMMED_KEYS = ("block_tables", "input_block_tables")  # trailing zeros of each row are not recorded
POOL_KEYS = ("prompt_len", "prefill_len", "total_len", "num_computed_tokens")
DERIVED_KEYS = ("pool", "num_computed_tokens", "num_computed_tokens_after")


@dataclass(frozen=True)
class Recording:
    """One scenario and what vLLM computed in each of its engine steps."""

    name: str
    scenario: dict[str, Any]
    expected: list[dict[str, Any]]


@cache
def load() -> tuple[Recording, ...]:
    """Every recording, the 18 named ones first. Do not change what it returns: it is read once."""
    lines = NAMED.read_text("utf-8").splitlines() + gzip.decompress(RANDOM.read_bytes()).decode("utf-8").splitlines()
    records = [json.loads(line) for line in lines if line.strip()]
    return tuple(Recording(r["scenario"]["title"], r["scenario"], r["expected"]) for r in records)


def trimmed(row: list[Any]) -> list[Any]:
    """A table row without the zeros at its end."""
    end = len(row)
    while end and row[end - 1] == 0:
        end -= 1
    return row[:end]


def as_recorded(step: dict[str, Any], spaces: dict[str, Any], keys: set[str]) -> dict[str, Any]:
    """The recorded form of a trace step, for the `keys` that the recording has.

    `step` holds `req_ids`, `req_id_to_index`, ...; `spaces` maps a space's name to its nested lists of values.
    A key that neither holds is left out, so the comparison sees that it is missing.
    """
    ours: dict[str, Any] = {}
    for key in STEP_KEYS:
        if key in keys and key in step:
            ours[key] = step[key]
    for key in SPACE_KEYS:
        if key in keys and key in spaces:
            ours[key] = spaces[key]
    for key in TRIMMED_KEYS:
        if key in keys and key in spaces:
            ours[key] = [[trimmed(row) for row in rows] for rows in spaces[key]]
    row_of = step["req_id_to_index"]
    if "pool" in keys:
        ours["pool"] = {
            req_id: {"req_state_idx": row, **{key: spaces[key][row] for key in POOL_KEYS}} for req_id, row in row_of.items()
        }
    if "num_computed_tokens" in keys:
        ours["num_computed_tokens"] = {req_id: spaces["num_computed_tokens"][row_of[req_id]] for req_id in step["req_ids"]}
    if "num_computed_tokens_after" in keys:
        ours["num_computed_tokens_after"] = dict(zip(step["req_ids"], spaces["num_computed_tokens_after"], strict=True))
    return ours
