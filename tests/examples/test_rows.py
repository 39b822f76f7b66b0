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
