"""The scenario format, version 1: fields, defaults and the bounds that one field alone decides.

What depends on several fields or on earlier steps is checked in `limits` and `plan`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, ValidationInfo
from pydantic_core import PydanticCustomError

from app.errors import MAX_FAULTS

MAX_ID = 2**31 - 1
MAX_REQ_ID_LENGTH = 128
MAX_REQUESTS = 4_096  # and so the most names that one step can sensibly mention


@dataclass
class Patience:
    """How many more entries of lists and maps may be wrong before the rest of them is not looked at.

    Validation takes one as its context: a megabyte of wrong ids is described as quickly as a hundred.
    """

    num_left: int = MAX_FAULTS


def _while_patient(is_good: Callable[[Any], bool]) -> BeforeValidator:
    """Drop what stands behind the last entry that there is patience for. `is_good` judges one entry, or value of a map."""

    def cut(value: Any, info: ValidationInfo) -> Any:
        patience = info.context
        if not isinstance(patience, Patience) or not isinstance(value, list | dict):
            return value
        for place, entry in enumerate(value.values() if isinstance(value, dict) else value):
            if is_good(entry):
                continue
            patience.num_left -= 1
            if patience.num_left < 0:
                return dict(islice(value.items(), place)) if isinstance(value, dict) else value[:place]
        return value

    return BeforeValidator(cut)


def _is_list(value: Any) -> bool:
    return type(value) is list


def _is_text(value: Any) -> bool:
    return type(value) is str


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MAX_ID


def _is_draft_id(value: Any) -> bool:
    return type(value) is int and -1 <= value <= MAX_ID


def _is_block_id(value: Any) -> bool:
    return value is None or _is_count(value)


def _is_list_or_count(value: Any) -> bool:
    return type(value) is list or _is_count(value)


def _is_pair(value: Any) -> bool:
    return type(value) is tuple and _is_text(value[0]) and _is_count(value[1]) and value[1] > 0


PerRequest = Field(max_length=MAX_REQUESTS)  # of a list or map with an entry for each request
TokenId = Annotated[int, Field(ge=0, le=MAX_ID)]
DraftTokenId = Annotated[int, Field(ge=-1, le=MAX_ID)]  # -1: unknown to the log
BlockId = Annotated[int, Field(ge=0, le=MAX_ID)] | None  # None: unknown id
TokenIds = Annotated[list[TokenId], _while_patient(_is_count)]
BlockIdsPerGroup = Annotated[list[Annotated[list[BlockId], _while_patient(_is_block_id)]], _while_patient(_is_list)]
ReqIds = Annotated[list[str], PerRequest, _while_patient(_is_text)]


def _list_or_count(value: Any) -> str:
    return "list" if isinstance(value, list) else "count"


Count = Annotated[int, Field(ge=0, le=MAX_ID)]
TokenIdsOrCount = Annotated[
    Annotated[TokenIds, Tag("list")] | Annotated[Count, Tag("count")],
    Discriminator(_list_or_count),
]
DraftIdsOrCount = Annotated[
    Annotated[list[DraftTokenId], _while_patient(_is_draft_id), Tag("list")] | Annotated[Count, Tag("count")],
    Discriminator(_list_or_count),
]


def _as_pairs(value: Any) -> Any:
    if isinstance(value, dict):
        return list(value.items())
    if not isinstance(value, list):
        raise PydanticCustomError("pairs_type", "an object or a list of pairs")
    return [tuple(pair) if isinstance(pair, list) and len(pair) == 2 else pair for pair in value]


ScheduledTokens = Annotated[
    list[tuple[str, Annotated[int, Field(ge=1, le=MAX_ID)]]],
    PerRequest,
    _while_patient(_is_pair),
    BeforeValidator(_as_pairs, json_schema_input_type=dict[str, int] | list[tuple[str, int]]),
]


def _whole_number(value: Any) -> Any:
    """`Literal[1]` alone would take true and 1.0 for 1."""
    if type(value) is not int:
        raise PydanticCustomError("version", "the whole number 1")
    return value


class Model(BaseModel):
    """Strict and closed: no conversions, no unknown keys."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class KVCacheGroup(Model):
    """A set of layers that share one block table."""

    name: Annotated[str, Field(max_length=128)] = "full"
    block_size: Annotated[int, Field(ge=1, le=16_384)] = 16
    sliding_window: Annotated[int, Field(ge=1, le=2**20)] | None = None


class ContextParallelConfig(Model):
    """`size` ranks share every request; this is rank `rank`, tokens dealt out `interleave` at a time."""

    size: Annotated[int, Field(ge=1, le=64)] = 1
    rank: Annotated[int, Field(ge=0, le=63)] = 0
    interleave: Annotated[int, Field(ge=1, le=MAX_ID)] = 1


