"""Whether a document has a scenario's outline: enough of it to be drawn, so that whatever else is wrong with it can be
shown where it is. static/js/core/scenario/outline.js asks the same.
"""

from typing import Any

_BY_REQUEST = ("num_scheduled_tokens", "num_computed_tokens", "new_block_ids", "draft_token_ids", "sampled_token_ids")
_NAMES = ("finished_req_ids", "preempted_req_ids")


def has_outline(document: Any) -> bool:
    """True for a JSON-like document that a schedule can be drawn of."""
    if not isinstance(document, dict):
        return False
    requests, steps = document.get("requests"), document.get("steps")
    return (
        isinstance(document.get("title", ""), str | None)
        and _is_start(document.get("start_step"))
        and _is_config(document.get("config"))
        and isinstance(requests, list)
        and all(isinstance(request, dict) and isinstance(request.get("req_id"), str) for request in requests)
        and isinstance(steps, list)
        and all(map(_is_step, steps))
    )


def _is_start(step: Any) -> bool:
    return step is None or (type(step) is int and step >= 0)


def _is_config(config: Any) -> bool:
    if config is None:
        return True
    groups = config.get("kv_cache_groups") if isinstance(config, dict) else 0
    return groups is None or (isinstance(groups, list) and all(isinstance(group, dict) for group in groups))


def _is_step(step: Any) -> bool:
    return (
        isinstance(step, dict)
        and all(_is_by_request(step.get(key)) for key in _BY_REQUEST)
        and all(_is_names(step.get(key)) for key in _NAMES)
    )


def _is_by_request(value: Any) -> bool:
    """Nothing, an object, or pairs that begin with a name."""
    if value is None or isinstance(value, dict):
        return True
    return isinstance(value, list) and all(
        isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) for pair in value
    )


def _is_names(value: Any) -> bool:
    return value is None or (isinstance(value, list) and all(isinstance(name, str) for name in value))
