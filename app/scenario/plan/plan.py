"""The plan: what a scenario amounts to, step by step, with every id filled in.

Made by `planner` and run by the pipeline; nothing in it is left to a default.
"""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app import rules
from app.scenario.format.model import Scenario


@dataclass(frozen=True)
class PlannedRequest:
    """One scheduled request of a step, with what is true of it before the step runs."""

    req_id: str
    num_tokens: int
    num_draft_tokens: int
    num_computed_tokens: int
    prefill_len: int

    @property
    def seq_len(self) -> int:
        return self.num_computed_tokens + self.num_tokens

    @property
    def num_new_tokens(self) -> int:
        """Tokens without the drafts: a chunk of the prefill, or the one of a decode."""
        return self.num_tokens - self.num_draft_tokens

    @property
    def is_prefilling(self) -> bool:
        return rules.is_prefilling(self.num_computed_tokens, self.prefill_len)

    @property
    def is_unfinished(self) -> bool:
        """Whether the prefill goes on after the step, which then samples nothing."""
        return rules.is_unfinished(*self._counts)

    @property
    def runs_as_decode(self) -> bool:
        return rules.runs_as_decode(*self._counts)

    @property
    def kind(self) -> rules.Kind:
        return rules.kind_of_work(*self._counts)

    @property
    def _counts(self) -> tuple[int, int, int, int]:
        return self.num_computed_tokens, self.prefill_len, self.num_tokens, self.num_draft_tokens

    def num_computed_tokens_after(self, num_sampled: int) -> int:
        """Tokens that count as computed once the step has sampled so many."""
        num_rejected = rules.num_rejected_tokens(self.num_draft_tokens, num_sampled, unfinished=self.is_unfinished)
        return rules.num_computed_tokens_after(self.num_computed_tokens, self.num_tokens, num_rejected)


@dataclass(frozen=True)
class Admission:
    """A request that enters the pool in a step (or before step 0)."""

    req_id: str
    request_idx: int
    prompt_len: int
    prefill_len: int
    num_computed_tokens: int
    block_ids: "Sequence[array[int]]"  # per group; UNKNOWN_BLOCK where a log does not tell
    is_resumed: bool = False
    req_state_idx: int | None = None
    num_output_tokens: int = 0
    last_sampled_token: int = 0


@dataclass(frozen=True)
class PlannedStep:
    """One engine step with every id explicit."""

    removed: Sequence[tuple[str, str]]  # (req_id, "finished" or "preempted"), sorted by req_id
    admissions: Sequence[Admission]  # new ones first, then resumed ones
    new_block_ids: "Mapping[str, Sequence[array[int]]]"  # of every scheduled request that got some, admitted ones too
    scheduled: Sequence[PlannedRequest]  # in the schedule's own order
    draft_token_ids: Mapping[str, Sequence[int]]
    sampled_token_ids: Mapping[str, Sequence[int]]
    num_live: int
    num_used_blocks: int
    num_free_blocks: int  # held by nobody
    num_table_entries: int  # block ids in the tables of live requests, all groups

    @property
    def admitted_req_ids(self) -> frozenset[str]:
        return frozenset(admission.req_id for admission in self.admissions)


@dataclass(frozen=True)
class Stopped:
    """The block pool could not serve a step: it and what follows are not computed."""

    step: int
    needed: int  # blocks the step takes from the pool
    free: int  # blocks the pool has then


@dataclass(frozen=True)
class RequestFacts:
    """What the whole run says of one request's tokens."""

    base: int  # of the rule for ids that nobody gave
    prompt_len: int
    prompt_token_ids: Sequence[int] | None
    num_rule_outputs: int  # initial outputs given as a count
    initial_output_ids: Sequence[int]  # initial outputs given as ids
    num_sampled_tokens: int  # sampled in the steps of the run


@dataclass(frozen=True)
class Plan:
    """A scenario, checked and made explicit."""

    scenario: Scenario
    requests: Sequence[RequestFacts]
    initial: Sequence[Admission]
    steps: Sequence[PlannedStep]
    num_columns: Sequence[int]  # per group: columns of the block table that the run uses
    named_block_ids: frozenset[int]  # by the scenario itself: the pool hands out others, each to one request
    stopped: Stopped | None = None
