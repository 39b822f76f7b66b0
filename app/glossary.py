"""The glossary: one name for each thing, what others call it, and what it is mistaken for.

Every space, every coordinate and every stage of the schema is a term, and so is every concept that the page speaks of. Dims,
dtypes and vLLM symbols are the schema's; definitions are sentences of the catalogues (`glossary.<term>.definition`, and
where people go wrong `.confusion`; names in words are `.name`). This file adds how terms hang together and the names that
others use, each with whose it is, and where it is not quite the same thing, `terms.note.<term>.<name>` says how it differs.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from app.i18n import Language, catalogue
from app.trace.schema import COORDINATES, SPACES, STAGE_OF, WALK
from app.trace.schema import STAGES as DECLARED_STAGES

Kind = Literal["stage", "space", "dim", "concept"]
Theme = Literal["requests", "blocks", "graphs", "sampling", "parallel", "memory", "page"]

STAGES = tuple(stage.name for stage in DECLARED_STAGES)
_SPACES = {space.name: space for space in SPACES}


@dataclass(frozen=True)
class Term:
    """What is known of a term beside its sentences and the schema.

    `also` maps other names to whose they are, a name or the key of a sentence; `theme` sorts concepts; `vllm` is file and
    symbol of a concept.
    """

    related: str = ""  # names of terms, separated by spaces
    also: Mapping[str, str] = field(default_factory=dict)
    theme: Theme | None = None
    vllm: tuple[str, str] | None = None


# Whose names these are.
SGL, MINI_SGL, NANO = "SGLang", "mini-sglang", "nano-vllm"
FA, FA3, FI = "FlashAttention", "FlashAttention 3", "FlashInfer"
TRT, JAX, HF = "TensorRT-LLM", "JAX ragged_paged_attention", "Transformers"
V0, V1, PAPER = "vLLM V0", "vLLM V1 model runner", "terms.whose.paper"
ARTICLES, SYSTEMS, CHINESE = "terms.whose.articles", "terms.whose.systems", "terms.whose.chinese"

TERMS: dict[str, Term] = {
    # Stages
    "schedule": Term("scheduler-output engine-step schedule_idx"),
    "state-pool": Term("req_state_idx free_indices staged-write stale-tail", {"req_to_token_pool": SGL}),
    "batch": Term("batch_idx idx_mapping sort_key uniform-decode"),
    "flatten": Term(
        "flat_token_idx query_start_loc position seq_lens csr",
        {"packed input": TRT, "ragged tensor": FI, "压平": CHINESE},
    ),
    "block-tables": Term("gathered-table persistent-table input_block_tables null-block"),
    "slot-mapping": Term("slot slot_id slot_mappings persistent-table"),
    "kv-cache": Term(
        "block slot block-pool slot-bytes", {"token_to_kv_pool": SGL, "k_cache": NANO, "key_cache": "vLLM kernels"}
    ),
    "update": Term("num_computed_tokens_after rejection prefill-chunk"),
    # Coordinates
    "req_id": Term("request req_state_idx", {"rid": SGL, "request_ids": TRT, "seq_id": NANO, "uid": MINI_SGL}),
    "req_state_idx": Term(
        "batch_idx idx_mapping free_indices",
        {"req_pool_idx": SGL, "table_idx": MINI_SGL, "request_state_index": ARTICLES},
    ),
    "batch_idx": Term("req_state_idx idx_mapping batch_idx_padded"),
    "batch_idx_padded": Term("batch_idx padding cuda-graph"),
    "batch_boundary": Term("query_start_loc batch_idx"),
    "flat_token_idx": Term("position query_start_loc flat_token_idx_padded"),
    "flat_token_idx_padded": Term("flat_token_idx padding PAD_SLOT_ID"),
    "position": Term("flat_token_idx positions block_index block_offset rope", {"position_ids": f"{TRT}, {HF}"}),
    "group": Term("kv-cache-group block_tables"),
    "block_index": Term("block_id logical-block block_indices", {"logical KV block": PAPER, "logic_block": ARTICLES}),
    "block_offset": Term("block_index slot_id block_size", {"entry_idx": FI}),
    "block_id": Term(
        "physical-block block_index null-block",
        {"page index": f"{FI}, {JAX}", "physical KV block": PAPER, "physical_block_id": ARTICLES},
    ),
    "slot_id": Term("slot block_id block_offset byte_offset", {"slot_idx": "vLLM reshape_and_cache kernel"}),
    "byte_offset": Term("slot_id slot-bytes nhd hnd int32-limit"),
    "draft_idx": Term("draft-token draft_tokens"),
    "sample_idx": Term("sampled_token_ids num_sampled"),
    "sort_key_part": Term("sort_key"),
    "logit_idx": Term("logits logits_indices expanded_idx_mapping"),
    "logits_boundary": Term("cu_num_logits logit_idx"),
    "kv_block_idx": Term("block_id kv_block_ids"),
    "stale_block_idx": Term("block_id stale_block_ids"),
    # Schedule
    "schedule_req_ids": Term("req_id schedule_idx scheduler-output"),
    "schedule_num_tokens": Term("num_scheduled_tokens prefill-chunk max_num_batched_tokens"),
    "schedule_num_drafts": Term("draft-token num_draft_tokens"),
    "schedule_req_state_idx": Term("req_state_idx row_req_ids idx_mapping"),
    "schedule_idx": Term("batch_idx sort_key schedule_req_ids"),
    # State pool
    "row_req_ids": Term("req_state_idx row_status"),
    "row_status": Term("free_indices row_req_ids"),
    "prompt_len": Term("prefill_len total_len", {"prompt_lens": TRT}),
    "prefill_len": Term("prompt_len is_prefilling resumption"),
    "total_len": Term("num_computed_tokens total_len_after"),
    "num_computed_tokens": Term(
        "seq_lens num_computed_tokens_after prefix-cache-hit",
        {
            "context_lens_tensor": V0,
            "extend_prefix_lens": SGL,
            "cached_len": MINI_SGL,
            "num_cached_tokens": NANO,
            "completed_tokens": ARTICLES,
        },
    ),
    "last_sampled_tokens": Term("sampled_token_ids input_ids decode"),
    "draft_tokens": Term("draft-token num_speculative_tokens input_ids"),
    "num_blocks": Term("block_tables stale-tail"),
    "block_tables": Term(
        "persistent-table input_block_tables num_blocks slot_mappings", {"req_to_token": SGL, "page_table": MINI_SGL}
    ),
    # Batch
    "sort_key": Term("schedule_idx uniform-decode decode"),
    "num_scheduled_tokens": Term(
        "seq_lens query_start_loc schedule_num_tokens", {"seq_lens": TRT, "extend_seq_lens": SGL, "extend_len": MINI_SGL}
    ),
    "num_draft_tokens": Term("draft-token cu_num_logits"),
    "idx_mapping": Term(
        "batch_idx req_state_idx expanded_idx_mapping", {"req_pool_indices": SGL, "index_mapping": ARTICLES}
    ),
    "is_prefilling": Term("prefill prefill_len num_computed_tokens"),
    # Flatten
    "query_start_loc": Term(
        "num_scheduled_tokens flat_token_idx batch_boundary csr num_tokens",
        {
            "cu_seqlens_q": f"{FA}, {NANO}",
            "qo_indptr": FI,
            "cu_q_lens": JAX,
            "cu_seq_lens_q": HF,
            "extend_start_loc": SGL,
        },
    ),
    "seq_lens": Term(
        "num_computed_tokens num_scheduled_tokens dcp_local_seq_lens",
        {
            "cache_seqlens": FA,
            "seqused_k": FA3,
            "context_lens": NANO,
            "kv_lens": JAX,
            "kv_lens_cuda": TRT,
            "device_len": MINI_SGL,
        },
    ),
    "dcp_local_seq_lens": Term("seq_lens context-parallelism is_local"),
    "token_batch_idx": Term("batch_idx query_start_loc", {"batch_indices": FI, "req_indices": V1}),
    "positions": Term("position num_computed_tokens block_indices rope", {"position_ids": f"{TRT}, {HF}"}),
    "token_source": Term("input_ids prefill draft-token"),
    "input_ids": Term("all_token_ids last_sampled_tokens draft_tokens token_source"),
    "cu_num_logits": Term("logits logits_boundary num_draft_tokens"),
    "logits_indices": Term("logits logit_idx query_start_loc", {"last_token_ids": TRT}),
    "expanded_idx_mapping": Term("idx_mapping logit_idx"),
    "expanded_local_pos": Term("cu_num_logits logit_idx"),
    # Block tables, slot mapping
    "input_block_tables": Term(
        "gathered-table block_tables seq_lens null-block csr",
        {
            "block_table": FA,
            "page_table": FA3,
            "block_tables": NANO,
            "page_indices": JAX,
            "kv_cache_block_offsets": TRT,
        },
    ),
    "block_indices": Term("block_index positions block_size virtual-block", {"block_table_indices": V1}),
    "block_offsets": Term("block_offset positions block_size"),
    "block_numbers": Term("block_id block_tables block_indices"),
    "is_local": Term("context-parallelism rank interleave PAD_SLOT_ID"),
    "slot_mappings": Term(
        "slot_id block_numbers block_offsets PAD_SLOT_ID",
        {"slot_mapping": f"{V1}, {NANO}", "out_cache_loc": SGL, "out_loc": MINI_SGL, "write_index": HF},
    ),
    # KV cache
    "slot_byte_offsets": Term("byte_offset slot-bytes int32-limit"),
    "byte_offsets_nhd": Term("slot_byte_offsets slot-bytes nhd"),
    "byte_offsets_hnd": Term("slot_byte_offsets slot-bytes hnd"),
    "kv_block_ids": Term("block_id block-pool kv_block_rows"),
    "kv_block_groups": Term("kv-cache-group group"),
    "kv_block_rows": Term("req_state_idx kv_block_ids"),
    "kv_block_indices": Term("block_index block_tables"),
    "kv_block_num_filled": Term("waste num_computed_tokens_after"),
    "kv_block_num_written": Term("slot_mappings rejection"),
    "kv_block_num_readable": Term("seq_lens sliding-window"),
    "kv_block_num_holders": Term("kv_block_ids prefix-cache-hit kv_block_is_first_holder"),
    "kv_block_is_first_holder": Term("kv_block_num_holders kv_block_rows"),
    "kv_block_num_loaded": Term("prefix-cache-hit kv_block_num_filled kv_block_computed_begin"),
    "kv_block_computed_begin": Term("kv_block_num_loaded kv_block_computed_end"),
    "kv_block_computed_end": Term("kv_block_num_loaded kv_block_computed_begin"),
    "stale_block_ids": Term("stale-tail block-pool stale_block_req_ids"),
    "stale_block_req_ids": Term("stale_block_ids req_id"),
    # Update
    "sampled_token_ids": Term("num_sampled last_sampled_tokens logits"),
    "num_sampled": Term("num_rejected prefill-chunk total_len_after"),
    "num_rejected": Term("rejection num_sampled num_computed_tokens_after"),
    "num_computed_tokens_after": Term("num_computed_tokens num_rejected"),
    "total_len_after": Term("total_len num_sampled"),
    # Concepts
    "request": Term("req_id prefill decode preemption", {"sequence": f"{NANO}, {V0}"}, "requests"),
    "engine-step": Term("schedule scheduler-output update continuous-batching", {"iteration": TRT}, "requests"),
    "scheduler-output": Term("schedule engine-step staged-write", {"ScheduleBatch": SGL}, "requests"),
    "prefill": Term("prefill-chunk decode prefill_len", {"extend": SGL, "context phase": TRT}, "requests"),
    "prefill-chunk": Term(
        "prefill max_num_batched_tokens num_sampled",
        {"chunked prefill": "vLLM, Sarathi-Serve", "chunked context": TRT, "分块预填充": CHINESE},
        "requests",
    ),
    "continuous-batching": Term(
        "engine-step batch idx_mapping", {"iteration-level scheduling": "Orca", "in-flight batching": TRT}, "requests"
    ),
    "decode": Term("prefill last_sampled_tokens uniform-decode", {"generation phase": TRT}, "requests"),
    "prefix-cache-hit": Term("num_computed_tokens block-pool", {"KV cache reuse": TRT, "radix cache hit": SGL}, "requests"),
    "preemption": Term("resumption free_indices block-pool", {"retraction": SGL}, "requests"),
    "resumption": Term("preemption prefill_len", theme="requests"),
    "all_token_ids": Term(
        "input_ids req_state_idx max_model_len",
        {"token_indices": V1},
        "requests",
        vllm=("vllm/v1/worker/gpu/states.py", "RequestState.all_token_ids"),
    ),
    "free_indices": Term(
        "req_state_idx row_status",
        {"free_slots": SGL},
        "requests",
        ("vllm/v1/worker/gpu/states.py", "RequestState.free_indices"),
    ),
    "staged-write": Term(
        "persistent-table state-pool", theme="requests", vllm=("vllm/v1/worker/gpu/buffer_utils.py", "StagedWriteTensor")
    ),
    "num_tokens": Term(
        "query_start_loc flat_token_idx padding",
        {"num_actual_tokens": "vLLM attention metadata", "total_num_scheduled_tokens": "vLLM scheduler output"},
        "requests",
    ),
    "rope": Term("positions position", {"rotary embedding": HF}, "requests"),
    "max_num_reqs": Term("req_state_idx state-pool", {"max_num_seqs": "vLLM"}, "requests"),
    "max_num_batched_tokens": Term("schedule_num_tokens flat_token_idx", {"max_num_tokens": TRT}, "requests"),
    "max_model_len": Term("block_tables waste", {"context_length": SGL, "max_seq_len": TRT}, "requests"),
    "slot": Term("slot_id block slot-bytes", theme="blocks"),
    "block": Term("logical-block physical-block block_size", {"page": f"{FI}, {SGL}, {JAX}", "KV block": PAPER}, "blocks"),
    "block_size": Term(
        "block kv-cache-group",
        {"page_size": f"{FI}, {SGL}, {JAX}", "tokens_per_block": TRT, "kvcache_block_size": NANO},
        "blocks",
    ),
    "logical-block": Term("block_index physical-block block-table", theme="blocks"),
    "physical-block": Term("block_id logical-block block-pool", theme="blocks"),
    "null-block": Term(
        "padding PAD_SLOT_ID sliding-window", theme="blocks", vllm=("vllm/v1/core/block_pool.py", "BlockPool.null_block")
    ),
    "block-pool": Term("block_id null-block preemption", theme="blocks", vllm=("vllm/v1/core/block_pool.py", "BlockPool")),
    "kv-cache-group": Term(
        "group block-table sliding-window", theme="blocks", vllm=("vllm/v1/kv_cache_interface.py", "KVCacheGroupSpec")
    ),
    "block-table": Term(
        "persistent-table gathered-table logical-block",
        {"page_table": FA3, "page table": SYSTEMS, "页表": CHINESE},
        "blocks",
    ),
    "paged-attention": Term("block-table block gathered-table", theme="blocks"),
    "csr": Term("query_start_loc input_block_tables flatten", {"indptr": f"SciPy, {FI}"}, "blocks"),
    "persistent-table": Term("block_tables gathered-table slot_mappings", theme="blocks"),
    "gathered-table": Term("input_block_tables persistent-table stale-tail", theme="blocks"),
    "stale-tail": Term("num_blocks block_tables padding", theme="blocks"),
    "sliding-window": Term("null-block kv-cache-group", {"window_left": FI, "window_size": FA}, "blocks"),
    "padding": Term("PAD_SLOT_ID null-block cuda-graph stale-tail", theme="graphs"),
    "PAD_SLOT_ID": Term(
        "padding slot_mappings null-block",
        theme="graphs",
        vllm=("vllm/v1/attention/backends/utils.py", "PAD_SLOT_ID"),
    ),
    "cuda-graph": Term("cuda-graph-mode capture-size padding", theme="graphs"),
    "cuda-graph-mode": Term(
        "cuda-graph uniform-decode capture-size", theme="graphs", vllm=("vllm/config/compilation.py", "CUDAGraphMode")
    ),
    "capture-size": Term(
        "cuda-graph uniform-decode",
        {"cudagraph_capture_sizes": "vLLM", "cuda_graph_bs": SGL, "cuda_graph_batch_sizes": TRT},
        "graphs",
    ),
    "uniform-decode": Term("decode sort_key cuda-graph-mode", theme="graphs"),
    "logits": Term("logits_indices logit_idx sampled_token_ids", theme="sampling"),
    "speculative-decoding": Term("draft-token rejection num_speculative_tokens", {"推测解码": CHINESE}, "sampling"),
    "draft-token": Term("draft_tokens rejection speculative-decoding", {"spec_token_ids": "vLLM"}, "sampling"),
    "num_speculative_tokens": Term("draft-token uniform-decode speculative-decoding", theme="sampling"),
    "rejection": Term("num_rejected draft-token num_computed_tokens_after", theme="sampling"),
    "context-parallelism": Term(
        "rank interleave virtual-block is_local", {"DCP (decode context parallelism)": "vLLM", "Helix": TRT}, "parallel"
    ),
    "rank": Term("context-parallelism is_local", theme="parallel"),
    "interleave": Term("context-parallelism virtual-block", theme="parallel"),
    "virtual-block": Term("block_indices context-parallelism block_size", theme="parallel"),
    "slot-bytes": Term("slot byte_offset int32-limit gqa", theme="memory"),
    "gqa": Term("slot-bytes kv-cache-group", {"grouped-query attention": "Llama, Transformers"}, "memory"),
    "nhd": Term("hnd byte_offset", {"[max_num_pages, page_size, num_kv_heads, head_dim]": FI}, "memory"),
    "hnd": Term("nhd byte_offset", {"[max_num_pages, num_kv_heads, page_size, head_dim]": FI}, "memory"),
    "int32-limit": Term("byte_offset slot_id slot-bytes", theme="memory"),
    "waste": Term("block_size kv_block_num_filled max_model_len", {"internal fragmentation": PAPER}, "memory"),
    "index-space": Term("walk req_state_idx batch_idx flat_token_idx position", theme="page"),
    "walk": Term("index-space req_state_idx position slot_id", theme="page"),
    "unknown": Term("block_tables slot_mappings", theme="page"),
    "exactness": Term("walk", theme="page"),
}


def kind_of(name: str) -> Kind:
    """What sort of thing a term is. A space that shares its name with an axis counts as a space."""
    if name in STAGES:
        return "stage"
    if name in _SPACES:
        return "space"
    return "dim" if name in coordinates() else "concept"


@functools.cache
def coordinates() -> tuple[str, ...]:
    """Every dim and every coordinate that the schema names, those of the walk first."""
    named = (*WALK, *(dim for space in SPACES for dim in space.dims), *(name for name, _ in COORDINATES))
    return tuple(dict.fromkeys(named))


@functools.cache
def describe_glossary(language: Language) -> dict[str, Any]:
    """All terms in one language: what `GET /api/glossary` answers. Their order is that of a reader: stages, spaces, ..."""
    return {"version": 1, "language": language, "terms": [_describe(name, language) for name in all_terms()]}


@functools.cache
def all_terms() -> Mapping[str, Term]:
    """Every term by name, by kinds: also stages, coordinates and spaces of which TERMS says nothing beside the schema."""
    declared = dict.fromkeys(coordinates(), Term())
    for stage in DECLARED_STAGES:  # a stage leads to its spaces, a space to its stage
        declared |= {space.name: Term(stage.name) for space in stage.spaces}
        declared[stage.name] = Term(" ".join(space.name for space in stage.spaces))
    kinds = get_args(Kind)
    return dict(sorted((declared | TERMS).items(), key=lambda item: (kinds.index(kind_of(item[0])), item[0] not in TERMS)))


def _describe(name: str, language: Language) -> dict[str, Any]:
    term, kind, sentences = all_terms()[name], kind_of(name), catalogue(language)
    space = _SPACES.get(name)
    words = sentences[f"stage.{name}"] if kind == "stage" else sentences.get(f"glossary.{name}.name")
    vllm = space.vllm if space else term.vllm
    return {
        "term": name,
        "kind": kind,
        # What is printed: code is its own name, everything else has one in each language.
        "name": words if words and kind in ("stage", "concept") else name,
        "words": words if words and kind in ("dim", "space") else None,
        "is_code": kind in ("space", "dim") or words is None,
        "theme": term.theme,
        "definition": sentences[f"glossary.{name}.definition"],
        "confusion": sentences.get(f"glossary.{name}.confusion"),
        "also": [{"name": other, "whose": _whose(name, other, sentences)} for other in term.also],
        "related": term.related.split(),
        "vllm": None if vllm is None else {"file": vllm[0], "symbol": vllm[1]},
        "space": None
        if space is None
        else {
            "dims": list(space.dims),
            "dtype": space.dtype,
            "stage": STAGE_OF[name],
            "holds": space.holds,
            "exactness": space.exactness,
        },
        "spaces": _spaces_of(name, kind),
    }


def _whose(name: str, other: str, sentences: Mapping[str, str]) -> str:
    """Whose another name is, and how what they call so differs."""
    whose = TERMS[name].also[other]
    note = sentences.get(f"terms.note.{name}.{other}")
    return sentences.get(whose, whose) + (f"{sentences['list.colon']}{note}" if note else "")


def _spaces_of(name: str, kind: Kind) -> dict[str, list[str]]:
    """Spaces of a stage; those that run along a coordinate, and those whose values lie in it."""
    if kind == "stage":
        return {"stage": [space.name for space in SPACES if STAGE_OF[space.name] == name]}
    if name not in coordinates():
        return {}
    return {
        "along": [space.name for space in SPACES if name in space.dims],
        "hold": [space.name for space in SPACES if space.holds == name],
    }
