"""Which scenario a query asks for: what the page's title, its handout and its picture are of.

In: the query parameters of an address. Out: the scenario, or why there is none; a query never fails. `s` holds a scenario
by itself, `example` names one of the gallery, `short` a link that this server keeps (the page of one is `/s/<id>`). A query
with none of them asks for the worked example.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from starlette.datastructures import QueryParams

from app.errors import Fault, ScenarioError
from app.examples import examples
from app.i18n import Language
from app.scenario.format.link import decode_link

DEFAULT_EXAMPLE = "worked-example"
MAX_TITLE_LENGTH = 200
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")  # controls, and what turns lines around

# What was typed as a short link's id -> its id and its scenario; raises ScenarioError. It may wait for a database.
OpenLink = Callable[[str], tuple[str, Mapping[str, Any]]]


@dataclass(frozen=True)
class Asked:
    """What was asked for.

    `kind` says how; `name` is the text of the parameter (of a short link its id), or the gallery name of what nobody asked
    for. `scenario` is as it was written, not run yet, and None where there is none: then `faults` say why, and `status` is
    the HTTP status that fits.
    """

    kind: Literal["link", "example", "short", "default"]
    name: str
    scenario: Mapping[str, Any] | None
    faults: Sequence[Fault] = ()
    status: int = 200

    @property
    def is_somebodys(self) -> bool:
        """Whether it is a scenario of a user, which search engines have no business with."""
        return self.kind in ("link", "short")

    @property
    def title(self) -> str:
        """What a browser's tab calls it; "" where it has no title, or there is nothing to call."""
        return one_line(str((self.scenario or {}).get("title") or "")[:MAX_TITLE_LENGTH])


def asked_scenario(query: QueryParams, language: Language, open_link: OpenLink | None = None) -> Asked:
    """The scenario that a query asks for, an example in the reader's language; `short` only where `open_link` is given."""
    short = _first(query, "short")
    if short is not None and open_link is not None:
        return asked_link(short, open_link)
    link = _first(query, "s")
    if link is not None:
        try:
            return Asked("link", link, decode_link(link))
        except ScenarioError as error:
            return Asked("link", link, None, error.faults, error.status)
    name = _first(query, "example")
    if not name:
        return Asked("default", DEFAULT_EXAMPLE, _example(DEFAULT_EXAMPLE, language))
    scenario = _example(name, language)
    fault = Fault("/example", "not_found", "not_found.example", {"name": name[:128]})
    return Asked("example", name, scenario) if scenario is not None else Asked("example", name, None, [fault], 404)


def asked_link(text: str, open_link: OpenLink) -> Asked:
    """The scenario of a short link."""
    try:
        name, scenario = open_link(text)
    except ScenarioError as error:
        return Asked("short", text, None, error.faults, error.status)
    return Asked("short", name, scenario)


def _example(name: str, language: Language) -> Mapping[str, Any] | None:
    example = examples().get(name)
    return None if example is None else example.scenario_in(language)


def one_line(text: str) -> str:
    """A user's text as one line that leaves what stands beside it as it is."""
    return " ".join(_UNSEEN.sub(" ", text).split())


def parameter(name: str) -> str:
    """Which parameter a name stands for, as the page itself reads it: whole addresses are set in capitals, and HTML in which
    somebody pasted one writes its & as &amp;.
    """
    return re.sub("^(amp;)+", "", name.lower())


def _first(query: QueryParams, name: str) -> str | None:
    """Of a parameter given twice the first, as the page itself reads it."""
    return next((value for given, value in query.multi_items() if parameter(given) == name), None)
