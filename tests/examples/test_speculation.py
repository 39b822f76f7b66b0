"""Speculative decoding: drafts verified, rejected, counted and sorted."""

from tests.examples.story import Story, tells


@tells("a-rejected-draft")
def test_a_rejected_draft(story: Story) -> None:
    step, then = story.steps[1:3]
    story.at_step(1, 2)
    story.said(10, step.of("num_computed_tokens", "D"))
    story.said(23, *step.blocks("D"))
    story.said(4, step.of("num_scheduled_tokens", "D"), 1 + 3)
    story.said(3, step.of("num_draft_tokens", "D"))
    assert step.of("token_source", "D") == ["sampled", "draft", "draft", "draft"]
    story.said(2, step.of("num_sampled", "D"), step.of("num_rejected", "D"), (1 + 3) - 2)
    story.said(12, 10 + 4 - 2, step.of("num_computed_tokens_after", "D"), then.of("positions", "D")[0])
    written, again = step.of("slot_mappings", "D"), then.of("slot_mappings", "D")
    assert step.of("positions", "D") == [10, 11, 12, 13]
    story.said(380, 23 * 16 + 12, written[2], again[0])
    story.said(381, 23 * 16 + 13, written[3], again[1])
    assert not {*step.of("input_ids", "D")[2:]} & {*then.of("input_ids", "D")}  # other tokens


@tells("all-drafts-or-none")
def test_all_drafts_or_none(story: Story) -> None:
    step = story.step
    story.said(3, *step["num_draft_tokens"], step.of("num_rejected", "B"))
    assert step.of("num_rejected", "A") == 0
    story.said(4, step.of("num_sampled", "A"), 3 + 1)
    story.said(1, step.of("num_sampled", "B"))
    growth = {name: step.of("num_computed_tokens_after", name) - step.of("num_computed_tokens", name) for name in "AB"}
    story.said(4, growth["A"])
    story.said(1, growth["B"])


@tells("one-row-several-logits")
def test_one_row_several_logits(story: Story) -> None:
    step = story.step
    assert step["cu_num_logits"] == [0, 3, 4, 5] and step["logits_indices"] == [0, 1, 2, 3, 8]
    story.said(9, step["num_tokens"])
    story.said(2, step.of("num_draft_tokens", "A"), step["logits_indices"][2])
    story.said(3, step["num_reqs"], 1 + 2, step["cu_num_logits"][1], step["logits_indices"][3])
    story.said(1, step["cu_num_logits"][2] - 3, step["cu_num_logits"][3] - 4, step["logits_indices"][1])
    story.said(0, step["cu_num_logits"][0], step["logits_indices"][0], step.of("num_sampled", "C"))
    story.said(4, step["cu_num_logits"][2])
    story.said(5, len(step["logits_indices"]), step["cu_num_logits"][3], step.of("num_scheduled_tokens", "C"))
    story.said(8, step["logits_indices"][4], step.tokens("C").stop - 1)
    story.said(20, story.prompt_lens["C"])


@tells("drafts-change-the-batch-order")
def test_drafts_change_the_batch_order(story: Story) -> None:
    step = story.step
    assert step["schedule_req_ids"] == ["A", "C", "B"] and step["req_ids"] == ["B", "C", "A"]
    assert step["sort_key"] == [[0, 0, 3], [0, 1, 2], [1, 1, 1]]
    story.said(0, step["sort_key"][0][0], step["sort_key"][0][1], step["sort_key"][1][0])
    story.said(2, story.config("num_speculative_tokens"), step.of("num_scheduled_tokens", "C"))
    story.said(2, step.of("num_draft_tokens", "B"), step["sort_key"][1][2])
    story.said(1, step.of("num_scheduled_tokens", "A"), step.of("num_draft_tokens", "C"), *step["sort_key"][2])
    story.said(3, 1 + 2, step.of("num_scheduled_tokens", "B"), step["sort_key"][0][2])
    assert step.of("num_draft_tokens", "A") == 0


@tells("a-k-plus-1-token-prompt-is-not-a-decode")
def test_a_k_plus_1_token_prompt_is_not_a_decode(story: Story) -> None:
    step, then = story.steps[1:3]
    story.at_step(1, 2)
    story.said(2, story.config("num_speculative_tokens"), step.of("num_draft_tokens", "D"), *then["num_draft_tokens"])
    story.said(2, then["num_reqs"])
    story.said(3, 1 + 2, story.prompt_lens["P"], *step["num_scheduled_tokens"], *then["num_scheduled_tokens"])
    story.said(1, 3 - 2)
    assert story.config("cudagraph")["capture_sizes"] == [6, 12]
    story.said(6, step["num_tokens_padded"], then["num_tokens_padded"])
    story.said(12, story.config("cudagraph")["capture_sizes"][1])
    assert (step["is_prefilling"], then["is_prefilling"]) == ([False, True], [False, False])
    assert (step["cudagraph_mode"], then["cudagraph_mode"]) == ("PIECEWISE", "FULL")
    assert step["req_ids"] == ["D", "P"] and step["sort_key"] == [[0, 0, 3], [1, 0, 3]]  # P: no drafts
