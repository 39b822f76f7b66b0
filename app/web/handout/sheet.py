"""One step as a sheet, and the numbers of a scenario's configuration that its tables are read with."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from app.i18n import Translate, group_digits
from app.web.handout.model import StepSheet, Verdict
from app.web.handout.step import StepReader
from app.web.handout.tables import PanelMaker
from app.web.identity import Identity


def step_sheet(
    step: Mapping[str, Any],
    constants: Mapping[str, Any],
    requests: Mapping[str, Identity],
    blank: frozenset[str],
    translate: Translate,
) -> StepSheet:
    """All stages of a step of a trace, the spaces in `blank` without their values."""
    reader = StepReader(step, constants, translate)
    checks = step["checks"]
    return StepSheet(
        index=step["index"],
        title=_title(step, translate),
        lines=list(_lines(step, translate)),
        panels=PanelMaker(reader, constants["group_names"], requests, blank, translate).panels(),
        num_holding=sum(check["holds"] for check in checks),
        violated=[Verdict(check["name"], check["message"]) for check in checks if not check["holds"]],
    )


def facts_of(scenario: Mapping[str, Any], constants: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Names and values of the configuration, those that say nothing here left out. The names are vLLM's."""
    config = scenario["config"]
    groups, parallel, graphs = config["kv_cache_groups"], config["context_parallel"], config["cudagraph"]
    facts = [(_group_name(group, len(groups)), _group_text(group)) for group in groups]
    facts += [
        (name, str(config[name])) for name in ("max_num_reqs", "max_num_batched_tokens", "max_model_len", "num_blocks")
    ]
    if config["num_speculative_tokens"]:
        facts.append(("num_speculative_tokens", str(config["num_speculative_tokens"])))
    if parallel["size"] > 1:
        facts += [(f"context_parallel.{name}", str(parallel[name])) for name in ("size", "rank", "interleave")]
    if graphs["mode"] != "NONE":
        facts.append(("cudagraph", f"{graphs['mode']} {', '.join(map(str, graphs['capture_sizes'][:12]))}"))
    facts.append(
        ("kv_cache", f"{constants['kv_layout']}, {group_digits(constants['bytes_per_slot'])} B × {constants['num_layers']}")
    )
    return facts


def _title(step: Mapping[str, Any], translate: Translate) -> str:
    name = translate("step.now", {"step": str(step["index"])})
    if not step["num_reqs"]:
        return name
    tokens = translate("count.tokens", {"n": step["num_tokens"]})
    requests = translate("count.requests", {"n": step["num_reqs"]})
    return f"{name} · {translate('summary.schedule', {'tokens': tokens, 'requests': requests})}"


def _lines(step: Mapping[str, Any], translate: Translate) -> Iterator[str]:
    for reason in ("finished", "preempted"):
        left = [
            event["req_id"] for event in step["events"] if event["kind"] == "remove_request" and event["reason"] == reason
        ]
        if left:
            yield translate(f"handout.{reason}", {"names": _few(left, translate)})
    if step["cudagraph_mode"] != "NONE":
        params = {
            "mode": step["cudagraph_mode"],
            "tokens": step["num_tokens_padded"],
            "requests": step["num_reqs_padded"],
        }
        yield translate("handout.graph", params)
    if not step["num_reqs"]:
        yield translate("handout.empty_step", {})


def _few(names: Sequence[str], translate: Translate) -> str:
    return translate("list.separator", {}).join(names[:12]) + (" …" if len(names) > 12 else "")


def _group_name(group: Mapping[str, Any], num_groups: int) -> str:
    return "block_size" if num_groups == 1 else f"{group['name']}: block_size"


def _group_text(group: Mapping[str, Any]) -> str:
    window = group["sliding_window"]
    return str(group["block_size"]) if window is None else f"{group['block_size']}, sliding_window {window}"
