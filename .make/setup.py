"""Makes `.venv` hold what a make target needs, and does nothing when it already does. Standard library only.

`setup.py run` brings what serving needs. `setup.py test` adds the test tools, a browser, and Node with the packages that
check the JavaScript. `setup.py bench` does the same for the benchmarks.

`.venv/pagewalk.json` says what was installed for which pyproject.toml. While pip runs, `.venv/pagewalk-installing` is there:
found at the start of a run, it means that an install was cut off, and the environment is made anew.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = ROOT / "pyproject.toml"
VENV = ROOT / ".venv"
VENV_PYTHON = VENV / "bin" / "python"
STAMP = VENV / "pagewalk.json"
INSTALLING = VENV / "pagewalk-installing"
NODE_PACKAGES = ROOT / "tests" / "js"

# The release that PageWalk is tested with. Asked for by itself and first, so that pip may take a build that lies on the
# machine; the range in pyproject.toml is then satisfied. Other Pythons get what the range gives them.
TORCH = "torch==2.13.0"
TORCH_PYTHONS = {(3, 11), (3, 12), (3, 13)}

EXTRAS = {"run": set[str](), "test": {"test"}, "bench": {"bench"}}
MIN_NODE = 18
# Package by program, the quickest first: the shell is the same engine without a browser's own windows.
CHROMIUMS = {Path("/usr/bin/chromium-headless-shell"): "chromium-headless-shell", Path("/usr/bin/chromium"): "chromium"}
CJK_FONTS = Path("/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc")


class SetupError(Exception):
    """Something the person at the keyboard has to see to; `str()` of it says what, in one line."""


def main(target: str) -> int:
    with PYPROJECT.open() as pyproject:
        fcntl.flock(pyproject, fcntl.LOCK_EX)  # a second make in the same folder waits for the first
        try:
            extras = set(EXTRAS[target])
            if target != "run" and not has_node():
                extras.add("node")
            make_environment()
            install_packages(extras)
            if target != "run":
                install_browser()
                install_node_packages()
        except SetupError as error:
            print(error, file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            print("\nStopped. The next make goes on from here.", file=sys.stderr)
            return 130
    return 0


def make_environment() -> None:
    """Create .venv, or make it anew where it cannot be trusted."""
    reason = reason_to_rebuild() if VENV.exists() else None
    if VENV.exists() and reason is None:
        return
    if importlib.util.find_spec("ensurepip") is None:
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"
        raise SetupError(
            f"Python {version} at {sys.executable} lacks the venv module. On Debian or Ubuntu: "
            f"apt install python{version}-venv (as root), then run make again."
        )
    if reason is not None:
        say(f"Making .venv anew: {reason}.")
        shutil.rmtree(VENV)
    say(f"Creating .venv with Python {sys.version.split()[0]}.")
    VENV.mkdir()
    INSTALLING.touch()
    made = subprocess.run([sys.executable, "-m", "venv", str(VENV)], capture_output=True, text=True)
    if made.returncode != 0:
        shutil.rmtree(VENV)
        said = (made.stdout + made.stderr).strip().splitlines() or ["no reason given"]
        raise SetupError(f"Python could not create .venv: {said[-1]}. Try another Python: make run PYTHON=python3.12")
    INSTALLING.unlink()


def reason_to_rebuild() -> str | None:
    if INSTALLING.exists():
        return "the last install was cut off"
    try:
        version = venv_version()
    except (OSError, ValueError, subprocess.CalledProcessError):
        return "its Python no longer runs"
    if os.environ.get("PYTHON") and version != sys.version_info[:2]:
        return f"PYTHON asks for Python {sys.version_info[0]}.{sys.version_info[1]}"
    if read_stamp().get("root", str(ROOT)) != str(ROOT):
        return "the folder was moved"
    return None


def install_packages(extras: set[str]) -> None:
    """Install this project with `extras`, and keep those that are there already."""
    stamp = read_stamp()
    present = set(stamp.get("extras", []))
    if stamp.get("fingerprint") == fingerprint() and extras <= present:
        return
    STAMP.unlink(missing_ok=True)
    if venv_version() in TORCH_PYTHONS and not list(VENV.glob("lib/python*/site-packages/torch-*.dist-info")):
        say(f"Installing {TORCH}: once, and large.")
        if pip("install", TORCH) != 0:
            say(f"There is no {TORCH} to be had here; any release that pyproject.toml allows will do.")
    wanted = sorted(extras | present)
    say("Installing PageWalk" + (f" with {', '.join(wanted)}." if wanted else "."))
    if pip("install", "--quiet", "--editable", f".[{','.join(wanted)}]" if wanted else ".") != 0:
        raise SetupError("pip could not install the packages (its reason is above). See to that, then run make again.")
    STAMP.write_text(json.dumps({"fingerprint": fingerprint(), "extras": wanted, "root": str(ROOT)}) + "\n")


def fingerprint() -> str:
    return hashlib.sha256(PYPROJECT.read_bytes() + TORCH.encode()).hexdigest()


def venv_version() -> tuple[int, ...]:
    command = [str(VENV_PYTHON), "-c", "import sys; print(*sys.version_info[:2])"]
    return tuple(map(int, subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()))


def pip(*arguments: str) -> int:
    environment = os.environ | {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1", "PIP_USER": "0"}
    INSTALLING.touch()
    status = subprocess.run([str(VENV_PYTHON), "-m", "pip", *arguments], cwd=ROOT, env=environment).returncode
    INSTALLING.unlink(missing_ok=True)  # a failing pip has undone what it began; one that was cut off never gets here
    return status


def install_browser() -> None:
    """Debian's Chromium where we may install it, else the one that Playwright downloads; and a font for Chinese."""
    has_apt = os.name == "posix" and os.geteuid() == 0 and shutil.which("apt-get") is not None
    if has_apt:
        wanted = ([] if has_chromium() else ["Chromium"]) + ([] if CJK_FONTS.exists() else ["fonts-noto-cjk"])
        if wanted:
            say(f"Installing {' and '.join(wanted)} with apt-get.")
            apt_get("update", "-qq")
        for package in CHROMIUMS.values():  # not every release has the shell
            if not has_chromium():
                apt_get("install", "-qq", "--no-install-recommends", package)
        if not CJK_FONTS.exists():
            apt_get("install", "-qq", "--no-install-recommends", "fonts-noto-cjk")
    if has_chromium():
        return
    command = [str(VENV_PYTHON), "-m", "playwright", "install", *(["--with-deps"] if has_apt else []), "chromium"]
    if subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL).returncode != 0:
        raise SetupError(
            f"The browser tests need Chromium: install it as {' or '.join(map(str, CHROMIUMS))}, then run make test again."
        )


