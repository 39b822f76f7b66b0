"""Large, and all at once."""

from tests.examples.story import Story, tells


@tells("two-groups-drafts-padding-preemption")
def test_two_groups_drafts_padding_preemption(story: Story) -> None:
    padded, after = story.steps[2:4]
    full, window = story.config("kv_cache_groups")
    story.at_step(1, 2, 3, 4, 5)
    story.said(16, full["block_size"])
    story.said(24, window["sliding_window"])
    story.said(8, window["block_size"])
    story.said(2, story.config("num_speculative_tokens"), padded["num_reqs"], *padded["num_draft_tokens"])
    story.said(3, padded["num_reqs_padded"])
    story.said(9, padded["num_tokens_padded"])
    assert padded["slot_mappings"][0][6:] == [-1, -1, -1] and padded["input_block_tables"][0][2] == []
    assert (padded.of("num_rejected", "Q"), padded.of("num_rejected", "P")) == (0, 1)

    # P's rejected draft stood at the last of its positions; step 3 runs that position again, in the same slot.
    story.said(39, padded.of("positions", "P")[-1], *after.of("positions", "P"))
    story.said(439, padded.of("slot_mappings", "P")[-1], *after.of("slot_mappings", "P"))

    assert "P" not in story.steps[4]["req_id_to_index"]
    back = story.steps[5]
    story.said(3, back.row("P"), padded.row("P"))
    story.said(37, story.prompt_lens["P"], back.of("prompt_len", "P"))
    sampled = [step.of("num_sampled", "P") for step in story.steps[:4]]
    assert sampled == [0, 1, 2, 1]
    story.said(4, sum(sampled))
    story.said(41, back.of("prefill_len", "P"), 37 + 4)
    assert 0 in after.of("input_block_tables", "P", group=1)


@tells("256-requests")
def test_256_requests(story: Story) -> None:
    step = story.step
    story.said(256, step["num_reqs"])
    story.said(16_384, step["num_tokens"], story.config("max_num_batched_tokens"))
    counts = step["num_scheduled_tokens"]
    story.said(200, counts.count(1), counts.index(289), step["query_start_loc"][200])
    assert not any(step["is_prefilling"][:200]) and all(step["is_prefilling"][200:])
    story.said(56, len(counts[200:]), counts.count(289))
    story.said(289, *counts[200:])
    story.said(16_184, sum(counts[200:]), 56 * 289)
    story.said(4_095, story.config("num_blocks") - 1)
    story.said(3_135, step.num_used_blocks)
    story.said(960, step.num_free_blocks, 4_095 - 3_135)


@tells("64-decodes-and-one-long-prefill")
def test_64_decodes_and_one_long_prefill(story: Story) -> None:
    step, then = story.steps[:2]
    story.at_step(1)
    for index, request in enumerate(story.example.scenario["requests"][:-1]):  # the rule that the file names
        outputs = {"output_token_ids": 1 + 7 * index % 20}
        assert request == {"req_id": f"d{index}", "prompt_len": 50 + 37 * index % 200, "initial": outputs}
    story.said(3_000, story.prompt_lens["P"], 1_984 + 1_016)
    story.said(2_048, story.config("max_num_batched_tokens"), step["num_tokens"])
    assert step["num_scheduled_tokens"][:64] == [1] * 64 and not any(step["is_prefilling"][:64])
    story.said(64, step["is_prefilling"].index(True), step.batch_idx("P"), step["query_start_loc"][64])
    story.said(1_984, 2_048 - 64, step.of("num_scheduled_tokens", "P"))
    story.said(65, step["num_reqs"])
    story.said(0, step["query_start_loc"][0])
    story.said(63, step["query_start_loc"][64] - 1)
    story.said(1_016, 3_000 - 1_984, then.of("num_scheduled_tokens", "P"))
    assert all(later["num_scheduled_tokens"][:64] == [1] * 64 for later in story.steps)
