"""Batch rows and pool rows: who stands where, for how long, and what is left behind."""

from tests.examples.story import Story, tells


@tells("a-row-is-recycled")
def test_a_row_is_recycled(story: Story) -> None:
    before, after, _ = story.steps
    story.said(7, before.row("F"), after.row("G"))
    story.said(40, story.prompt_lens["F"])
    story.said(3, before.of("num_blocks", "F"), -(-40 // 16))
    story.said(1, after.of("num_blocks", "G"), -(-12 // 16))
    story.said(12, story.prompt_lens["G"], after.of("seq_lens", "G"))
    first, second, last = before.blocks("F")
    # The last block comes first; behind it is what F left.
    assert after["block_tables"][0][7] == [last, second, last] and after.blocks("G") == [last]
    story.said(22, last, after.blocks("G")[0], after["block_tables"][0][7][2])
    story.said(36, second, after["block_tables"][0][7][1])
    assert second not in after["kv_block_ids"] and first not in after["kv_block_ids"]


@tells("batch-row-is-not-pool-row")
def test_batch_row_is_not_pool_row(story: Story) -> None:
    before, step = story.steps[:2]
    assert before["schedule_req_ids"] == ["A", "B", "C"] and step["req_ids"] == ["B", "C", "A"]
    story.said(7, step.row("A"))
    story.said(6, step.row("B"), step["idx_mapping"][0])
    story.said(5, step.row("C"))
    story.said(0, step.batch_idx("B"))
    assert step["row_status"][0] == "unused"
    story.said(20, before.of("num_scheduled_tokens", "A"), step.of("num_scheduled_tokens", "A"))
    assert step.of("positions", "A") == [*range(20, 40)]  # the second 20
    story.said(10, step["num_computed_tokens"][6], *step.of("positions", "B"))


@tells("same-request-another-batch-row")
def test_same_request_another_batch_row(story: Story) -> None:
    step, then = story.steps[1:3]
    story.at_step(1, 2)
    story.said(8, step.of("num_scheduled_tokens", "A"), story.prompt_lens["A"] - step.of("num_computed_tokens", "A"))
    story.said(7, step.row("A"), then.row("A"))
    story.said(6, step.row("B"), then.row("B"))
    assert (step["idx_mapping"], then["idx_mapping"]) == ([6, 7], [7, 6])
    assert step["sort_key"] == [[1, 0, 1], [1, 1, 8]]
    assert then["sort_key"] == [[1, 0, 1], [1, 0, 1]]
    story.said(1, *then["num_scheduled_tokens"], step.of("num_scheduled_tokens", "B"))
    assert step["schedule_req_ids"] == then["schedule_req_ids"] == then["req_ids"] == ["A", "B"]
    assert step["req_ids"] == ["B", "A"]


@tells("finish-and-admit-in-one-step")
def test_finish_and_admit_in_one_step(story: Story) -> None:
    before, step = story.steps[:2]
    story.at_step(1)
    story.said(2, story.config("max_num_reqs"))
    story.said(1, before.row("B"), step.row("C"))
    story.said(0, before.row("A"), step.row("D"))
    events = [(event["kind"], event["req_id"]) for event in step["events"]][:4]
    assert events == [*(("remove_request", name) for name in "AB"), *(("add_request", name) for name in "CD")]
    assert story.example.scenario["steps"][1]["finished_req_ids"] == ["B", "A"]  # the names decide, not this order


@tells("a-step-that-schedules-nothing")
def test_a_step_that_schedules_nothing(story: Story) -> None:
    before, step, after = story.steps
    story.at_step(0, 1, 2)
    story.said(12, before["num_tokens"], step["num_computed_tokens"][7])
    assert (step["num_tokens"], step["req_ids"], "slot_mappings" in step["spaces"]) == (0, [], False)
    story.said(7, before.row("F"), after.row("G"), step["free_indices"][-1])
    assert [(event["kind"], event["req_id"]) for event in step["events"]] == [("remove_request", "F")]
    assert step["row_status"][7] == "freed"
    assert after["num_computed_tokens"][7] == 0
