"""The README keeps its promises: its commands exist, its example gives its numbers, what CONTRIBUTING.md names is there."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_every_command_is_in_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:^|`)make ([a-z]+)", README, re.MULTILINE))
    assert {"run", "test"} <= named <= targets


def test_the_example_gives_the_numbers_beside_it(client: TestClient) -> None:
    url, body = curl_example()
    assert url.startswith("http://127.0.0.1:8000/")
    answer = client.post(
        url.removeprefix("http://127.0.0.1:8000"), content=body, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 200, answer.text
    spaces = {name: space["values"] for name, space in answer.json()["steps"][1]["spaces"].items()}
    assert spaces["idx_mapping"] == [7, 6]
    assert spaces["query_start_loc"] == [0, 1, 9]
    assert spaces["positions"] == [31, *range(16, 24)]
    assert spaces["seq_lens"] == [32, 24]
    assert spaces["input_ids"] == [1031, *range(2016, 2024)]
    assert spaces["slot_mappings"] == [[12 * 16 + 15, *range(44 * 16, 44 * 16 + 8)]]

    table = dict(re.findall(r"^\| `(\w+)` \| ([\d, ]+) \|$", README, re.MULTILINE))
    assert len(table) == 6
    for name, values in table.items():
        actual = spaces[name][0] if name == "slot_mappings" else spaces[name]
        assert [int(value) for value in values.split(",")] == actual, name


def test_what_contributing_names_is_there() -> None:
    """Every path in its prose; placeholders in angle brackets stand for one of several."""
    prose = CONTRIBUTING.split("\n## Files\n")[0]
    named = set(re.findall(r"`((?:app|static|tests|templates|\.make)/[\w./-]+)`", prose))
    assert len(named) > 20
    gone = [name for name in sorted(named) if not (ROOT / name).exists()]
    assert not gone, f"CONTRIBUTING.md names what is not there: {gone}"
    commands = set(re.findall(r"make ([a-z-]+)", prose)) - {"CI"}
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert commands <= targets


def curl_example() -> tuple[str, str]:
    """The address and the body of the README's curl command."""
    command = next(block for block in code_blocks() if block.startswith("curl "))
    words = shlex.split(command)
    body = words[words.index("-d") + 1]
    json.loads(body)
    return next(word for word in words if word.startswith("http")), body


def code_blocks() -> list[str]:
    return re.findall(r"^```\w*\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
