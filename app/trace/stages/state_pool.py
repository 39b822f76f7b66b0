"""State pool: rows that live as long as their request."""

from collections.abc import Sequence

from app.i18n import Translate
from app.pipeline.block_tables import BlockTable
from app.pipeline.request_state import RequestState
from app.pipeline.sampled_tokens import post_update
from app.trace.space import Case, Source, Space, Stage
from app.trace.stages.vllm import BLOCK_TABLE, INPUT_BATCH, STATES
from app.trace.step import StepTensors, array, ragged
from app.trace.words import listed

_ADDED = "row_status[req_state_idx] == 'added'"
_UNUSED = "row_status[req_state_idx] == 'unused'"
_RAN_BEFORE = "prev(find(idx_mapping, req_state_idx)) != None"


def _pool_space(
    name: str, mark: str, updated: Case | None = None, is_key: bool = False, added: Sequence[Case] = ()
) -> Space:
    """A count of the state pool: written when a request gets the row, else carried over from the step before."""
    return Space(
        name,
        ("req_state_idx",),
        "int32",
        "count",
        [
            Case("row.unused", when=_UNUSED, state="unused"),
            *added,
            Case(f"{name}.added", when=_ADDED),
            *([] if updated is None else [updated]),
            Case("row.initial", when=f"prev({name}[req_state_idx]) == None"),
            Case("row.carried", f"prev({name}[req_state_idx])"),
        ],
        Source(RequestState.apply_staged_writes, (mark,)),
        (STATES, "RequestState"),
        values=lambda step: array(getattr(step.record.pool, name)),
        is_key=is_key,
    )


def _row_status(step: StepTensors) -> list[str]:
    status = ["unused" if req_id is None else "freed" for req_id in step.row_req_ids]
    admitted = step.planned.admitted_req_ids
    for req_id, row in step.req_id_to_index.items():
        status[row] = "added" if req_id in admitted else "live"
    return status


def _sentence(step: StepTensors, translate: Translate) -> str:
    free = step.free_indices
    rows = sorted(step.req_id_to_index.items(), key=lambda item: -item[1])  # in the order in which rows are handed out
    parts = [translate("summary.pool.row", {"req_id": req_id, "row": str(row)}) for req_id, row in rows]
    next_row = translate("summary.pool.next", {"n": len(free), "row": str(free[-1])}) if free else ""
    next_row = next_row or translate("summary.pool.full", {})
    return translate("summary.pool", {"rows": listed(parts, translate), "next": next_row}) if parts else next_row


