"""Settings from the environment: what is taken, and the sentence for what cannot be."""

from __future__ import annotations

import pytest

from app.settings import Settings, SettingsError, pick_device


def test_nothing_set_means_this_machine_alone() -> None:
    settings = Settings.from_environment({})
    assert settings == Settings(host="127.0.0.1", port=8000, device="auto", base_url="", root_path="")
    assert Settings.from_environment({"PORT": "", "HOST": " "}) == settings


def test_everything_set() -> None:
    settings = Settings.from_environment(
        {
            "HOST": "[::1]",
            "PORT": "0",
            "PAGEWALK_DEVICE": "cuda:1",
            "PAGEWALK_BASE_URL": "https://example.org:8443/pagewalk/",
        }
    )
    assert settings == Settings("::1", 0, "cuda:1", "https://example.org:8443/pagewalk", "/pagewalk")


def test_a_proxy_that_keeps_the_path_to_itself() -> None:
    environment = {"PAGEWALK_BASE_URL": "https://example.org/a", "PAGEWALK_ROOT_PATH": "/"}
    assert Settings.from_environment(environment).root_path == ""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("PORT", value) for value in ("abc", "-1", "65536", "8000.0", "８０００", "1_000")),
        *(("HOST", value) for value in ("http://127.0.0.1", "127.0.0.1:80", "a b", "localhost/")),
        *(("PAGEWALK_DEVICE", value) for value in ("gpu", "cuda:", "cuda:x", "CPU")),
        *(
            ("PAGEWALK_BASE_URL", value)
            for value in ("example.org", "ftp://example.org", "https://", "https://a.b/?c", "https://a:b")
        ),
        *(("PAGEWALK_ROOT_PATH", value) for value in ("pagewalk", "//a", "/a b", "/a?b")),
        *(("PAGEWALK_LINKS", value) for value in ("yes", "ON", "1")),
        *(("PAGEWALK_MAX_LINKS", value) for value in ("-1", "many", "1e5", "1000000000")),
        *(
            ("PAGEWALK_DATABASE_URL", value)
            for value in ("sqlite:///x", "postgresql://host", "host/db", "postgresql://[/db")
        ),
    ],
)
def test_nonsense_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=rf"^{name} must .*\.$"):
        Settings.from_environment({name: value})


def test_the_device_is_cuda_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    assert [pick_device(device) for device in ("auto", "cpu", "cuda", "cuda:1")] == ["cuda", "cpu", "cuda", "cuda:1"]
    with pytest.raises(SettingsError, match=r"PAGEWALK_DEVICE is cuda:2, but torch sees only 2"):
        pick_device("cuda:2")


def test_without_cuda_it_is_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert pick_device("auto") == "cpu"
    with pytest.raises(SettingsError, match=r"PAGEWALK_DEVICE is cuda, but torch sees no CUDA device"):
        pick_device("cuda")


def test_where_short_links_are_kept() -> None:
    environment = {"PAGEWALK_LINKS": "off", "PAGEWALK_LINKS_PATH": "/data/links.sqlite3", "PAGEWALK_MAX_LINKS": "7"}
    settings = Settings.from_environment(environment)
    assert (settings.links, settings.links_path, settings.max_links) == (False, "/data/links.sqlite3", 7)


def test_a_database_needs_its_driver_and_its_password_is_not_said(monkeypatch: pytest.MonkeyPatch) -> None:
    url = "postgresql://me:secret@db.example/links"
    monkeypatch.setattr("importlib.util.find_spec", lambda _: object())
    settings = Settings.from_environment({"PAGEWALK_DATABASE_URL": url})
    assert settings.database_url == url
    assert "secret" not in repr(settings)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(SettingsError, match=r"the driver psycopg, which is not installed\. Install it with") as refusal:
        Settings.from_environment({"PAGEWALK_DATABASE_URL": url})
    assert "secret" not in str(refusal.value)
    with pytest.raises(SettingsError) as refusal:
        Settings.from_environment({"PAGEWALK_DATABASE_URL": "mysql://me:secret@db.example/links"})
    assert "secret" not in str(refusal.value)
