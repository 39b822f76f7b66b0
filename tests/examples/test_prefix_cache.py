"""Prefix caching and sharing: tokens that count as computed, and blocks that several rows name."""

from tests.examples.story import Story, tells


@tells("a-prefix-hit")
def test_a_prefix_hit(story: Story) -> None:
    step = story.step
    story.said(40, story.prompt_lens["P"], step.of("seq_lens", "P"))
    story.said(32, step.of("num_computed_tokens", "P"), step.of("positions", "P")[0], 2 * 16)
    story.said(8, step.of("num_scheduled_tokens", "P"), 40 - 32)
    assert step.blocks("P") == [14, 52, 30] == step.of("input_block_tables", "P")
    story.said(14, step.blocks("P")[0])
    story.said(52, step.blocks("P")[1])
    story.said(30, step.blocks("P")[2], *step.of("block_numbers", "P"))
    story.said(39, step.of("positions", "P")[-1])
    story.said(480, 30 * 16 + 0, step.of("slot_mappings", "P")[0])
    story.said(487, 30 * 16 + 7, step.of("slot_mappings", "P")[-1])


@tells("a-full-hit-runs-one-block-again")
def test_a_full_hit_runs_one_block_again(story: Story) -> None:
    before, step = story.steps[:2]
    x, y = (request["prompt_token_ids"] for request in story.example.scenario["requests"])
    assert x == y
    story.said(12, len(y), before["num_tokens"])
    assert before.blocks("X") == [5, 9, 3] and step.blocks("Y") == [5, 9, 14]
    story.said(5, step.blocks("X")[0], step.blocks("Y")[0])
    story.said(9, step.blocks("X")[1], step.blocks("Y")[1])
    story.said(3, step.blocks("X")[2])
    story.said(14, *step.of("block_numbers", "Y"))
    story.said(11, 12 - 1, step.of("positions", "Y")[-1])
    story.said(4, story.config("kv_cache_groups")[0]["block_size"], step.of("num_scheduled_tokens", "Y"))
    story.said(2, 11 // 4)
    story.said(8, 2 * 4, step.of("num_computed_tokens", "Y"), step.of("positions", "Y")[0])
    assert step.of("num_sampled", "Y") == 1
    assert not {slot // 4 for slot in step["slot_mappings"][0]} & {5, 9, 3}


@tells("shared-prefix-blocks")
def test_shared_prefix_blocks(story: Story) -> None:
    before, step, after = story.steps
    story.at_step(0, 1, 2)
    prompts = [request["prompt_token_ids"] for request in story.example.scenario["requests"]]
    common = [set(column) for column in zip(*prompts, strict=False)]
    story.said(8, next(at for at, ids in enumerate(common) if len(ids) > 1))
    story.said(8, step.of("num_computed_tokens", "B"), step.of("num_computed_tokens", "C"), step.of("positions", "B")[0])
    story.said(4, story.config("kv_cache_groups")[0]["block_size"])
    story.said(10, *(step.blocks(req_id)[0] for req_id in "ABC"))
    story.said(11, *(step.blocks(req_id)[1] for req_id in "ABC"))
    assert not {slot // 4 for slot in step["slot_mappings"][0]} & {10, 11}
    assert before.of("num_computed_tokens", "A") + before.of("num_scheduled_tokens", "A") >= 8
    story.said(20, step.blocks("A")[2])
    story.said(3, *(len(step.blocks(req_id)) for req_id in "ABC"))
    story.said(5, step.num_used_blocks, 2 + 3)
    story.said(9, 3 * 3)
    assert after.num_used_blocks == 4 and {10, 11} <= set(after["kv_block_ids"]) and 20 not in after["kv_block_ids"]


@tells("a-hit-on-blocks-not-yet-written")
def test_a_hit_on_blocks_not_yet_written(story: Story) -> None:
    step = story.step
    x, y = (request["prompt_token_ids"] for request in story.example.scenario["requests"])
    assert x == y and step["schedule_req_ids"] == ["X", "Y"]
    assert step["row_status"].count("added") == 2  # both new in this step
    story.said(12, len(x), step.of("num_scheduled_tokens", "X"))
    story.said(8, step.of("num_computed_tokens", "Y"))
    story.said(4, step.of("num_scheduled_tokens", "Y"), story.config("kv_cache_groups")[0]["block_size"])
    story.said(5, step.blocks("X")[0], step.blocks("Y")[0])
    story.said(9, step.blocks("X")[1], step.blocks("Y")[1])
    story.said(16, step["num_tokens"], 12 + 4)
    slots = step.of("slot_mappings", "X")
    story.said(20, 5 * 4, slots[0])
    story.said(23, 5 * 4 + 3, slots[3])
    story.said(36, 9 * 4, slots[4])
    story.said(39, 9 * 4 + 3, slots[7])
    story.said(0, step.batch_idx("Y"))
    story.said(1, step.batch_idx("X"))