STATE_POOL = Stage(
    "state-pool",
    sentence=_sentence,
    tier=0,
    elements=("num_computed_tokens", "req_state_idx"),
    asks="idx_mapping",
    needs_batch=False,
    spaces=[
        Space(
            "row_req_ids",
            ("req_state_idx",),
            "str",
            "text",
            [Case("row.unused", when=_UNUSED, state="unused"), Case("row_req_ids")],
            Source(RequestState.add_request, ("req_id_to_index[req_id]",)),
            (STATES, "RequestState.add_request"),
            holds="req_id",
            values=lambda step: list(step.row_req_ids),
            is_own=True,
        ),
        Space(
            "row_status",
            ("req_state_idx",),
            "str",
            "text",
            [
                Case("row.unused", when=_UNUSED, state="unused"),
                Case("row_status.added", when=_ADDED),
                Case("row_status.live", when="row_status[req_state_idx] == 'live'"),
                Case("row_status.freed", state="freed"),
            ],
            Source(RequestState.remove_request, ("free_indices.append",)),
            (STATES, "RequestState.remove_request"),
            values=_row_status,
            is_own=True,
        ),
        _pool_space("prompt_len", "self.prompt_len["),
        _pool_space("prefill_len", "self.prefill_len["),
        _pool_space(
            "total_len",
            "self.total_len[",
            Case("row.updated", "prev(total_len_after[find(idx_mapping, req_state_idx)])", when=_RAN_BEFORE),
        ),
        _pool_space(
            "num_computed_tokens",
            "self.num_computed_tokens[",
            Case("row.updated", "prev(num_computed_tokens_after[find(idx_mapping, req_state_idx)])", when=_RAN_BEFORE),
            is_key=True,
            added=[
                Case(
                    "num_computed_tokens.inside_block",
                    when=f"{_ADDED} and num_computed_tokens[req_state_idx] % lcm_block_size != 0",
                )
            ],
        ),
        Space(
            "last_sampled_tokens",
            ("req_state_idx",),
            "int32",
            "id",
            [
                Case("row.unused", when=_UNUSED, state="unused"),
                Case(
                    "last_sampled_tokens.added",
                    "all_token_ids[req_state_idx, num_computed_tokens[req_state_idx] - 1]",
                    when=f"{_ADDED} and num_computed_tokens[req_state_idx] > 0",
                ),
                Case("last_sampled_tokens.stale", when=_ADDED, state="stale"),
                Case(
                    "last_sampled_tokens.updated",
                    "prev(sampled_token_ids[find(idx_mapping, req_state_idx),"
                    " num_sampled[find(idx_mapping, req_state_idx)] - 1])",
                    when=f"{_RAN_BEFORE} and prev(num_sampled[find(idx_mapping, req_state_idx)]) > 0",
                ),
                Case("last_sampled_tokens.initial", when="prev(last_sampled_tokens[req_state_idx]) == None"),
                Case("row.carried", "prev(last_sampled_tokens[req_state_idx])"),
            ],
            Source(post_update, ("last_sampled_tokens[",)),
            (INPUT_BATCH, "_post_update_kernel"),
            values=lambda step: array(step.record.pool.last_sampled_tokens),
        ),
        Space(
            "draft_tokens",
            ("req_state_idx", "draft_idx"),
            "int32",
            "id",
            [
                Case("draft_tokens.unknown", when="draft_tokens[req_state_idx, draft_idx] == -1", state="unknown"),
                Case("draft_tokens"),
            ],
            Source(RequestState.set_draft_tokens, ("self.draft_tokens[",)),
            (STATES, "RequestState.draft_tokens"),
            exactness="simplified",
            values=lambda step: array(step.record.pool.draft_tokens),
            exists=lambda step: bool(step.record.pool.draft_tokens.shape[1]),
        ),
        Space(
            "num_blocks",
            ("group", "req_state_idx"),
            "int32",
            "count",
            [
                Case("row.unused", when=_UNUSED, state="unused"),
                Case("num_blocks.added", when=_ADDED),
                Case("row.initial", when="prev(num_blocks[group, req_state_idx]) == None"),
                Case(
                    "row.carried",
                    "prev(num_blocks[group, req_state_idx])",
                    when="value == prev(num_blocks[group, req_state_idx])",
                ),
                Case("num_blocks.appended"),
            ],
            Source(BlockTable.apply_staged_writes, ("self.num_blocks[req_state_idx]",)),
            (BLOCK_TABLE, "BlockTables.append_block_ids"),
            values=lambda step: [array(table.num_blocks) for table in step.tables],
        ),
        Space(
            "block_tables",
            ("group", "req_state_idx", "block_index"),
            "int32",
            "id",
            [
                Case("block_tables.freed", when="row_status[req_state_idx] == 'freed'", state="freed"),
                Case("block_tables.stale", when="block_index >= num_blocks[group, req_state_idx]", state="stale"),
                Case("block_tables.unknown", when="value == None", state="unknown"),
                Case("block_tables.null", when="value == 0", state="null"),
                Case("block_tables.added", when=_ADDED),
                Case("block_tables.initial", when="prev(num_blocks[group, req_state_idx]) == None"),
                Case(
                    "block_tables.carried",
                    "prev(block_tables[group, req_state_idx, block_index])",
                    when="block_index < prev(num_blocks[group, req_state_idx])",
                ),
                Case("block_tables.appended"),
            ],
            Source(BlockTable.apply_staged_writes, ("self.block_table.view(-1)[",)),
            (BLOCK_TABLE, "BlockTables.apply_staged_writes"),
            holds="block_id",
            values=lambda step: [ragged(table.block_table) for table in step.tables],
            is_key=True,
        ),
    ],
)
