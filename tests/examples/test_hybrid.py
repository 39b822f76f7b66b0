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
        story.said(first, held[held.index(first)])
        story.said(last, held[held.index(last)])
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


@tells("context-parallel-rank-0-of-2")
def test_context_parallel_rank_0(story: Story) -> None:
    step, other = story.step, Story("context-parallel-rank-1-of-2").step
    assert Story("context-parallel-rank-1-of-2").example.scenario["steps"] == story.example.scenario["steps"]
    parallel = story.config("context_parallel")
    story.said(0, parallel["rank"], *step.of("block_offsets", "V")[:1])
    story.said(1, 1 - parallel["rank"], *step.of("block_indices", "V"))
    story.said(2, parallel["size"])
    story.said(4, parallel["interleave"])
    # Rank 0 has the first four of every eight positions.
    held = [position for position in range(32) if position // 4 % 2 == 0]
    assert held == [*range(4), *range(8, 12), *range(16, 20), *range(24, 28)]
    for first, last in ((0, 3), (8, 11), (16, 19), (24, 27)):
        story.said(first, held[held.index(first)])
        story.said(last, held[held.index(last)])
    assert step["block_tables"] == other["block_tables"]
    story.said(10, step.blocks("V")[1], other.blocks("V")[1])
    slots = dict(zip(step.of("positions", "V"), step.of("slot_mappings", "V"), strict=True))
    story.said(16, 8 * 2, min(slots))
    # Position p of logical block 1 on rank 0: offset (p % 16) // 8 * 4 + p % 4 of block 10.
    assert {position: slot for position, slot in slots.items() if slot >= 0} == {
        position: 10 * 8 + position % 16 // 8 * 4 + position % 4 for position in (*range(16, 20), 24, 25)
    }
    story.said(80, slots[16], 10 * 8)
    story.said(87, 10 * 8 + 7)  # position 27: offset 27 % 16 // 8 * 4 + 27 % 4 = 4 + 3
    there = dict(zip(other.of("slot_mappings", "V"), other.of("positions", "V"), strict=True))
    story.said(20, there[80])
    story.said(8, 16 - len([position for position in held if position // 16 == 1]))
    story.said(26, step.of("seq_lens", "V"))
    story.said(14, step.of("dcp_local_seq_lens", "V"), len([position for position in held if position < 26]))


@tells("context-parallel-interleave-1")
def test_context_parallel_interleave_1(story: Story) -> None:
    step = story.step
    by_fours = [Story(f"context-parallel-rank-{rank}-of-2").step.of("dcp_local_seq_lens", "V") for rank in (0, 1)]
    parallel = story.config("context_parallel")
    story.said(1, parallel["interleave"], parallel["rank"])
    story.said(0, 1 - parallel["rank"])
    story.said(2, parallel["size"])
    story.said(14, by_fours[0])
    story.said(12, by_fours[1])
    story.said(26, step.of("seq_lens", "V"))
    odd = [*range(1, 26, 2)]
    story.said(13, step.of("dcp_local_seq_lens", "V"), len(odd), 26 - len(odd))
    story.said(25, odd[-1])
    lens = range(1, 200)
    for interleave in (1, 4):
        counts = [[sum(at // interleave % 2 == rank for at in range(length)) for rank in (0, 1)] for length in lens]
        story.said(interleave, max(abs(first - second) for first, second in counts))
    story.said(10, step.of("num_scheduled_tokens", "V"))
    story.said(5, sum(slot >= 0 for slot in step.of("slot_mappings", "V")))
    positions = [at for at, is_local in zip(step.of("positions", "V"), step.of("is_local", "V"), strict=True) if is_local]
    assert positions == [17, 19, 21, 23, 25]


@tells("sliding-window-null-blocks")
def test_sliding_window_null_blocks(story: Story) -> None:
    step, group = story.step, story.config("kv_cache_groups")[0]
    story.said(8, group["sliding_window"])
    story.said(4, group["block_size"])
    story.said(24, step.of("num_computed_tokens", "S"), *step.of("positions", "S"))
    story.said(17, 24 - (8 - 1))
    story.said(4, 17 // 4)
    assert step.blocks("S") == [11, 12, 13, 14, 15, 16, 17]
    for column, block_id in enumerate((11, 12, 13, 14)):
        story.said(block_id, step.blocks("S")[column])
        story.said(0, step.of("input_block_tables", "S")[column])
    assert step.of("input_block_tables", "S")[4:] == [15, 16, 17]
    story.said(11, step.blocks("N")[0])
    assert step.row("S") == 7 and step.batch_idx("S") == 0


@tells("two-groups-two-block-sizes")
def test_two_groups_two_block_sizes(story: Story) -> None:
    step = story.step
    full, window = story.config("kv_cache_groups")
    story.said(16, full["block_size"])
    story.said(8, window["block_size"])
    story.said(32, window["sliding_window"])
    assert step.blocks("H", 0) == [31, 4] and step.blocks("H", 1) == [18, 50, 27]
    assert len({*step["kv_block_ids"]}) == len(step["kv_block_ids"]) == 2 + 3
    for block_id, held in ((31, step.blocks("H", 0)[0]), (18, step.blocks("H", 1)[0]), (50, step.blocks("H", 1)[1])):
        story.said(block_id, held)
    story.said(20, *step.of("positions", "H"))
    story.said(1, 20 // 16, *step.of("block_indices", "H", 0))
    story.said(4, 20 % 16, *step.of("block_offsets", "H", 0))
    story.said(4, *step.of("block_numbers", "H", 0))
    story.said(68, 4 * 16 + 4, *step.of("slot_mappings", "H", 0))
    story.said(2, 20 // 8, *step.of("block_indices", "H", 1))
    story.said(4, 20 % 8, *step.of("block_offsets", "H", 1))
    story.said(27, *step.of("block_numbers", "H", 1))
    story.said(220, 27 * 8 + 4, *step.of("slot_mappings", "H", 1))
