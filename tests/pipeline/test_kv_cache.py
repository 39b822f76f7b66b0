"""From slots to bytes, worked out by hand."""

import torch

from app.pipeline.kv_cache import KVCacheLayout


def ints(*values: int) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.int64)


def test_a_slot_of_the_worked_example() -> None:
    layout = KVCacheLayout(num_kv_heads=8, head_size=128, itemsize=2, order="NHD")
    assert layout.bytes_per_head == 512  # 2 * 128 * 2
    assert layout.bytes_per_slot == 4_096  # 8 heads
    assert layout.byte_offsets(ints(12), ints(15), 16).tolist() == [847_872]  # 207 * 4,096
    assert layout.byte_offsets(ints(12), ints(15), 16, kv_head=3).tolist() == [849_408]  # + 3 * 512


def test_hnd_puts_the_heads_of_a_block_one_behind_the_other() -> None:
    layout = KVCacheLayout(num_kv_heads=8, head_size=128, itemsize=2, order="HND")
    # ((12 * 8 + 0) * 16 + 15) * 512 = 1551 * 512
    assert layout.byte_offsets(ints(12), ints(15), 16).tolist() == [794_112]
    # ((12 * 8 + 3) * 16 + 15) * 512 = 1599 * 512
    assert layout.byte_offsets(ints(12), ints(15), 16, kv_head=3).tolist() == [818_688]


def test_every_byte_of_a_layer_is_used_once_in_both_orders() -> None:
    for order in ("NHD", "HND"):
        layout = KVCacheLayout(num_kv_heads=3, head_size=2, itemsize=1, order=order)
        blocks, offsets = ints(0, 0, 0, 0, 1, 1, 1, 1), ints(0, 1, 2, 3, 0, 1, 2, 3)
        starts = torch.cat([layout.byte_offsets(blocks, offsets, 4, head) for head in range(3)])
        assert sorted(starts.tolist()) == [4 * piece for piece in range(24)]  # 8 slots * 3 heads, 4 bytes each


def test_byte_offsets_pass_two_to_the_31() -> None:
    layout = KVCacheLayout(num_kv_heads=8, head_size=128, itemsize=2, order="NHD")
    assert layout.byte_offsets(ints(32_768), ints(0), 16).tolist() == [2**31]  # 524,288 * 4,096
