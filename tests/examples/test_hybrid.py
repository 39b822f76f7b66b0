"""Hybrid models and context parallelism: several tables, windows, and ranks that share a request."""

from tests.examples.story import Story, tells


@tells("context-parallel-rank-1-of-2")
def test_context_parallel_rank_1(story: Story) -> None:
    step = story.step
    parallel = story.config("context_parallel")
    size = story.config("kv_cache_groups")[0]["block_size"]
    story.said(2, parallel["size"])
    story.said(1, parallel["rank"])
    story.said(0, 1 - parallel["rank"])
    story.said(8, size)
    story.said(16, size * parallel["size"])
    story.said(4, parallel["interleave"], len([slot for slot in step.of("slot_mappings", "V") if slot >= 0]))
    story.said(10, step.of("num_scheduled_tokens", "V"))
    story.said(26, story.prompt_lens["V"], step.of("seq_lens", "V"))
    # Of 26 tokens, rank 1 has the second four of every eight; 24 and 25 begin another round.
    held = [position for position in range(26) if position // 4 % 2 == 1]
    assert held == [*range(4, 8), *range(12, 16), *range(20, 24)]
    for first, last in ((4, 7), (12, 15), (20, 23)):
        story.said(first, first)
        story.said(last, last)
    story.said(12, len(held), step.of("dcp_local_seq_lens", "V"))
    story.said(14, 26 - len(held))
    story.said(-1, *{slot for slot in step.of("slot_mappings", "V") if slot < 0})
    local = [slot for slot in step.of("slot_mappings", "V") if slot >= 0]
    # 20 % 16 = 4 is the first token of this rank's half of logical block 1: offset 0 of block 10.
    assert step.blocks("V")[1] == 10
    story.said(80, local[0], 10 * 8 + 0)
    story.said(83, local[-1], 10 * 8 + 3)
    positions = [at for at, is_local in zip(step.of("positions", "V"), step.of("is_local", "V"), strict=True) if is_local]
    assert positions == [20, 21, 22, 23]
