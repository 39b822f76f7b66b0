"""CUDA-graph dispatch, worked out by hand from the rules."""

import pytest

from app.pipeline.cudagraph import BatchExecutionDescriptor, ConfiguredMode, CudaGraphDispatcher
from app.pipeline.input_batch import BatchShape


def decodes(num_reqs: int, query_len: int = 1) -> BatchShape:
    return BatchShape(num_reqs, num_reqs * query_len, query_len, decode_graph_eligible=True)


def mixed(num_reqs: int, num_tokens: int) -> BatchShape:
    return BatchShape(num_reqs, num_tokens, None, decode_graph_eligible=False)


@pytest.mark.parametrize(
    ("mode", "batch", "expected"),
    [
        ("NONE", decodes(3), BatchExecutionDescriptor("NONE", 3, 3)),
        ("FULL_DECODE_ONLY", decodes(3), BatchExecutionDescriptor("FULL", 4, 4)),
        ("FULL_DECODE_ONLY", mixed(2, 3), BatchExecutionDescriptor("NONE", 2, 3)),
        ("PIECEWISE", decodes(3), BatchExecutionDescriptor("PIECEWISE", 3, 4)),  # requests are not padded
        ("PIECEWISE", mixed(2, 9), BatchExecutionDescriptor("NONE", 2, 9)),  # larger than every graph
        ("FULL_AND_PIECEWISE", decodes(3), BatchExecutionDescriptor("FULL", 4, 4)),
        ("FULL_AND_PIECEWISE", mixed(2, 3), BatchExecutionDescriptor("PIECEWISE", 2, 4)),
        ("FULL", mixed(2, 3), BatchExecutionDescriptor("FULL", 4, 4)),
        ("FULL", mixed(6, 7), BatchExecutionDescriptor("FULL", 6, 8)),  # min(8, R) = 6 requests
    ],
)
def test_the_first_graph_that_fits_is_used(
    mode: ConfiguredMode, batch: BatchShape, expected: BatchExecutionDescriptor
) -> None:
    dispatcher = CudaGraphDispatcher(mode, [1, 2, 4, 8], max_num_reqs=6, num_speculative_tokens=0)
    assert dispatcher.dispatch(batch) == expected


def test_uniform_graphs_are_multiples_of_the_query_length() -> None:
    # K = 2: sizes 1, 4, 8, 9 round up to 3, 6, 9, 9; 9 is the largest capture size, so it stays.
    dispatcher = CudaGraphDispatcher("FULL_DECODE_ONLY", [1, 4, 8, 9], max_num_reqs=8, num_speculative_tokens=2)
    assert dispatcher.dispatch(decodes(1, 3)) == BatchExecutionDescriptor("FULL", 1, 3)
    assert dispatcher.dispatch(decodes(2, 3)) == BatchExecutionDescriptor("FULL", 2, 6)
    assert dispatcher.dispatch(decodes(3, 3)) == BatchExecutionDescriptor("FULL", 3, 9)
    # One token each is not the length that was captured.
    assert dispatcher.dispatch(decodes(2, 1)) == BatchExecutionDescriptor("NONE", 2, 2)


def test_only_the_smallest_graph_with_enough_tokens_is_looked_at() -> None:
    # Uniform: 3 tokens, 1 request. A batch of 3 one-token rows is not uniform in 3, and no larger graph is tried.
    dispatcher = CudaGraphDispatcher("FULL", [4, 8], max_num_reqs=2, num_speculative_tokens=0)
    assert dispatcher.dispatch(BatchShape(3, 3, 1, decode_graph_eligible=True)) == BatchExecutionDescriptor("NONE", 3, 3)


def test_a_uniform_graph_is_at_most_as_large_as_the_largest_capture_size() -> None:
    # K = 1, 8 rows: 5 rounds up to 6 tokens, which 3 requests would fill, but 6 > 5.
    dispatcher = CudaGraphDispatcher("FULL_DECODE_ONLY", [4, 5], max_num_reqs=8, num_speculative_tokens=1)
    assert dispatcher.dispatch(decodes(2, 2)) == BatchExecutionDescriptor("FULL", 2, 4)
    assert dispatcher.dispatch(decodes(3, 2)) == BatchExecutionDescriptor("NONE", 3, 6)
    # 5 rounds up to 6 again, and now 6 is itself a capture size.
    dispatcher = CudaGraphDispatcher("FULL_DECODE_ONLY", [4, 5, 6], max_num_reqs=8, num_speculative_tokens=1)
    assert dispatcher.dispatch(decodes(3, 2)) == BatchExecutionDescriptor("FULL", 3, 6)


def test_a_uniform_graph_has_at_most_as_many_requests_as_the_pool() -> None:
    # K = 1: 8 tokens are 4 requests, and 3 requests of 2 tokens fit into no smaller graph.
    for max_num_reqs, expected in ((3, ("NONE", 3, 6)), (4, ("FULL", 4, 8))):
        dispatcher = CudaGraphDispatcher("FULL_DECODE_ONLY", [4, 8], max_num_reqs, num_speculative_tokens=1)
        assert dispatcher.dispatch(decodes(3, 2)) == BatchExecutionDescriptor(*expected)


def test_a_uniform_graph_is_for_decodes_alone() -> None:
    dispatcher = CudaGraphDispatcher("FULL_AND_PIECEWISE", [4], max_num_reqs=4, num_speculative_tokens=1)
    prefills = BatchShape(2, 4, 2, decode_graph_eligible=False)  # two prompts of two tokens: uniform, and no decode
    assert dispatcher.dispatch(prefills) == BatchExecutionDescriptor("PIECEWISE", 2, 4)
