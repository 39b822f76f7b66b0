"""A third language is one file, a catalogue: here English in brackets, beside the others in a copy of the app."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Run in the copy: every way in which a reader meets words.
ASK = """
import json
from fastapi.testclient import TestClient
from app.i18n import LANGUAGES
from app.main import create_app
from app.settings import Settings

answers = {"languages": LANGUAGES}
with TestClient(create_app(Settings(links=False))) as client:
    for path in ("/?lang=xx", "/api/glossary?lang=xx", "/handout?lang=xx", "/api/examples?lang=xx", "/nowhere?lang=xx", "/"):
        answer = client.get(path, headers={"Accept": "text/html"})
        answers[path] = [answer.status_code, answer.text]
    example = client.get("/api/examples/worked-example").json()
    answers["trace"] = client.post("/api/trace?lang=xx", json=example).json()["steps"][1]["sentences"]["batch"]
    answers["fault"] = client.post("/api/trace?lang=xx", json={}).json()["errors"][0]["message"]
print(json.dumps(answers))
"""


def test_a_catalogue_is_all_that_a_language_takes(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "app", tmp_path / "app", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in ("static", "templates"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    english = json.loads((ROOT / "app" / "locales" / "en.json").read_text(encoding="utf-8"))
    codes = {"language.name": "Bracketed", "language.tag": "x-xx", "language.locale": "xx_XX"}
    bracketed = {key: codes.get(key, f"[{text}]") for key, text in english.items()}
    (tmp_path / "app" / "locales" / "xx.json").write_text(json.dumps(bracketed), encoding="utf-8")

    made = subprocess.run([sys.executable, "-c", ASK], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert made.returncode == 0, made.stderr
    answers = json.loads(made.stdout.splitlines()[-1])
    assert answers["languages"] == ["en", "xx", "zh"]
    assert [status for status, _ in (answers[path] for path in answers if path.startswith("/"))] == [200] * 4 + [404, 200]
    for path in ("/?lang=xx", "/handout?lang=xx"):
        assert '<html lang="x-xx">' in answers[path][1], path
    assert f"[{english['stage.flatten']}]" in answers["/?lang=xx"][1]
    assert "[" + english["glossary.batch_idx.definition"] in answers["/api/glossary?lang=xx"][1]
    assert "One decode, one prefill chunk" in answers["/api/examples?lang=xx"][1], "texts of examples fall back to English"
    assert "Bracketed" in answers["/"][1], "the other pages offer it"
    assert "[" in answers["/nowhere?lang=xx"][1]
    assert answers["trace"] == "[[B is row 0][, ][A is row 1]]"
    assert answers["fault"].startswith("[")