class CudaGraphConfig(Model):
    """Which shapes were captured."""

    mode: Literal["NONE", "PIECEWISE", "FULL", "FULL_DECODE_ONLY", "FULL_AND_PIECEWISE"] = "NONE"
    capture_sizes: Annotated[list[Annotated[int, Field(ge=1, le=65_536)]], Field(max_length=128)] = []


class BlockPoolConfig(Model):
    """The order of the free list."""

    order: Literal["shuffled", "ascending"] = "shuffled"
    seed: Annotated[int, Field(ge=0, le=2**32 - 1)] = 0


class KVCacheConfig(Model):
    """What one layer stores per slot."""

    num_layers: Annotated[int, Field(ge=1, le=1_024)] = 32
    num_kv_heads: Annotated[int, Field(ge=1, le=1_024)] = 8
    head_size: Annotated[int, Field(ge=1, le=1_024)] = 128
    dtype: Literal["float32", "float16", "bfloat16", "fp8"] = "float16"
    layout: Literal["NHD", "HND"] = "NHD"


class Config(Model):
    """The sizes of the worker."""

    max_num_reqs: Annotated[int, Field(ge=1, le=MAX_REQUESTS)] = 8
    max_num_batched_tokens: Annotated[int, Field(ge=1, le=65_536)] = 64
    max_model_len: Annotated[int, Field(ge=2, le=2**20)] = 128
    num_blocks: Annotated[int, Field(ge=2, le=2**24)] = 128
    num_speculative_tokens: Annotated[int, Field(ge=0, le=16)] = 0
    kv_cache_groups: Annotated[list[KVCacheGroup], Field(min_length=1, max_length=8)] = [KVCacheGroup()]
    context_parallel: ContextParallelConfig = ContextParallelConfig()
    cudagraph: CudaGraphConfig = CudaGraphConfig()
    block_pool: BlockPoolConfig = BlockPoolConfig()
    kv_cache: KVCacheConfig = KVCacheConfig()

    def num_columns(self, group: KVCacheGroup) -> int:
        """Width of a group's block table: one column per (virtual) block of `max_model_len`."""
        return -(-self.max_model_len // self.tokens_per_block(group))

    def tokens_per_block(self, group: KVCacheGroup) -> int:
        """Tokens that one table entry covers: a block on every context-parallel rank."""
        return group.block_size * self.context_parallel.size

    @property
    def lcm_block_size(self) -> int:
        """Tokens after which blocks of every group end together: vLLM's prefix cache hits multiples of it."""
        return math.lcm(*map(self.tokens_per_block, self.kv_cache_groups))


class Initial(Model):
    """A request that is in the pool before step 0."""

    num_computed_tokens: Annotated[int, Field(ge=0, le=MAX_ID)] | None = None
    output_token_ids: TokenIdsOrCount = 0
    block_ids: BlockIdsPerGroup | None = None
    req_state_idx: Annotated[int, Field(ge=0, le=MAX_ID)] | None = None


class Request(Model):
    """A request. Exactly one of `prompt_len` and `prompt_token_ids` is given."""

    req_id: Annotated[str, Field(min_length=1, max_length=MAX_REQ_ID_LENGTH)]
    prompt_len: Annotated[int, Field(ge=1, le=MAX_ID)] | None = None
    prompt_token_ids: Annotated[TokenIds, Field(min_length=1)] | None = None
    initial: Initial | None = None

    @property
    def num_prompt_tokens(self) -> int:
        """Length of the prompt, however it was given."""
        if self.prompt_token_ids is not None:
            return len(self.prompt_token_ids)
        assert self.prompt_len is not None
        return self.prompt_len


class Step(Model):
    """One engine step: who leaves, who runs how many tokens, and what is known of their ids."""

    num_scheduled_tokens: ScheduledTokens = []
    finished_req_ids: ReqIds = []
    preempted_req_ids: ReqIds = []
    num_computed_tokens: Annotated[dict[str, Count], PerRequest, _while_patient(_is_count)] = {}
    new_block_ids: Annotated[dict[str, BlockIdsPerGroup], PerRequest, _while_patient(_is_list)] = {}
    draft_token_ids: Annotated[dict[str, DraftIdsOrCount], PerRequest, _while_patient(_is_list_or_count)] = {}
    sampled_token_ids: Annotated[dict[str, TokenIdsOrCount], PerRequest, _while_patient(_is_list_or_count)] = {}


class Scenario(Model):
    """A whole scenario: what a link, a file and the API hold."""

    version: Annotated[Literal[1], BeforeValidator(_whole_number)]
    title: Annotated[str, Field(max_length=200)] = ""
    description: Annotated[str, Field(max_length=4_000)] = ""
    start_step: Annotated[int, Field(ge=0, le=MAX_ID)] = 0
    strict: bool = True
    config: Config = Config()
    requests: Annotated[list[Request], PerRequest]
    steps: Annotated[list[Step], Field(max_length=512)]


def num_given(ids_or_count: list[int] | int) -> int:
    """How many ids were given, as a list or as a count."""
    return ids_or_count if isinstance(ids_or_count, int) else len(ids_or_count)
