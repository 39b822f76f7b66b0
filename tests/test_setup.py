"""What `make run` says on a machine that cannot run it: one plain line with what to do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A folder with the scripts and pyproject.toml, and `bin/`: all that is on the PATH there."""
    shutil.copytree(ROOT / ".make", tmp_path / ".make")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "bin").mkdir()
    for name in ("sh", "dirname"):
        (tmp_path / "bin" / name).symlink_to(str(shutil.which(name)))
    return tmp_path


def set_up(machine: Path, **environment: str) -> tuple[int, str]:
    """The exit status of `setup.sh run` and what it says, both streams together."""
    script = str(machine / ".make" / "setup.sh")
    done = subprocess.run(
        ["sh", script, "run"],
        env={"PATH": str(machine / "bin"), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.returncode, done.stdout


def add_python(machine: Path, name: str, version: str) -> None:
    """A command that claims to be a Python of this version and, handed a script, says which one it is."""
    path = machine / "bin" / name
    path.write_text(f'#!/bin/sh\n[ "$1" = -c ] && printf "%s" "{version} $0" || echo "{name} sets up"\n')
    path.chmod(0o755)


def test_no_python(machine: Path) -> None:
    status, said = set_up(machine)
    assert status == 1
    assert said.startswith("PageWalk needs Python 3.11 or newer, and found none. Install one")
    assert said.count("\n") == 1


def test_a_too_old_python(machine: Path) -> None:
    add_python(machine, "python3", "3.9")
    status, said = set_up(machine)
    assert status == 1
    assert said.startswith("PageWalk needs Python 3.11 or newer, and found Python 3.9. Install one")
    assert said.count("\n") == 1


def test_the_newest_fitting_python_is_taken_where_python3_is_too_old(machine: Path) -> None:
    for name, version in {"python3": "3.9", "python3.11": "3.11", "python3.13": "3.13", "python": "2.7"}.items():
        add_python(machine, name, version)
    assert set_up(machine) == (0, "python3.13 sets up\n")


def test_python3_is_taken_where_it_fits(machine: Path) -> None:
    add_python(machine, "python3", "3.11")
    add_python(machine, "python3.13", "3.13")
    assert set_up(machine) == (0, "python3 sets up\n")


def test_a_python_newer_than_any_tried_comes_last(machine: Path) -> None:
    add_python(machine, "python3", "3.19")
    assert set_up(machine) == (0, "python3 sets up\n")
    add_python(machine, "python3.12", "3.12")
    assert set_up(machine) == (0, "python3.12 sets up\n")


def test_python_by_name(machine: Path) -> None:
    add_python(machine, "python3", "3.11")
    add_python(machine, "old", "3.10")
    add_python(machine, "mine", "3.12")
    assert set_up(machine, PYTHON="mine") == (0, "mine sets up\n")
    assert set_up(machine, PYTHON="old")[1].startswith("PYTHON is 'old', which is Python 3.10. PageWalk needs Python 3.11")
    assert set_up(machine, PYTHON="none")[1].startswith("PYTHON is 'none', which does not run.")


def test_a_python_without_venv(machine: Path) -> None:
    hidden = machine / "hidden"
    hidden.mkdir()
    (hidden / "sitecustomize.py").write_text(
        "import importlib.util\n"
        "find_spec = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, package=None: None if name == 'ensurepip' else find_spec(name, package)\n"
    )
    status, said = set_up(machine, PYTHON=sys.executable, PYTHONPATH=str(hidden))
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert status == 1
    assert f"lacks the venv module. On Debian or Ubuntu: apt install python{version}-venv (as root)" in said
    assert said.count("\n") == 1
    assert not (machine / ".venv").exists()


def test_nothing_is_done_when_nothing_changed(machine: Path) -> None:
    """Told that all is there, it neither makes an environment nor calls pip."""
    (machine / ".venv" / "bin").mkdir(parents=True)
    (machine / ".venv" / "bin" / "python").symlink_to(sys.executable)
    stamp = "import hashlib, json, pathlib, sys; sys.path.insert(0, '.make'); import setup; " + (
        "print(json.dumps({'fingerprint': setup.fingerprint(), 'extras': ['test'], 'root': str(setup.ROOT)}))"
    )
    done = subprocess.run([sys.executable, "-c", stamp], cwd=machine, capture_output=True, text=True, check=True)
    (machine / ".venv" / "pagewalk.json").write_text(done.stdout)
    assert set_up(machine, PYTHON=sys.executable, HOME=os.environ.get("HOME", "/")) == (0, "")
