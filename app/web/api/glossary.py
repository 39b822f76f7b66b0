"""`GET /api/glossary`: every term in the reader's language."""

import orjson
from fastapi import APIRouter, Request
from fastapi.responses import Response

from app.glossary import describe_glossary
from app.web.http.problems import LanguageQuery, request_language


def glossary_router() -> APIRouter:
    """The route of the glossary."""
    router = APIRouter(prefix="/api", tags=["api"])

    @router.get("/glossary", summary="What every space, index, stage and concept means, and what others call it")
    async def glossary(
        request: Request,
        lang: LanguageQuery = "",  # noqa: ARG001  read by request_language
    ) -> Response:
        """`terms`, each with its `kind` (stage, space, dim, concept), definition and, where people go wrong, `confusion`.

        `also` lists other names with whose they are, `related` further terms, `spaces` the spaces of a stage or along an
        index. `space` holds the dims, dtype and stage of a tensor, `vllm` where vLLM keeps what it mirrors.
        """
        language = request_language(request)
        body = orjson.dumps(describe_glossary(language))
        headers = {"Content-Language": language, "Vary": "Accept-Language", "Cache-Control": "no-cache"}
        return Response(body, media_type="application/json", headers=headers)

    return router