def has_chromium() -> bool:
    return any(path.exists() for path in CHROMIUMS)


def apt_get(*arguments: str) -> None:
    command = ["apt-get", "-y", "-o", "DPkg::Lock::Timeout=300", *arguments]
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def has_node() -> bool:
    """Whether the system has a Node.js, with npm, that is new enough."""
    if shutil.which("npm") is None:
        return False
    try:
        said = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
        return int(said.strip().lstrip("v").partition(".")[0]) >= MIN_NODE
    except (OSError, subprocess.CalledProcessError, ValueError):
        return False


def install_node_packages() -> None:
    """Install what tests/js/package-lock.json says."""
    lock = hashlib.sha256((NODE_PACKAGES / "package-lock.json").read_bytes()).hexdigest()
    stamp = NODE_PACKAGES / "node_modules" / "pagewalk.stamp"
    if stamp.exists() and stamp.read_text() == lock:
        return
    say("Installing the packages that check the JavaScript.")
    environment = os.environ | {"PATH": f"{VENV / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    command = ["npm", "ci", "--no-audit", "--no-fund", "--no-update-notifier"]
    if subprocess.run(command, cwd=NODE_PACKAGES, env=environment, stdin=subprocess.DEVNULL).returncode != 0:
        raise SetupError("npm could not install the packages (its reason is above). See to that, then run make again.")
    stamp.write_text(lock)


def read_stamp() -> dict[str, Any]:
    try:
        return json.loads(STAMP.read_text())
    except (OSError, ValueError):
        return {}


def say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
