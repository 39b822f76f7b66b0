"""Writes the list of files in CONTRIBUTING.md: each with the first sentence that it says of itself. Standard library only.

`files.py` rewrites the part between the two markers, `files.py --check` says whether it is as the files say. A script, style
sheet, template or module without a leading sentence is a fault.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- files: written by make format -->\n", "<!-- end of files -->\n"
SAYS_OF_ITSELF = {".py", ".js", ".mjs", ".css", ".html", ".sh"}
WIDTH = 150
# Folders that one line stands for, because their files are alike.
GROUPS = {
    "app/examples/": "Scenarios of the gallery, a YAML file each, texts in every language in it.",
    "static/vendor/": "Libraries of others, as they were released, with their licences.",
    "tests/conformance/": "What vLLM's own kernels gave, and how it is read.",
    "tests/examples/": "The gallery: every number that a text of it says, computed.",
}
COMMENT = {
    ".js": re.compile(r"\A(?:// @ts-check\n)?(?:/\*\*?\s*(.*?)\*/|((?://(?! @ts-check)[^\n]*\n)+))", re.DOTALL),
    ".css": re.compile(r"/\*\s*(.*?)\*/", re.DOTALL),
    ".html": re.compile(r"\{#-?\s*(.*?)-?#\}", re.DOTALL),
    ".sh": re.compile(r"^#(?!!)\s*(.*?)\n(?!#)", re.DOTALL | re.MULTILINE),
}


def main(arguments: list[str]) -> int:
    text = DOCUMENT.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    listed, silent = file_list()
    if silent:
        print("These files do not say what they are; begin each with a sentence:", *silent, sep="\n  ", file=sys.stderr)
        return 1
    wanted = f"{before}{BEGIN}```text\n{listed}```\n{END}{after}"
    if "--check" in arguments:
        if wanted != text:
            print("The list of files in CONTRIBUTING.md is out of date: run make format.", file=sys.stderr)
        return int(wanted != text)
    if wanted != text:
        DOCUMENT.write_text(wanted, encoding="utf-8")
    return 0


def file_list() -> tuple[str, list[str]]:
    """The tree as indented text, and the files that should say what they are and do not."""
    lines: list[str] = []
    silent: list[str] = []
    seen: set[PurePosixPath] = set()
    for path in sorted(tracked(), key=lambda path: [(part not in path.parts[-1:], part) for part in path.parts]):
        group = next((name for name in GROUPS if path.as_posix().startswith(name)), None)
        folders = [*reversed(path.parents)][1:]
        for folder in folders:
            if folder not in seen and (group is None or len(folder.as_posix()) < len(group)):
                seen.add(folder)
                said = GROUPS.get(f"{folder}/") or sentence_of(folder / "__init__.py") or ""
                lines.append(line(len(folder.parts), f"{folder.name}/", said))
        if group is not None or path.name == "__init__.py":
            continue
        said = sentence_of(path)
        if not said and path.suffix in SAYS_OF_ITSELF:
            silent.append(path.as_posix())
        lines.append(line(len(path.parts), path.name, said or ""))
    return "".join(lines), silent


def tracked() -> list[PurePosixPath]:
    """Every file that git knows, also those added since the last commit."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    return [PurePosixPath(name) for name in names if name and (ROOT / name).is_file()]


def line(depth: int, name: str, said: str) -> str:
    text = f"{'  ' * (depth - 1)}{name}"
    if said:
        text = f"{text:<34} {said}"
    return (text if len(text) <= WIDTH else text[: WIDTH - 1].rstrip() + "…") + "\n"


def sentence_of(path: PurePosixPath) -> str | None:
    """The first sentence of what a file says of itself; None where it says nothing."""
    file = ROOT / path
    if not file.is_file() or path.suffix not in SAYS_OF_ITSELF:
        return None
    text = file.read_text(encoding="utf-8")
    if path.suffix == ".py":
        said = ast.get_docstring(ast.parse(text)) or ""
    else:
        found = COMMENT[path.suffix.replace(".mjs", ".js")].search(text[:4000])
        said = next(filter(None, found.groups()), "") if found else ""
    words = " ".join(re.sub(r"^[ \t]*(?://|[*#])?[ \t]?", "", part) for part in said.split("\n\n")[0].splitlines())
    first = re.match(r".*?\.(?=\s|$)|.+", re.sub(r"\s+", " ", words).strip())
    return first[0] if first else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
