"""How well a step uses the KV cache, in numbers: blocks, slots, bytes, and what reserving would have cost.

Paging gives a request blocks as it grows; an engine without it reserves `max_model_len` slots for each. Both are counted
here, for the requests that are live in the step.
"""

from typing import Any

from app.scenario.format.model import Config
from app.trace.step import StepTensors


def measure_usage(step: StepTensors, config: Config) -> dict[str, Any]:
    """Numbers of the pool and of each group, after the step.

    A block that several requests share counts once, and so do its slots. A group's `num_waste_slots` are slots of its blocks
    that hold no valid token (internal fragmentation); `num_loaded_slots` are filled ones that no request of the scenario
    computed; `num_reserved_slots` is what `max_model_len` for every live request would take on this rank.
    """
    blocks = step.kv_blocks
    num_layers, bytes_per_slot = config.kv_cache.num_layers, step.layout.bytes_per_slot
    groups = []
    for index, group in enumerate(config.kv_cache_groups):
        total = blocks.totals[index]
        num_slots = total.num_blocks * group.block_size
        num_reserved = len(step.live_rows) * config.num_columns(group) * group.block_size
        groups.append(
            {
                "name": group.name,
                "block_size": group.block_size,
                "num_blocks": total.num_blocks,
                "num_slots": num_slots,
                "num_filled_slots": total.num_filled,
                "num_loaded_slots": total.num_loaded,
                "num_waste_slots": num_slots - total.num_filled,
                "num_written_slots": total.num_written,
                "num_readable_slots": total.num_readable,
                "num_reserved_slots": num_reserved,
                "bytes_per_layer": num_slots * bytes_per_slot,
                "reserved_bytes_per_layer": num_reserved * bytes_per_slot,
            }
        )
    return {
        "num_blocks": config.num_blocks - 1,
        "num_used_blocks": step.planned.num_used_blocks,
        "num_free_blocks": step.planned.num_free_blocks,
        "num_stale_blocks": len(step.stale_block_ids),
        "num_layers": num_layers,
        "bytes_per_slot": bytes_per_slot,
        "groups": groups,
    }
