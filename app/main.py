"""The application: settings in, a FastAPI app out."""

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import torch
from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.openapi.utils import get_openapi
from fastapi.responses import HTMLResponse
from starlette.types import Lifespan

from app import __version__
from app.links.store import LinkStore, open_store
from app.settings import Settings, pick_device
from app.trace.schema import describe
from app.web.api.glossary import glossary_router
from app.web.api.scenarios import api_router, scenario_components
from app.web.charts.script import script_router
from app.web.handout.page import handout_router
from app.web.http.compute import compute_limiter
from app.web.http.head import HeadAsGet
from app.web.http.paths import ForgivenPaths
from app.web.http.problems import install_error_handlers
from app.web.links.addresses import Addresses
from app.web.links.api import links_router, load_link
from app.web.links.qr import qr_router
from app.web.pages.page import lost_page, pages_router, static_files
from app.web.picture.og import og_router


def create_app(settings: Settings | None = None) -> FastAPI:
    """Build the application.

    Raises:
        SettingsError: the environment, or the device asked for, makes no sense.
    """
    settings = settings or Settings.from_environment()
    device = torch.device(pick_device(settings.device))
    # A request's tensors are small; what runs in parallel is requests.
    torch.set_num_threads(1)
    addresses = Addresses(settings.base_url)
    links = _links(settings)
    app = FastAPI(
        title="PageWalk",
        version=__version__,
        summary="From the scheduler's plan to a slot in GPU memory",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # ForgivenPaths does better
        lifespan=_closing(links),
    )
    app.root_path = settings.root_path  # as an argument it is deprecated: meant for servers that know it themselves
    app.add_middleware(
        CORSMiddleware, allow_origins=["*"], allow_methods=["GET", "POST"], allow_headers=["Content-Type", "Accept-Language"]
    )
    app.add_middleware(HeadAsGet)
    app.add_middleware(ForgivenPaths)
    install_error_handlers(app, lost_page)

    @app.get("/healthz", tags=["service"], summary="Liveness")
    async def healthz() -> dict[str, str]:
        return {"status": "ok", "version": __version__, "device": device.type}

    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        base = settings.root_path
        return get_swagger_ui_html(
            openapi_url=f"{base}{app.openapi_url}",
            title="PageWalk API",
            swagger_js_url=f"{base}/static/vendor/swagger-ui/swagger-ui-bundle.js",
            swagger_css_url=f"{base}/static/vendor/swagger-ui/swagger-ui.css",
            swagger_favicon_url=f"{base}/static/favicon.svg",
            swagger_ui_parameters={"validatorUrl": None, "tryItOutEnabled": True},
        )

    limiter = compute_limiter()
    app.include_router(api_router(device, limiter))
    app.include_router(glossary_router())
    app.include_router(links_router(links, addresses))
    open_link = load_link(links)
    app.include_router(
        pages_router(describe=describe, open_link=open_link, addresses=addresses, has_links=links is not None)
    )
    app.include_router(og_router(device, open_link))
    app.include_router(qr_router(addresses))
    app.include_router(handout_router(device, limiter, addresses, open_link))
    app.include_router(script_router())
    app.mount("/static", static_files(), name="static")
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    # What is loaded by now stays: the garbage collector need not walk torch again and again while a request makes objects.
    gc.collect()
    gc.freeze()
    return app


def _links(settings: Settings) -> LinkStore | None:
    if not settings.links:
        return None
    return open_store(path=settings.links_path, database_url=settings.database_url, max_links=settings.max_links)


def _closing(links: LinkStore | None) -> Lifespan[FastAPI]:
    """What lets go of the links' file when the server stops."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        if links is not None:
            links.close()

    return lifespan


def _openapi(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        schema = get_openapi(title=app.title, version=app.version, summary=app.summary, routes=app.routes)
        schema.setdefault("components", {}).setdefault("schemas", {}).update(scenario_components())
        app.openapi_schema = schema
    return app.openapi_schema
