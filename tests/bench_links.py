"""How long links are: `python -m tests.bench_links`, a part of `make bench`. Lengths are of `s` itself, in characters."""

from __future__ import annotations

from typing import Any

from app.examples import examples
from app.scenario.format.link import encode_link

Scenario = dict[str, Any]
CHATS = 2_000  # the practical ceiling of chat programs


def worked_example() -> Scenario:
    """The scenario that every page starts from, without the words that introduce it in the gallery."""
    return {
        "version": 1,
        "title": "One decode, one prefill chunk",
        "start_step": 1,
        "requests": [{"req_id": "B", "prompt_len": 31}, {"req_id": "A", "prompt_len": 24}],
        "steps": [
            {
                "num_scheduled_tokens": [["B", 31], ["A", 16]],
                "new_block_ids": {"B": [[37, 12]], "A": [[81, 44]]},
            },
            {"num_scheduled_tokens": [["B", 1], ["A", 8]]},
        ],
    }


def classroom(num_requests: int, num_steps: int) -> Scenario:
    """Requests A, B, ... that arrive in the first two steps and prefill in two chunks, no two alike, and then decode."""
    names = [chr(65 + number) for number in range(num_requests)]
    prompts = [9 + 7 * number % 23 for number in range(num_requests)]
    steps: list[dict[str, Any]] = []
    for step in range(num_steps):
        counts: list[list[Any]] = []
        for number, (name, prompt) in enumerate(zip(names, prompts, strict=True)):
            first = prompt // 2 + number % 3
            phase = step - number % 2
            if phase >= 0:
                counts.append([name, (first, prompt - first)[phase] if phase < 2 else 1])
        steps.append({"num_scheduled_tokens": counts})
    return {
        "version": 1,
        "title": f"{num_requests} requests in {num_steps} steps",
        "config": {"max_num_reqs": 16, "max_num_batched_tokens": 512},
        "requests": [{"req_id": name, "prompt_len": prompt} for name, prompt in zip(names, prompts, strict=True)],
        "steps": steps,
    }


# name -> (shorter than this many characters, the scenario)
TARGETS: dict[str, tuple[int, Scenario]] = {
    "worked example": (260, worked_example()),
    "5 requests x 3 steps": (400, classroom(5, 3)),
    "16 requests x 8 steps": (1_000, classroom(16, 8)),
}


def link_of(scenario: Scenario) -> str:
    return encode_link(scenario)


def report() -> list[str]:
    """The lines that are printed."""
    lines = ["length of links, in characters (s alone; chat programs take addresses of about 2,000)"]
    for name, (target, scenario) in TARGETS.items():
        lines.append(f"  {name:<44}{len(link_of(scenario)):>8,}   target < {target:,}")
    for name, example in examples().items():
        length = len(link_of(example.scenario))
        lines.append(f"  {name:<44}{length:>8,}{'   needs a short link' if length > CHATS else ''}")
    return lines


if __name__ == "__main__":
    print("\n".join(report()))
