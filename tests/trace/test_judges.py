"""Every space has a judge that is not the code which computed it.

One of three: `tests/reference.py` computes it again (tests/test_properties.py compares), its own formulas do (test_links
evaluates them over the gallery, in both readers), or it is named here with where it is judged and why not by the other two.
"""

from __future__ import annotations

from pathlib import Path

from app.examples import examples
from app.trace.schema import SPACES
from app.trace.space import Space
from tests import reference
from tests.test_properties import trace_of

ROOT = Path(__file__).resolve().parents[2]

# Space -> the test that judges it. None is a tensor of vLLM's: they list what tables hold, for the picture of memory.
JUDGED_IN = {
    "schedule_req_state_idx": "tests/trace/test_judges.py",
    "kv_block_groups": "tests/test_rules.py",
    "kv_block_rows": "tests/test_rules.py",
    "kv_block_indices": "tests/test_rules.py",
    "kv_block_num_filled": "tests/test_rules.py",  # has no formula where ranks share a request; so have the next two
    "kv_block_num_written": "tests/test_rules.py",
    "kv_block_num_readable": "tests/test_rules.py",
    "kv_block_num_holders": "tests/trace/test_loaded.py",
    "kv_block_is_first_holder": "tests/trace/test_loaded.py",
    "kv_block_computed_begin": "tests/trace/test_loaded.py",
    "kv_block_computed_end": "tests/trace/test_loaded.py",
    "stale_block_ids": "tests/trace/test_block_owners.py",
    "stale_block_req_ids": "tests/trace/test_block_owners.py",
}


def test_every_space_has_a_judge() -> None:
    in_reference = {
        name
        for example in examples().values()
        for step in reference.run(example.scenario)["steps"]
        for name in step["spaces"]
    }
    declared = {space.name for space in SPACES}
    assert in_reference <= declared, "the reference computes what is not declared"
    without = declared - in_reference - {space.name for space in SPACES if explains_itself(space)}
    assert without == set(JUDGED_IN), (
        "a space whose values its formulas do not give belongs into tests/reference.py, or here with its test"
    )
    for name, path in JUDGED_IN.items():
        assert name in (ROOT / path).read_text(encoding="utf-8"), f"{path} does not speak of {name}"


def explains_itself(space: Space) -> bool:
    """Whether formulas give every value that there is: a case without one stands for cells that hold nothing."""
    return all(case.formula is not None or case.state in ("none", "unknown", "missing") for case in space.cases)


def test_the_row_of_a_scheduled_request_is_the_one_that_it_has() -> None:
    """`schedule_req_state_idx` looks `schedule_req_ids` up in what the reference says of the rows."""
    for example in examples().values():
        expected = {step["index"]: step["req_id_to_index"] for step in reference.run(example.scenario)["steps"]}
        for step in trace_of(example.scenario)["steps"]:
            spaces = step["spaces"]
            if "schedule_req_ids" in spaces:
                rows = [expected[step["index"]][req_id] for req_id in spaces["schedule_req_ids"]["values"]]
                assert spaces["schedule_req_state_idx"]["values"] == rows, (example.name, step["index"])
