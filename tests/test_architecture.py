"""Which part may know which. import-linter holds the Python packages apart; this file holds what it cannot express."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
JS = ROOT / "static" / "js"

# A part of static/js may import from itself and from the parts named here; vendor is static/vendor.
MAY_IMPORT = {
    "main": {"main", "page", "ui", "core"},
    "page": {"page", "ui", "core"},
    "ui": {"ui", "core", "vendor"},
    "core": {"core"},
}

IMPORT = re.compile(r"""\b(?:import|export)\b(?:[\s\w$*{},]*?\bfrom)?\s*\(?\s*["']([^"']+)["']""")
COMMENT = re.compile(r"/\*.*?\*/|(?<!:)//[^\n]*", re.DOTALL)


def test_the_rules_import_the_standard_library_only() -> None:
    for module in imports_of(ROOT / "app" / "rules.py"):
        assert module.partition(".")[0] in sys.stdlib_module_names, f"app/rules.py imports {module}"


def test_the_pipeline_imports_torch_the_rules_and_the_standard_library_only() -> None:
    allowed = sys.stdlib_module_names | {"torch"}
    for path in sorted((ROOT / "app" / "pipeline").rglob("*.py")):
        for module in imports_of(path):
            is_ours = module in ("app.rules", "app.pipeline") or module.startswith("app.pipeline.")
            assert is_ours or module.partition(".")[0] in allowed, f"{path.relative_to(ROOT)} imports {module}"


def test_the_reference_imports_nothing_of_ours() -> None:
    for module in imports_of(ROOT / "tests" / "reference.py"):
        assert module.partition(".")[0] in sys.stdlib_module_names, f"tests/reference.py imports {module}"


def test_javascript_dependencies_point_one_way() -> None:
    for path in sorted(JS.rglob("*.js")):
        part, name = part_of(path), path.relative_to(JS)
        for specifier in IMPORT.findall(code_of(path)):
            assert specifier.startswith("."), f"{name}: {specifier!r} is not a relative path: a browser cannot find it"
            target = (path.parent / specifier).resolve()
            assert target.is_file(), f"{name}: {specifier!r} is no file"
            assert part_of(target) in MAY_IMPORT[part], f"{name}: {part} imports {specifier!r}"


def test_core_is_pure() -> None:
    of_the_page = re.compile(r"\b(document|window|navigator|localStorage|sessionStorage)\.|\bHTML\w*Element\b|\bfetch\s*\(")
    for path in sorted((JS / "core").rglob("*.js")):
        found = of_the_page.search(code_of(path))
        assert found is None, f"{path.relative_to(JS)} names {found.group()!r}, which is the page's"


def test_ui_does_not_fetch() -> None:
    for path in sorted((JS / "ui").rglob("*.js")):
        assert not re.search(r"\bfetch\s*\(|XMLHttpRequest", code_of(path)), path.relative_to(JS)


def test_messages_are_said_and_heard_in_one_way() -> None:
    """`say` and `hear` of ui/view.js know every message and what it carries; an event by hand is one that nobody checks."""
    for path in sorted(JS.rglob("*.js")):
        if path != JS / "ui" / "view.js":
            by_hand = re.search(r"new CustomEvent|addEventListener\(\s*['\"`]pw-", code_of(path))
            assert by_hand is None, f"{path.relative_to(JS)}: {by_hand.group() if by_hand else ''}"


def code_of(path: Path) -> str:
    return COMMENT.sub("", path.read_text())


def part_of(path: Path) -> str:
    """The part a script belongs to: `main` for those that lie directly in static/js."""
    if JS in path.parents:
        inside = PurePosixPath(path.relative_to(JS))
        return inside.parts[0] if len(inside.parts) > 1 else "main"
    return path.relative_to(ROOT / "static").parts[0]


def imports_of(path: Path) -> Iterator[str]:
    """The modules that a file imports, wherever in it; relative imports are not used here."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.relative_to(ROOT)} line {node.lineno}: a relative import"
            yield str(node.module)
