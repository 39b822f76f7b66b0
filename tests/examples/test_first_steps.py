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


@tells("a-decode-opens-a-new-block")
def test_a_decode_opens_a_new_block(story: Story) -> None:
    step = story.step
    story.said(32, story.prompt_lens["X"], step.of("num_computed_tokens", "X"), *step.of("positions", "X"))
    story.said(20, story.prompt_lens["Y"], step.of("num_computed_tokens", "Y"), *step.of("positions", "Y"))
    story.said(16, story.config("kv_cache_groups")[0]["block_size"])
    story.said(2, 32 // 16, *step.of("block_indices", "X"))
    story.said(0, 32 % 16, *step.of("block_offsets", "X"))
    assert story.steps[0].blocks("X") == [58, 9] and step.blocks("X") == [58, 9, 71]
    story.said(71, *step.of("block_numbers", "X"))
    story.said(1_136, 71 * 16 + 0, *step.of("slot_mappings", "X"))
    assert step.blocks("Y") == story.steps[0].blocks("Y")
    story.said(33, *step.of("block_numbers", "Y"), step.blocks("Y")[1])
    story.said(4, 20 % 16, *step.of("block_offsets", "Y"))
    story.said(532, 33 * 16 + 4, *step.of("slot_mappings", "Y"))


@tells("logical-is-not-physical")
def test_logical_is_not_physical(story: Story) -> None:
    step = story.step
    positions, indices, offsets = (step.of(name, "S") for name in ("positions", "block_indices", "block_offsets"))
    slots = step.of("slot_mappings", "S")
    assert positions == [*range(12)] and step.blocks("S") == [9, 2, 6]
    story.said(12, story.prompt_lens["S"])
    story.said(9, step.of("block_numbers", "S")[3])
    story.said(2, step.of("block_numbers", "S")[4])
    story.said(6, step.of("block_numbers", "S")[8])
    story.said(3, positions[3], offsets[3])
    story.said(0, indices[3], offsets[4])
    story.said(39, 9 * 4 + 3, slots[3])
    story.said(40, slots[3] + 1)
    story.said(4, positions[4], story.config("kv_cache_groups")[0]["block_size"])
    story.said(1, indices[4])
    story.said(8, 2 * 4 + 0, slots[4])


@tells("seq-lens-is-not-the-scheduled-count")
def test_seq_lens_is_not_the_scheduled_count(story: Story) -> None:
    step = story.step
    story.said(40, step.of("num_computed_tokens", "A"))
    story.said(60, story.prompt_lens["A"], step.of("prompt_len", "A"))
    story.said(12, step.of("num_scheduled_tokens", "A"))
    story.said(52, 40 + 12, step.of("seq_lens", "A"))
    story.said(25, step.of("num_computed_tokens", "D"))
    story.said(26, 25 + 1, step.of("seq_lens", "D"))
    assert step.of("num_scheduled_tokens", "D") == 1


@tells("an-unfinished-chunk-yields-no-token")
def test_an_unfinished_chunk_yields_no_token(story: Story) -> None:
    step, then = story.steps[:2]
    story.at_step(1)
    story.said(6, story.prompt_lens["D"], step.of("num_scheduled_tokens", "D"), step.of("seq_lens", "D"))
    story.said(20, step.of("num_scheduled_tokens", "U"), step.of("seq_lens", "U"))
    story.said(30, story.prompt_lens["U"], step.of("prefill_len", "U"), then.of("seq_lens", "U"))
    assert step["cu_num_logits"] == [0, 1, 2]  # one row of logits each
    story.said(0, step.of("num_sampled", "U"))
    assert step.of("num_sampled", "D") == 1
    story.said(10, then.of("num_scheduled_tokens", "U"))
    assert then.of("num_sampled", "U") == 1


@tells("the-last-position-of-max-model-len")
def test_the_last_position_of_max_model_len(story: Story) -> None:
    step = story.step
    story.at_step(0, 1, 2)
    story.said(32, story.config("max_model_len"), step.of("total_len_after", "Z"))
    story.said(31, 32 - 1, step.of("total_len", "Z"))  # 31 tokens known before, so the next one takes position 31
    story.said(29, story.prompt_lens["Z"])
    assert [earlier.of("num_sampled", "Z") for earlier in story.steps[:2]] == [1, 1]
    story.said(30, *step.of("positions", "Z"))
    story.said(3, *step.of("block_numbers", "Z"))
    story.said(62, 3 * 16 + 30 % 16, *step.of("slot_mappings", "Z"))
    story.said(63, 3 * 16 + 31 % 16)
    assert all(63 not in earlier["slot_mappings"][0] for earlier in story.steps[:3])
    assert story.steps[3]["req_ids"] == [] == story.steps[3]["events"][1:]
    assert story.steps[3]["events"][0]["reason"] == "finished"


@tells("a-slot-is-not-a-byte")
def test_a_slot_is_not_a_byte(story: Story) -> None:
    step, cache = story.step, story.config("kv_cache")
    story.said(40_000, story.config("num_blocks"))
    story.said(36_000, *step.of("block_numbers", "G"))
    story.said(16, story.config("kv_cache_groups")[0]["block_size"])
    story.said(5, *step.of("block_offsets", "G"))
    story.said(576_005, 36_000 * 16 + 5, *step.of("slot_mappings", "G"))
    story.said(8, cache["num_kv_heads"])
    story.said(128, cache["head_size"])
    assert cache["dtype"] == "float16"
    story.said(2, step["kv_cache"]["bytes_per_slot"] // (2 * 8 * 128))  # bytes of a float16; the other 2 is K and V
    story.said(4_096, 2 * 8 * 128 * 2, step["kv_cache"]["bytes_per_slot"])
    story.said(2_621_440_000, 40_000 * 16 * 4_096)
    story.said(2_359_316_480, 576_005 * 4_096, *step.of("slot_byte_offsets", "G"))
    story.said(2_147_483_648, 2**31)
    story.said(31, (2_147_483_648).bit_length() - 1)
    story.said(32, 31 + 1)  # and the sign
    assert 2**31 < 576_005 * 4_096 < 2**32
