"""In which notation a body is written, JSON or YAML, and what reads it."""

from collections.abc import Callable
from typing import Any

from fastapi import Request

from app.scenario.format.parse import parse_json
from app.scenario.format.parse_yaml import parse_yaml

YAML_TYPES = ("application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml")  # RFC 9512, and what came before it

Read = Callable[[bytes], Any]


def reader_of(request: Request) -> Read:
    """What reads the request's body into a document: YAML where the content type says so, else JSON."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return parse_yaml if media_type in YAML_TYPES else parse_json


def scenario_content() -> dict[str, Any]:
    """What OpenAPI says of a body that is a scenario."""
    schema = {"schema": {"$ref": "#/components/schemas/Scenario"}}
    return {"application/json": schema, YAML_TYPES[0]: schema}
