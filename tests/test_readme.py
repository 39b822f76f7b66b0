"""The README keeps its promises: its commands exist, its example gives its numbers, its tree is the files that are here."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")

# Only here may one line of the tree stand for a whole folder.
MAY_BE_GROUPED = ("tests/", "static/vendor/", "app/examples/")


def test_every_command_is_in_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:^|`)make ([a-z]+)", README, re.MULTILINE))
    assert {"run", "test", "check"} <= named <= targets


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


def test_the_tree_lists_every_file() -> None:
    """One line per file that git tracks; an `__init__.py` goes without saying."""
    listed = tree()
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    tracked = [name for name in listing.split("\0") if name and (ROOT / name).exists()]
    groups = tuple(
        name
        for name in listed
        if name.endswith("/") and not any(other != name and other.startswith(name) for other in listed)
    )

    too_broad = [name for name in groups if not name.startswith(MAY_BE_GROUPED)]
    assert not too_broad, f"list the files of {too_broad} one by one"
    missing = [
        name for name in tracked if name not in listed and not name.startswith(groups) and Path(name).name != "__init__.py"
    ]
    assert not missing, "the tree in README.md lacks:\n" + "\n".join(missing)
    gone = [name for name in listed if not (ROOT / name).exists()]
    assert not gone, f"the tree in README.md lists what is not there: {gone}"
    silent = [name for name, line in listed.items() if not line and not name.endswith("/")]
    assert not silent, f"the tree in README.md says nothing about {silent}"


def curl_example() -> tuple[str, str]:
    """The address and the body of the README's curl command."""
    command = next(block for block in code_blocks() if block.startswith("curl "))
    words = shlex.split(command)
    body = words[words.index("-d") + 1]
    json.loads(body)
    return next(word for word in words if word.startswith("http")), body


def tree() -> dict[str, str]:
    """Path to what is said of it, from the indented block under "Files"; folders end in a slash."""
    block = README.split("\n## Files\n")[1].split("```")[1].removeprefix("text\n")
    entries: dict[str, str] = {}
    folders: list[tuple[int, str]] = []
    for line in filter(str.strip, block.splitlines()):
        indent = len(line) - len(line.lstrip())
        name, _, said = line.strip().partition(" ")
        while folders and folders[-1][0] >= indent:
            folders.pop()
        path = (folders[-1][1] if folders else "") + name
        entries[path] = said.strip()
        if name.endswith("/"):
            folders.append((indent, path))
    return entries


def code_blocks() -> list[str]:
    return re.findall(r"^```\w*\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
