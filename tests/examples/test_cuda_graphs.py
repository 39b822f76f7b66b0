"""Padding and CUDA graphs: which captured shape a step runs as, and what stands where nobody is."""

from tests.examples.story import Story, tells


@tells("padding-minus-one-and-zero")
def test_padding_minus_one_and_zero(story: Story) -> None:
    step = story.step
    story.said(3, step["num_reqs"], step["num_tokens"])
    assert not any(step["is_prefilling"])
    story.said(2, story.config("cudagraph")["capture_sizes"][0])
    story.said(4, story.config("cudagraph")["capture_sizes"][1], step["num_tokens_padded"], step["num_reqs_padded"])
    story.said(-1, step["slot_mappings"][0][3])
    story.said(0, step["seq_lens"][3])
    assert step["input_block_tables"][0][3] == []  # a whole row of zeros
    assert step["query_start_loc"] == [0, 1, 2, 3, 3]
    assert 0 not in step["kv_block_ids"]


@tells("uniform-decode-or-piecewise")
def test_uniform_decode_or_piecewise(story: Story) -> None:
    first, decodes, mixed = story.steps[:3]
    story.at_step(0, 1, 2)
    assert story.config("cudagraph")["capture_sizes"] == [4, 8, 16]
    story.said(16, max(story.config("cudagraph")["capture_sizes"]))
    story.said(18, first["num_tokens"], first["num_tokens_padded"], 5 + 6 + 7)
    assert (first["num_reqs"], first["num_reqs_padded"]) == (3, 3) and first["cudagraph_mode"] == "NONE"
    story.said(3, decodes["num_reqs"], decodes["num_tokens"])
    assert decodes["num_scheduled_tokens"] == [1, 1, 1] and not any(decodes["is_prefilling"])
    story.said(4, decodes["num_tokens_padded"], decodes["num_reqs_padded"])
    assert decodes["cudagraph_mode"] == "FULL"
    story.said(4, mixed.of("num_scheduled_tokens", "N"), mixed["num_reqs"], mixed["num_reqs_padded"])
    story.said(7, mixed["num_tokens"], 3 + 4)
    story.said(8, mixed["num_tokens_padded"])
    assert mixed["cudagraph_mode"] == "PIECEWISE"


@tells("a-prefill-that-passes-for-a-decode")
def test_a_prefill_that_passes_for_a_decode(story: Story) -> None:
    step, then = story.steps[1:3]
    story.at_step(1, 2)
    story.said(33, story.prompt_lens["P"])
    story.said(32, step.of("num_computed_tokens", "P"))
    story.said(1, 33 - 32, step.of("num_scheduled_tokens", "P"), story.prompt_lens["N"])
    assert step.of("is_prefilling", "P") and step["cudagraph_mode"] == "FULL"
    assert story.config("cudagraph") == {"mode": "FULL_DECODE_ONLY", "capture_sizes": [2, 4]}
    story.said(2, step["num_tokens_padded"])
    story.said(4, story.config("cudagraph")["capture_sizes"][1])
    story.said(0, then.of("num_computed_tokens", "N"))
    assert then["is_prefilling"] == [False, False, True] and then["cudagraph_mode"] == "NONE"
    assert {*step["num_scheduled_tokens"]} == {*then["num_scheduled_tokens"]} == {1}
    assert [later["num_scheduled_tokens"][0] for later in story.steps[1:]] == [1, 1, 1]  # D decodes
