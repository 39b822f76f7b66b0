"""What a page says of itself to search engines, and to chat programs that show where a link leads.

In: what was asked for, and the reader's language. Out: the tags of the page's head. Examples and the bare page are for
search engines, in each language; what a user made is not (`noindex`).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from fastapi import Request

from app.i18n import LANGUAGES, Language, tag_of, translate
from app.web.links.addresses import Addresses
from app.web.links.asked import Asked, one_line
from app.web.picture.canvas import HEIGHT, WIDTH
from app.web.picture.og import asked_step

MAX_DESCRIPTION_LENGTH = 200
MAX_LINK_LENGTH = 6_000  # of `s` in the address of a picture: programs that unfurl take no longer ones


@dataclass(frozen=True)
class Unfurl:
    """Context of `unfurl.html`; every address is absolute."""

    title: str
    description: str
    canonical: str  # "" where there is none
    url: str  # with the step; "" too
    image: str  # "" where there is no picture of this very scenario
    image_width: int
    image_height: int
    locale: str
    is_indexed: bool
    alternates: Mapping[str, str]  # language as HTML calls it -> address


def unfurl(request: Request, asked: Asked, language: Language, addresses: Addresses) -> Unfurl:
    """The head of the page that shows what was asked for. Text is as users wrote it: the template escapes it."""
    step = asked_step(request.query_params)
    path = "/"
    query: dict[str, str] = {}
    if asked.kind == "short":
        path = f"/s/{asked.name}"
    elif asked.kind != "default":
        query = {"s" if asked.kind == "link" else asked.kind: asked.name}
    is_there = asked.scenario is not None
    is_indexed = is_there and not asked.is_somebodys
    picture = {"short": asked.name} if asked.kind == "short" else query
    has_picture = is_there and len(asked.name) <= MAX_LINK_LENGTH
    lang_asked = language if request.query_params.get("lang") == language else None
    return Unfurl(
        title=asked.title or translate(language, "scenario.untitled" if is_there else "picture.title", {}),
        description=_description(asked, language),
        canonical=addresses.page(request, path, **query, lang=lang_asked) if is_there else "",
        url=addresses.page(request, path, **query, step=step, lang=lang_asked) if is_there else "",
        image=addresses.page(request, "/og.png", **picture, step=step, lang=language) if has_picture else "",
        image_width=WIDTH,
        image_height=HEIGHT,
        locale=translate(language, "language.locale", {}),
        is_indexed=is_indexed,
        alternates={tag_of(code): addresses.page(request, path, **query, lang=code) for code in LANGUAGES}
        if is_indexed
        else {},
    )


def _description(asked: Asked, language: Language) -> str:
    """The scenario's own description in one line, else what PageWalk is."""
    own = (asked.scenario or {}).get("description")
    text = one_line(own) if isinstance(own, str) else ""
    if len(text) > MAX_DESCRIPTION_LENGTH:
        text = text[: MAX_DESCRIPTION_LENGTH - 1].rstrip() + "…"
    return text or translate(language, "page.description", {})
