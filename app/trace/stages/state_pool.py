"""State pool: rows that live as long as their request."""

from app.pipeline.block_tables import BlockTable
from app.pipeline.request_state import RequestState
from app.pipeline.runner import Runner
from app.trace.space import Case, Source, Space
from app.trace.stages.vllm import BLOCK_TABLE, INPUT_BATCH, STATES

_ADDED = "row_status[req_state_idx] == 'added'"
_UNUSED = "row_status[req_state_idx] == 'unused'"
_RAN_BEFORE = "prev(find(idx_mapping, req_state_idx)) != None"


def _pool_space(name: str, note: str, mark: str, updated: Case | None = None, overwritten: bool = True) -> Space:
    """A tensor of the state pool: written when a request gets the row, else carried over from the step before."""
    cases = [Case("row.unused", when=_UNUSED)]
    if overwritten:
        cases.append(Case(note, when=_ADDED))
    if updated is not None:
        cases.append(updated)
    cases += [
        Case("row.initial", when=f"prev({name}[req_state_idx]) == None"),
        Case("row.carried", f"prev({name}[req_state_idx])"),
    ]
    source = Source(RequestState.apply_staged_writes, (mark,))
    return Space(name, ("req_state_idx",), "int32", "state-pool", cases, source, (STATES, "RequestState"))


STATE_POOL = [
    Space(
        "row_req_ids",
        ("req_state_idx",),
        "str",
        "state-pool",
        [Case("row.unused", when=_UNUSED), Case("row_req_ids")],
        Source(RequestState.add_request, ("req_id_to_index[req_id]",)),
        (STATES, "RequestState.add_request"),
        holds="req_id",
    ),
    Space(
        "row_status",
        ("req_state_idx",),
        "str",
        "state-pool",
        [
            Case("row.unused", when=_UNUSED),
            Case("row_status.added", when=_ADDED),
            Case("row_status.live", when="row_status[req_state_idx] == 'live'"),
            Case("row_status.freed"),
        ],
        Source(RequestState.remove_request, ("free_indices.append",)),
        (STATES, "RequestState.remove_request"),
    ),
    _pool_space("prompt_len", "prompt_len.added", "self.prompt_len["),
    _pool_space("prefill_len", "prefill_len.added", "self.prefill_len["),
    _pool_space(
        "total_len",
        "total_len.added",
        "self.total_len[",
        Case("row.updated", "prev(total_len_after[find(idx_mapping, req_state_idx)])", when=_RAN_BEFORE),
    ),
    _pool_space(
        "num_computed_tokens",
        "num_computed_tokens.added",
        "self.num_computed_tokens[",
        Case("row.updated", "prev(num_computed_tokens_after[find(idx_mapping, req_state_idx)])", when=_RAN_BEFORE),
    ),
    Space(
        "last_sampled_tokens",
        ("req_state_idx",),
        "int32",
        "state-pool",
        [
            Case("row.unused", when=_UNUSED),
            Case(
                "last_sampled_tokens.added",
                "all_token_ids[req_state_idx, num_computed_tokens[req_state_idx] - 1]",
                when=f"{_ADDED} and num_computed_tokens[req_state_idx] > 0",
            ),
            Case("last_sampled_tokens.stale", when=_ADDED),
            Case(
                "last_sampled_tokens.updated",
                "prev(sampled_token_ids[find(idx_mapping, req_state_idx),"
                " num_sampled[find(idx_mapping, req_state_idx)] - 1])",
                when=f"{_RAN_BEFORE} and prev(num_sampled[find(idx_mapping, req_state_idx)]) > 0",
            ),
            Case("last_sampled_tokens.initial", when="prev(last_sampled_tokens[req_state_idx]) == None"),
            Case("row.carried", "prev(last_sampled_tokens[req_state_idx])"),
        ],
        Source(Runner.post_update, ("last_sampled_tokens[",)),
        (INPUT_BATCH, "_post_update_kernel"),
    ),
    Space(
        "draft_tokens",
        ("req_state_idx", "draft_idx"),
        "int32",
        "state-pool",
        [Case("draft_tokens.unknown", when="draft_tokens[req_state_idx, draft_idx] == -1"), Case("draft_tokens")],
        Source(RequestState.set_draft_tokens, ("self.draft_tokens[",)),
        (STATES, "RequestState.draft_tokens"),
        exactness="simplified",
    ),
    Space(
        "num_blocks",
        ("group", "req_state_idx"),
        "int32",
        "state-pool",
        [
            Case("row.unused", when=_UNUSED),
            Case("num_blocks.added", when=_ADDED),
            Case("row.initial", when="prev(num_blocks[group, req_state_idx]) == None"),
            Case(
                "row.carried",
                "prev(num_blocks[group, req_state_idx])",
                when="value == prev(num_blocks[group, req_state_idx])",
            ),
            Case("num_blocks.appended"),
        ],
        Source(BlockTable.apply_staged_writes, ("self.num_blocks[rows]",)),
        (BLOCK_TABLE, "BlockTables.append_block_ids"),
    ),
    Space(
        "block_tables",
        ("group", "req_state_idx", "block_index"),
        "int32",
        "state-pool",
        [
            Case("block_tables.freed", when="row_status[req_state_idx] == 'freed'"),
            Case("block_tables.stale", when="block_index >= num_blocks[group, req_state_idx]"),
            Case("block_tables.unknown", when="value == None"),
            Case("block_tables.null", when="value == 0"),
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
    ),
]
