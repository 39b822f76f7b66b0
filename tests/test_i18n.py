"""Sentences: placeholders, the word that goes with a number, and one word for each thing."""

import re
import sys
import unicodedata
from collections.abc import Iterator

import pytest

from app.examples import examples
from app.i18n import LANGUAGES, Language, catalogue, fill, translate

NUMBERS = {"step": 3, "num_tokens": 70, "over": 6, "limit": 64}

# A word that was decided against, as a pattern -> the word to use.
DISCARDED: dict[Language, dict[str, str]] = {
    "zh": {
        "空块": "占位块",  # the null block is not an empty one
        "推测(解码| ?token|采样)": "投机解码、草稿 token",
        "主人|所有者": "持有者",
        "陈旧": "残留",
        "内部浪费": "内部碎片",
        "统一解码": "等长解码",
        "槽(?!位)": "槽位",
        "哑槽": "占位槽位",
        "token 编号": "token id",
        "块 id": "块号",
        "槽位 id": "槽位号",
        "到来": "到达",
        "单元(?!格)": "单元格",
        "检查.*成立": "通过",
        "交入": "传入",
        "(?<!状态)(?<!块)池(?!行)": "状态池或块池",
        "暂存写入": "暂存后批量写入",
        "捕获尺寸": "捕获大小",
        "上一站|下一站|第 ?\\{number\\} 站": "页",
        "(已|此|请求|时|后|被)结束(?!括|列)": "完成",
        "(?<!…)…(?!…)": "……",
        "[\u4e00-\u9fff][,;:?!]|[\u4e00-\u9fff] [\u4e00-\u9fff]": "，；：？！, and no space between two characters",
        # Indices count from 0; 第 {n} 个 is read as a count from 1. 第 {n} 步, 行 and 列 are names.
        "第 ?\\{\\w+\\} ?[个块位项](?!（共)": "序号、位置、偏移 {n}",
        "第[一二三四五]个(块|token|键)|第几个": "序号",
    },
    "en": {
        "in vain": "empty",
        r"\bhanded in\b": "passed in, added with",
        "lately": "recently",
        r"\bbehind (it|them|its|the)\b": "after",
        "smaller model": "cheaper method: n-gram look-up is no model",
        "K and V of another request|another request's K": "another token's",
        "[Ss]lot number|number \\{\\w+\\} of": "offset, place, position",
    },
}


def sentences(language: Language) -> Iterator[tuple[str, str]]:
    """Everything that is said in a language, with where."""
    yield from catalogue(language).items()
    for name, example in examples().items():
        for word, text in example.words[language].items():
            yield f"{name}: {word}", text


def test_a_number_brings_its_word() -> None:
    assert translate("en", "fault.budget", NUMBERS).startswith("Step 3 schedules 70 tokens, 6 more than")
    assert translate("en", "fault.budget", {**NUMBERS, "num_tokens": 1}).startswith("Step 3 schedules 1 token, ")
    assert "70" in translate("zh", "fault.budget", NUMBERS)
    assert translate("en", "check.slots_unique.holds", {"num_slots": 12_345}) == "12,345 slots, all different"


def test_a_name_from_right_to_left_leaves_the_sentence_in_order() -> None:
    said = translate("en", "fault.unknown_req_id", {"step": 2, "req_id": "שלום"})
    assert "\u2068שלום\u2069" in said
    assert "\u2068" not in translate("en", "fault.unknown_req_id", {"step": 2, "req_id": "名 A"})


def test_whatever_can_turn_the_order_is_kept_to_itself() -> None:
    kinds = {"R", "AL", "AN", "LRE", "RLE", "LRO", "RLO", "PDF"}
    turning = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.bidirectional(chr(code)) in kinds]
    assert "\U0001e900" in turning  # Adlam
    assert "\u202e" in turning  # "override": all that follows from right to left
    for character in [*turning, "\u200e"]:
        assert fill("{name}, 2", {"name": f"A{character}"}) == f"\u2068A{character}\u2069, 2"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("A\u2069B", r"A\u2069B"),  # would end our isolate, and leave the rest of it to the sentence
        ("\u2067A", r"\u2067A"),  # would take our end for its own
        ("\u2066A\u2069", "\u2066A\u2069"),
        ("\u2069\u2068\u202e\u2067A\u2069", "\\u2069\\u2068\u202e\u2067A\u2069"),
    ],
)
def test_no_end_of_an_isolate_stands_alone(name: str, shown: str) -> None:
    """The same in tests/js/page-core.test.js."""
    assert fill("{name}, 2", {"name": name}) == f"\u2068{shown}\u2069, 2"


def test_a_number_with_its_word_is_written_in_one_way() -> None:
    """Anything else would be shown as it stands. `%{y:,}` is Plotly's."""
    for language in LANGUAGES:
        for key, text in catalogue(language).items():
            for found in re.findall(r"(?<!%)\{\w+:[^ ][^{}]*\}", text):
                assert re.fullmatch(r"\{\w+:[^|{}]+\|[^|{}]+\}", found), (key, found)


@pytest.mark.parametrize("language", LANGUAGES)
def test_one_word_for_each_thing(language: Language) -> None:
    found = [
        f"{where}: {text} ({pattern}; say {better})"
        for where, text in sentences(language)
        for pattern, better in DISCARDED[language].items()
        if re.search(pattern, text)
    ]
    assert found == []
