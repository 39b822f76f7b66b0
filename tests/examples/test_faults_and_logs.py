"""Faults and logs: what nothing stops, and what cannot be known."""

from tests.examples.story import Story, tells


@tells("two-requests-one-block")
def test_two_requests_one_block(story: Story) -> None:
    before, step = story.steps
    story.at_step(1)
    story.said(20, story.prompt_lens["A"], step.of("num_computed_tokens", "A"))
    story.said(5, story.prompt_lens["B"], step.of("num_scheduled_tokens", "B"))
    assert before.blocks("A") == step.blocks("A") == [30, 12]
    story.said(12, step.blocks("A")[1], *step.blocks("B"))
    theirs = dict(zip(before.of("slot_mappings", "A"), before.of("positions", "A"), strict=True))
    over = dict(zip(step.of("slot_mappings", "B"), step.of("positions", "B"), strict=True))
    story.said(4, len([slot for slot in theirs if slot // 16 == 12]))
    story.said(192, 12 * 16, min(over))
    story.said(195, 12 * 16 + 3)
    story.said(16, theirs[192])
    story.said(19, theirs[195])
    story.said(0, over[192])
    story.said(3, over[195])
    story.said(196, 12 * 16 + 20 % 16, *step.of("slot_mappings", "A"), step.of("slot_mappings", "B")[-1])
    violated = {check["name"]: [(cell["space"], cell["at"]) for cell in check["cells"]] for check in step["checks"]}
    assert {name: cells for name, cells in violated.items() if cells} == {
        "slots_unique": [("slot_mappings", [0, 0]), ("slot_mappings", [0, 5])],
        "blocks_owned_once": [("block_tables", [0, 7, 1]), ("block_tables", [0, 6, 0])],
    }


@tells("blocks-that-a-crash-dump-does-not-tell")
def test_blocks_that_a_crash_dump_does_not_tell(story: Story) -> None:
    step = story.step
    story.said(48, step.of("num_computed_tokens", "U"), *step.of("positions", "U"))
    story.said(33, step.of("num_computed_tokens", "T"), *step.of("positions", "T"))
    assert step.blocks("U") == [None, None, None, 57] and step.blocks("T") == [None, None, None]
    story.said(16, story.config("kv_cache_groups")[0]["block_size"])
    story.said(3, 48 // 16, *step.of("block_indices", "U"))
    story.said(0, 48 % 16, *step.of("block_offsets", "U"))
    story.said(57, *step.of("block_numbers", "U"))
    story.said(912, 57 * 16 + 0, *step.of("slot_mappings", "U"))
    story.said(2, 33 // 16, *step.of("block_indices", "T"))
    story.said(1, 33 % 16, *step.of("block_offsets", "T"))
    assert step.of("block_numbers", "T") == step.of("slot_mappings", "T") == [None]
