"""Along what tables are drawn: which dims count the same things, which run across, who stands in front of an entry."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Axis:
    """One dim of spaces."""

    along: str  # the axis it is drawn along: the dim itself, or the one that it is longer than by padding
    letter: str  # its short name in formulas on paper
    is_across: bool = False  # entries are columns (tokens), not rows (requests)
    tag: str | None = None  # the space that names each entry's request; it is no line of its own

    def describe(self) -> dict[str, Any]:
        return {"axis": self.along, "across": self.is_across, "tag": self.tag, "letter": self.letter}


_AXES = {
    "group": Axis("group", "g"),
    "schedule_idx": Axis("schedule_idx", "i", tag="schedule_req_ids"),
    "req_state_idx": Axis("req_state_idx", "r", tag="row_req_ids"),
    "batch_idx": Axis("batch_idx", "b"),
    "batch_idx_padded": Axis("batch_idx", "b"),
    "batch_boundary": Axis("batch_boundary", "b", is_across=True),
    "flat_token_idx": Axis("flat_token_idx", "t", is_across=True),
    "flat_token_idx_padded": Axis("flat_token_idx", "t", is_across=True),
    "logits_boundary": Axis("logits_boundary", "b", is_across=True),
    "logit_idx": Axis("logit_idx", "l", is_across=True),
    "block_index": Axis("block_index", "c"),
    "kv_block_idx": Axis("kv_block_idx", "k"),
    "stale_block_idx": Axis("stale_block_idx", "k"),
}


def axis(dim: str) -> Axis:
    """The axis of a dim; one that nothing is said of is drawn along itself, as rows, under its own name."""
    return _AXES.get(dim, Axis(dim, dim))
