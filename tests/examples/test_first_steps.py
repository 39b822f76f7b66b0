"""First steps: from a position to a slot, and what the counts of a step mean."""

from tests.examples.story import Story, tells


@tells("worked-example")
def test_worked_example(story: Story) -> None:
    step = story.step
    story.said(31, story.prompt_lens["B"], step.of("num_computed_tokens", "B"), *step.of("positions", "B"))
    story.said(8, step.of("num_scheduled_tokens", "A"), story.prompt_lens["A"] - step.of("num_computed_tokens", "A"))
    story.said(37, step.blocks("B")[0])
    story.said(0, step.blocks("B").index(37))
    story.said(12, step.blocks("B")[1])
    story.said(16, story.config("kv_cache_groups")[0]["block_size"])
    story.said(1, 31 // 16, *step.of("block_indices", "B"))
    story.said(15, 31 % 16, *step.of("block_offsets", "B"))
    story.said(207, 12 * 16 + 15, *step.of("slot_mappings", "B"))

    assert step["idx_mapping"] == [7, 6]
    assert step["query_start_loc"] == [0, 1, 9]
    assert step["positions"] == [31, *range(16, 24)]
    assert step["seq_lens"] == [32, 24]
    assert step["input_ids"] == [1031, *range(2016, 2024)]
    assert step["slot_mappings"] == [[207, *range(704, 712)]]  # 12 * 16 + 15, 44 * 16 + 0..7
    assert step["slot_byte_offsets"][0][0] == 847_872  # 207 * 4,096


@tells("chunked-prefill-and-a-new-block")
def test_chunked_prefill(story: Story) -> None:
    now, then = story.steps[1:3]
    story.at_step(1, 2)
    story.said(40, story.prompt_lens["C"], 16 + 16 + 8)
    chunks = [step.of("num_scheduled_tokens", "C") for step in story.steps[1:4]]
    story.said(16, *chunks[:2], then.of("num_computed_tokens", "C"), then.of("positions", "C")[0])
    story.said(8, chunks[2])
    story.said(0, now.of("num_computed_tokens", "C"), now.of("positions", "C")[0])
    story.said(15, now.of("positions", "C")[-1], 0 + 16 - 1)
    story.said(31, then.of("positions", "C")[-1], 16 + 16 - 1)
    story.said(32, story.steps[3].of("num_computed_tokens", "C"))
    for step in story.steps[1:]:
        assert (step.of("num_scheduled_tokens", "D"), step.of("num_scheduled_tokens", "E")) == (1, 1)

    # D: 30 computed, one token a step from position 30 on, so position 32 comes in step 3, in a third block: 32 // 16 = 2.
    step = story.steps[3]
    assert (step.of("positions", "D"), step.of("block_indices", "D")) == ([32], [2])
    assert "D" in [event["req_id"] for event in step["events"] if event["kind"] == "append_block_ids"]
    assert [step.of("num_sampled", "C") for step in story.steps[1:]] == [0, 0, 1, 1]
