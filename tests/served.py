"""What the server sends, for tests in Node.

`python -m tests.served` reads a list of scenarios on stdin and writes the format of scenarios as the page holds it, the
schema of `GET /api/spaces` and the trace of each scenario. Without scenarios, the format alone.
"""

import sys
from typing import Any

import orjson

from app.scenario.format.model import Scenario


def served(scenarios: list[Any]) -> dict[str, Any]:
    """`format` and, where there are scenarios, `spaces` and `traces`."""
    answer: dict[str, Any] = {"format": Scenario.model_json_schema()}
    if scenarios:
        import torch  # takes seconds, and the format needs none of it

        from app.i18n import translator
        from app.scenario import load_plan
        from app.trace.schema import describe
        from app.trace.trace import encode_trace

        torch.set_num_threads(1)
        device, words = torch.device("cpu"), translator("en")
        traces = [orjson.Fragment(encode_trace(load_plan(scenario), device, words)) for scenario in scenarios]
        answer |= {"spaces": describe(), "traces": traces}
    return answer


if __name__ == "__main__":
    sys.stdout.buffer.write(orjson.dumps(served(orjson.loads(sys.stdin.buffer.read()))))
