"""The gallery as a whole: what every example has, in every language, and that it runs."""

import re
from pathlib import Path

import pytest

from app.examples import examples
from app.i18n import LANGUAGES
from app.trace.schema import describe
from tests.examples.story import WORDS, Story, numbers_in, trace_of

FOLDER = Path(__file__).resolve().parents[2] / "app" / "examples"

# What an example that is about a fault violates, by step. Everybody else's checks hold.
VIOLATED = {"two-requests-one-block": {1: {"blocks_owned_once", "slots_unique"}}}
STOPS = {"the-pool-runs-out"}


def test_runs_to_its_end_with_every_check_holding(subtests: pytest.Subtests) -> None:
    for name in examples():
        with subtests.test(name):
            trace, scenario = trace_of(name), examples()[name].scenario
            if name in STOPS:
                assert len(trace["steps"]) < len(scenario["steps"]) and trace["stopped"]
            else:
                assert len(trace["steps"]) == len(scenario["steps"]) and trace["stopped"] is None
            violated = {
                step["index"]: {check["name"] for check in step["checks"] if not check["holds"]}
                for step in trace["steps"]
                if not all(check["holds"] for check in step["checks"])
            }
            assert violated == VIOLATED.get(name, {})
            assert scenario.get("strict", True) == (name not in VIOLATED)


def test_opens_where_there_is_something_to_see(subtests: pytest.Subtests) -> None:
    for name in examples():
        with subtests.test(name):
            story = Story(name)
            place = story.example.describe()["place"]
            assert set(place) == {"stage", "pin"}
            space, *indices = place["pin"].split(".")
            assert describe()["spaces"][space]["stage"] == place["stage"]
            cell = story.step[space]
            for index in indices:
                cell = cell[int(index)]
            assert not isinstance(cell, list)


def test_every_language_tells_the_same(subtests: pytest.Subtests) -> None:
    for name in examples():
        with subtests.test(name):
            example = examples()[name]
            english, chinese = (example.describe(language) for language in ("en", "zh"))
            for words, stop, ask in ((english, (".", ".”"), "?"), (chinese, ("。", "。”"), "？")):
                assert all(
                    isinstance(words[word], str) and words[word].strip() == words[word] != "" for word in (*WORDS, "group")
                )
                assert words["question"].endswith(ask)
                assert words["description"].endswith(stop) and words["answer"].endswith(stop)
                assert not words["title"].endswith((*stop, ask))
                assert "\n" not in "".join(words[word] for word in WORDS)
            for word in WORDS:
                assert re.search("[\u4e00-\u9fff]", chinese[word]) and not re.search("[\u3000-\u9fff]", english[word])
                assert numbers_in(english[word]) == numbers_in(chinese[word]), word
            assert example.scenario_in("zh") == {
                **example.scenario,
                "title": chinese["title"],
                "description": chinese["description"],
            }


def test_texts_can_be_read_at_a_glance() -> None:
    for example in examples().values():
        words = example.describe()
        assert len(words["title"]) <= 60 and len(words["description"]) <= 420, example.name
        assert len(words["question"]) <= 180 and len(words["answer"]) <= 420, example.name


def test_titles_and_names_tell_examples_apart() -> None:
    assert len(examples()) >= 26
    assert next(iter(examples())) == "worked-example"
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) and len(name) <= 80 for name in examples())
    for language in LANGUAGES:
        titles = [example.describe(language)["title"] for example in examples().values()]
        assert len(set(titles)) == len(titles)


def test_groups_stand_together_and_are_named_in_every_language() -> None:
    named = [tuple(example.describe(language)["group"] for language in LANGUAGES) for example in examples().values()]
    groups = list(dict.fromkeys(named))
    assert sorted(named, key=groups.index) == named
    for language in range(len(LANGUAGES)):
        assert len({group[language] for group in groups}) == len(groups)


def test_every_file_is_listed_and_small() -> None:
    files = {path.stem: path for path in FOLDER.glob("*.yaml")}
    assert set(files) == {*examples(), "groups"}
    assert all(path.stat().st_size < 40_000 for path in files.values())


def test_every_example_has_a_test_of_its_numbers() -> None:
    tests = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    assert sorted(re.findall(r'^@tells\("([a-z0-9-]+)"\)\ndef test_', tests, re.MULTILINE)) == sorted(examples())


def test_numbers_are_found_in_both_languages() -> None:
    text = "Slot 207, -1 and 2,147,483,648; d0, int32, dcp_size 2; 12 × 16 + 15 = 207; 第3步有256个块，1、2"
    assert numbers_in(text) == {207: 2, -1: 1, 2_147_483_648: 1, 2: 2, 12: 1, 16: 1, 15: 1, 3: 1, 256: 1, 1: 1}
