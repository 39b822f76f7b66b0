"""From a slot to bytes: where one slot's K and V lie inside one layer's KV cache.

A slot is a unit: it holds K and V of one token for every KV head of one layer. The logical shape of a layer is
`[num_blocks, num_kv_heads, block_size, 2 * head_size]`, K and V side by side in the last axis; NHD and HND name the two
physical orders (vllm/v1/attention/backends/utils.py, `get_kv_cache_layout`).
"""

from dataclasses import dataclass
from typing import Literal, get_args

from torch import Tensor

Layout = Literal["NHD", "HND"]
LAYOUTS: tuple[Layout, ...] = get_args(Layout)
ITEM_SIZES = {"float32": 4, "float16": 2, "bfloat16": 2, "fp8": 1}  # bytes per element


@dataclass(frozen=True)
class KVCacheLayout:
    """The size and order of one layer's cache."""

    num_kv_heads: int
    head_size: int
    itemsize: int  # bytes per element
    order: Layout

    @property
    def bytes_per_head(self) -> int:
        """Bytes of K and V of one token for one KV head."""
        return 2 * self.head_size * self.itemsize

    @property
    def bytes_per_slot(self) -> int:
        """Bytes of one slot in one layer."""
        return self.num_kv_heads * self.bytes_per_head

    def byte_offsets(self, block_numbers: Tensor, block_offsets: Tensor, block_size: int, kv_head: int = 0) -> Tensor:
        """Where KV head `kv_head` of each slot starts inside a layer, in bytes.

        Args:
            block_numbers: [num_tokens] int64 physical block of each token.
            block_offsets: [num_tokens] int64 offset inside it.
            block_size: slots per block.
            kv_head: 0..num_kv_heads - 1.

        Returns:
            [num_tokens] int64.
        """
        if self.order == "NHD":  # [block, offset, head, content]: a slot is contiguous
            slot_ids = block_numbers * block_size + block_offsets
            return slot_ids * self.bytes_per_slot + kv_head * self.bytes_per_head
        # HND [block, head, offset, content]: a slot is spread over its block, one piece per head
        return ((block_numbers * self.num_kv_heads + kv_head) * block_size + block_offsets) * self.bytes_per_head
