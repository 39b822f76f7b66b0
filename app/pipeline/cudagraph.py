"""CUDA-graph dispatch: to which captured shape a step is padded.

In: the shape of a batch. Out: a mode and the padded counts. A graph replays fixed shapes, so a step that runs as one is
padded up to it. Mirrors `CudaGraphManager` and `BatchExecutionDescriptor` in vllm/v1/worker/gpu/cudagraph_utils.py.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from app.pipeline.input_batch import BatchShape

CudaGraphMode = Literal["NONE", "PIECEWISE", "FULL"]  # what a step runs as
ConfiguredMode = Literal["NONE", "PIECEWISE", "FULL", "FULL_DECODE_ONLY", "FULL_AND_PIECEWISE"]


@dataclass(frozen=True)
class CapturedGraph:
    """One captured shape."""

    cg_mode: CudaGraphMode
    num_tokens: int
    num_reqs: int | None  # None: requests are not padded (piecewise)
    uniform_token_count: int | None = None  # the one count every row must have (uniform decode)


@dataclass(frozen=True)
class BatchExecutionDescriptor:
    """What a step is dispatched as."""

    cg_mode: CudaGraphMode
    num_reqs_padded: int
    num_tokens_padded: int


class CudaGraphDispatcher:
    """Holds the captured shapes of a configuration and picks one for a batch."""

    def __init__(
        self, mode: ConfiguredMode, capture_sizes: Sequence[int], max_num_reqs: int, num_speculative_tokens: int
    ) -> None:
        sizes = sorted(set(capture_sizes))
        query_len = 1 + num_speculative_tokens
        uniform: list[CapturedGraph] = []
        general: list[CapturedGraph] = []
        if mode in ("FULL_DECODE_ONLY", "FULL_AND_PIECEWISE"):
            rounded = sorted({-(-size // query_len) * query_len for size in sizes})
            uniform = [
                CapturedGraph("FULL", num_tokens, num_tokens // query_len, query_len)
                for num_tokens in rounded
                if num_tokens // query_len <= max_num_reqs and num_tokens <= sizes[-1]
            ]
        if mode in ("PIECEWISE", "FULL_AND_PIECEWISE"):
            general = [CapturedGraph("PIECEWISE", size, None) for size in sizes]
        elif mode == "FULL":
            general = [CapturedGraph("FULL", size, min(size, max_num_reqs)) for size in sizes]
        self.candidates = (uniform, general)  # in the order they are tried, each by rising num_tokens

    def dispatch(self, batch: BatchShape) -> BatchExecutionDescriptor:
        """Pick the first graph that fits; in each list only the smallest one with enough tokens is looked at."""
        for graphs in self.candidates:
            place = bisect_left(graphs, batch.num_tokens, key=lambda graph: graph.num_tokens)
            if place < len(graphs) and _fits(graphs[place], batch):
                graph = graphs[place]
                return BatchExecutionDescriptor(graph.cg_mode, graph.num_reqs or batch.num_reqs, graph.num_tokens)
        return BatchExecutionDescriptor("NONE", batch.num_reqs, batch.num_tokens)


def _fits(graph: CapturedGraph, batch: BatchShape) -> bool:
    if graph.num_reqs is not None and graph.num_reqs < batch.num_reqs:
        return False
    if graph.uniform_token_count is None:
        return True
    return graph.uniform_token_count == batch.uniform_token_count and batch.decode_graph_eligible
