"""A process that makes links: `python writer.py PATH FIRST COUNT`, ready when it says so, started by a line on its input.

It writes the number and the id of each link after the store has acknowledged it.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from app.links.store import open_store
from app.scenario.format.model import Scenario


def scenario(number: int) -> Scenario:
    """Scenarios that differ; of a few kilobytes, so that a write is more than one page."""
    noise = "".join(f"{number * 7919 + place * 104_729:x} " for place in range(400))[:4000]
    return Scenario(version=1, title=f"Number {number}", description=noise, requests=[], steps=[])


if __name__ == "__main__":
    path, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    store = open_store(path=path, database_url="", max_links=1_000_000)
    assert store is not None
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(first, first + count):
        name, _ = store.keep(scenario(number))
        print(number, name, flush=True)
