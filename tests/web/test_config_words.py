"""The config form has words for every field that the format has, in every language, and gets the format from the server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, get_args

import pytest

from app.i18n import LANGUAGES, Language, catalogue
from app.pipeline.cudagraph import ConfiguredMode
from app.scenario.format.model import Config, Scenario

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

SCHEMA = Scenario.model_json_schema()
ABOUT = ("title", "description", "start_step", "strict")


def fields(node: dict[str, Any], prefix: str = "") -> Iterator[str]:
    for name, what in node["properties"].items():
        inner = what.get("items", what)
        if "$ref" in inner:
            yield from fields(SCHEMA["$defs"][inner["$ref"].rsplit("/", 1)[-1]], f"{prefix}{name}.")
        else:
            yield prefix + name


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_field_is_explained(language: Language) -> None:
    found = list(fields(SCHEMA["$defs"]["Config"]))
    assert len(found) > 15
    words = catalogue(language)
    for name in [*found, *ABOUT]:
        assert f"config.{name}.what" in words, name
    for name in ABOUT:
        assert f"config.{name}.name" in words, name
    sections = [name for name, what in SCHEMA["$defs"]["Config"]["properties"].items() if "$ref" in what.get("items", what)]
    for name in [*sections, "about", "limits", "speculation", "other"]:
        assert f"config.section.{name}" in words, name


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_mode_is_explained(language: Language) -> None:
    """Each by its name, and no other: FULL is part of two more."""
    modes = get_args(ConfiguredMode)
    assert len(modes) == 5
    said = catalogue(language)["config.cudagraph.mode.what"]
    assert re.findall(r"[A-Z_]{4,}(?=[:：])", said) == [*modes]


def test_the_page_carries_the_format(client: TestClient) -> None:
    page = client.get("/").text
    found = re.search(r'id="pw-format">(.*?)</script>', page, re.DOTALL)
    assert found
    config = json.loads(found.group(1))["$defs"]["Config"]["properties"]
    assert set(config) == set(Config.model_fields)
    assert config["max_num_reqs"]["default"] == Config().max_num_reqs
