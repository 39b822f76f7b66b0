"""What the environment may decide: where the server listens, which device computes, the address readers see, and where
short links are kept.

In: environment variables. Out: one frozen `Settings`. A value that makes no sense is a `SettingsError` in one sentence
that names the variable and says what would be right.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit


class SettingsError(ValueError):
    """An environment variable has a value that cannot be used; `str()` of it is for the person who set it."""


@dataclass(frozen=True)
class Settings:
    host: str = "127.0.0.1"  # HOST: a name or an address, IPv6 too
    port: int = 8000  # PORT: 0 takes any free one
    device: str = "auto"  # PAGEWALK_DEVICE: auto, cpu, cuda, cuda:N
    base_url: str = ""  # PAGEWALK_BASE_URL: how absolute links begin, no slash at the end; "": as the request says
    root_path: str = ""  # PAGEWALK_ROOT_PATH: the path a proxy serves us under; default: the path of the base URL
    links: bool = True  # PAGEWALK_LINKS: on, or off: no short links are made or opened
    links_path: str = ""  # PAGEWALK_LINKS_PATH: the SQLite file that keeps them; "": in the user's data folder
    database_url: str = field(default="", repr=False)  # PAGEWALK_DATABASE_URL: postgresql://..., instead of a file
    max_links: int = 100_000  # PAGEWALK_MAX_LINKS: how many are kept; then no more are made

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """Read the settings; an unset or empty variable means its default. Raises SettingsError."""

        def value(name: str, default: str) -> str:
            return environment.get(name, "").strip() or default

        base_url = _base_url(value("PAGEWALK_BASE_URL", cls.base_url))
        return cls(
            host=_host(value("HOST", cls.host)),
            port=_port(value("PORT", str(cls.port))),
            device=_device(value("PAGEWALK_DEVICE", cls.device)),
            base_url=base_url,
            root_path=_root_path(value("PAGEWALK_ROOT_PATH", urlsplit(base_url).path)),
            links=_on_or_off("PAGEWALK_LINKS", value("PAGEWALK_LINKS", "on")),
            links_path=value("PAGEWALK_LINKS_PATH", cls.links_path),
            database_url=_database_url(value("PAGEWALK_DATABASE_URL", "")),
            max_links=_count("PAGEWALK_MAX_LINKS", value("PAGEWALK_MAX_LINKS", str(cls.max_links))),
        )


def pick_device(device: str) -> str:
    """The torch device for `Settings.device`: `auto` is cuda where there is one, else cpu.

    Raises SettingsError where a cuda device is asked for that this machine does not have.
    """
    if device == "cpu":
        return "cpu"
    import torch  # only here: it takes seconds, and other settings should be read without it

    num_devices = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if device == "auto":
        return "cuda" if num_devices else "cpu"
    if num_devices == 0:
        raise SettingsError(f"PAGEWALK_DEVICE is {device}, but torch sees no CUDA device here. Use cpu, or leave it unset.")
    device_index = int(device.partition(":")[2] or 0)
    if device_index >= num_devices:
        raise SettingsError(f"PAGEWALK_DEVICE is {device}, but torch sees only {num_devices} of them.")
    return device


def _host(text: str) -> str:
    host = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    if re.search(r"[\s/\[\]]", host) or re.fullmatch(r"[^:]*:\d*", host):
        raise SettingsError(f"HOST must be a name or an address alone, such as 127.0.0.1 or ::1, not {text!r}.")
    return host


def _port(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,5}", text) or int(text) > 65_535:
        raise SettingsError(f"PORT must be a whole number from 0 to 65535, not {text!r}.")
    return int(text)


def _device(text: str) -> str:
    if not re.fullmatch(r"auto|cpu|cuda(:[0-9]{1,3})?", text):
        raise SettingsError(f"PAGEWALK_DEVICE must be auto, cpu, cuda or cuda:N, not {text!r}.")
    return text


def _base_url(text: str) -> str:
    if not text:
        return ""
    sentence = f"PAGEWALK_BASE_URL must look like https://example.org or https://example.org/pagewalk, not {text!r}."
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        raise SettingsError(sentence) from None
    has_more = parts.query or parts.fragment or re.search(r"\s", text)
    if parts.scheme not in {"http", "https"} or not parts.hostname or has_more:
        raise SettingsError(sentence)
    return text.rstrip("/")


def _root_path(text: str) -> str:
    path = text.rstrip("/")
    if path and (not path.startswith("/") or re.search(r"[\s?#]|//", path)):
        raise SettingsError(f"PAGEWALK_ROOT_PATH must be a path such as /pagewalk, not {text!r}.")
    return path


def _on_or_off(name: str, text: str) -> bool:
    if text not in {"on", "off"}:
        raise SettingsError(f"{name} must be on or off, not {text!r}.")
    return text == "on"


def _count(name: str, text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise SettingsError(f"{name} must be a whole number from 0 to 999999999, not {text!r}.")
    return int(text)


def _database_url(text: str) -> str:
    """The URL as it was given. What is said about it leaves it out: it may hold a password."""
    if not text:
        return ""
    try:
        parts = urlsplit(text)
        is_whole = parts.scheme in {"postgres", "postgresql", "postgresql+psycopg"} and len(parts.path) > 1
        _ = parts.port
    except ValueError:
        is_whole = False
    if not is_whole:
        raise SettingsError("PAGEWALK_DATABASE_URL must look like postgresql://user:password@host:5432/database.")
    if importlib.util.find_spec("psycopg") is None:
        raise SettingsError(
            "PAGEWALK_DATABASE_URL must have the driver psycopg, which is not installed. "
            "Install it with: .venv/bin/python -m pip install 'psycopg[binary]'."
        )
    return text
