"""Preemption and the block pool: what is given up, what is found again, and what happens when nothing is left."""

from tests.examples.story import Story, tells


@tells("the-pool-runs-out")
def test_the_pool_runs_out(story: Story) -> None:
    before, step = story.steps
    story.at_step(1)
    stopped = story.trace["stopped"]
    story.said(2, stopped["step"], step.of("num_blocks", "A"))
    story.said(6, story.config("num_blocks"))
    story.said(5, story.config("num_blocks") - 1, step.num_used_blocks)
    story.said(4, story.config("kv_cache_groups")[0]["block_size"])
    story.said(3, step.of("num_blocks", "B"))
    assert not any(step["is_prefilling"]) and step["req_ids"] == ["A", "B"]
    assert step["kv_block_ids"][1] == 2 == step.blocks("A")[-1]
    assert (before["kv_block_num_filled"][1], step["kv_block_num_filled"][1]) == (3, 4)
    story.said(8, step.of("positions", "A")[0] + 1, 2 * 4)
    story.said(1, stopped["needed"])
    story.said(0, stopped["free"], step.num_free_blocks)


@tells("preemption-makes-room")
def test_preemption_makes_room(story: Story) -> None:
    before, step = story.steps[1:3]
    story.at_step(2, 5)
    story.said(5, before.num_used_blocks, story.config("num_blocks") - 1)
    story.said(4, story.config("kv_cache_groups")[0]["block_size"])
    assert before.num_free_blocks == 0 and before.blocks("B") == [3, 4, 5]
    story.said(3, before.blocks("B")[0])
    story.said(8, *step.of("positions", "A"))
    story.said(5, before.blocks("B")[-1], step.blocks("A")[-1], *step.of("block_numbers", "A"))
    assert before.blocks("A") == step.blocks("A")[:-1]
    story.said(11, before.of("num_computed_tokens_after", "B"))
    back = story.steps[5]
    story.said(0, back.of("num_computed_tokens", "B"))
    story.said(10, story.prompt_lens["B"], back.of("prompt_len", "B"))
    story.said(2, sum(earlier.of("num_sampled", "B") for earlier in story.steps[:2]))
    story.said(12, back.of("prefill_len", "B"), 10 + 2)


@tells("preempted-then-back-in-another-row")
def test_preempted_then_back_in_another_row(story: Story) -> None:
    before, without, back = story.steps[1:4]
    story.at_step(2, 3)
    story.said(20, story.prompt_lens["P"], back.of("prompt_len", "P"))
    story.said(2, sum(step.of("num_sampled", "P") for step in story.steps[:2]))
    story.said(7, before.row("P"), without["free_indices"][-1])
    story.said(6, before.row("Q"), back.row("P"))
    story.said(22, 20 + 2, back.of("prefill_len", "P"), back.of("num_scheduled_tokens", "P"))
    assert back.of("positions", "P") == [*range(22)] and back.of("num_computed_tokens", "P") == 0
    assert back.of("num_sampled", "P") == 1


@tells("a-resumed-request-finds-its-own-blocks")
def test_a_resumed_request_finds_its_own_blocks(story: Story) -> None:
    before, taken, step = story.steps[2:5]
    story.at_step(3, 4)
    story.said(5, story.config("num_blocks") - 1, before.num_used_blocks)
    story.said(4, story.config("kv_cache_groups")[0]["block_size"])
    assert before.blocks("Q") == [1, 2] and before.blocks("P") == [3, 4, 5]
    story.said(1, before.blocks("Q")[0])
    story.said(2, before.blocks("Q")[1])
    assert before.of("num_computed_tokens_after", "P") == 3 * 4  # all full
    story.said(5, before.blocks("P")[2], *taken.of("block_numbers", "Q"))
    story.said(3, step.blocks("P")[0])
    story.said(4, step.blocks("P")[1])
    story.said(13, step.of("prefill_len", "P"), 10 + 3)
    assert story.prompt_lens["P"] + sum(earlier.of("num_sampled", "P") for earlier in story.steps[:3]) == 13
    story.said(8, 2 * 4, step.of("num_computed_tokens", "P"), step.of("positions", "P")[0])
    story.said(5, 13 - 8, step.of("num_scheduled_tokens", "P"))
    story.said(12, step.of("positions", "P")[-1], 13 - 1)


@tells("what-paging-saves")
def test_what_paging_saves(story: Story) -> None:
    step = story.step
    (use,) = step["kv_cache"]["groups"]
    story.said(3, step["num_reqs"])
    for req_id, prompt_len in (("A", 20), ("B", 33), ("C", 5)):
        story.said(prompt_len, story.prompt_lens[req_id])
    story.said(128, story.config("max_model_len"))
    story.said(16, use["block_size"])
    story.said(6, use["num_blocks"], 2 + 3 + 1)
    story.said(96, use["num_slots"], 6 * 16)
    story.said(58, use["num_filled_slots"], 20 + 33 + 5)
    story.said(38, use["num_waste_slots"], 96 - 58)
    story.said(15, 16 - 1, 3 * 16 - 33)  # B has the worst case
    story.said(384, use["num_reserved_slots"], 3 * 128)
    story.said(326, 384 - 58)
