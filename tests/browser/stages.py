"""The stages as the server tells them, so that tests hold for any pipeline."""

from __future__ import annotations

from dataclasses import dataclass

from playwright.sync_api import Page

from app.i18n import Language, catalogue


@dataclass(frozen=True)
class Stages:
    names: tuple[str, ...]  # in the order of the pipeline
    on_board: tuple[str, ...]  # without those that have their own place

    @property
    def first(self) -> str:
        return self.names[0]

    @property
    def last(self) -> str:
        return self.names[-1]

    def before(self, stage: str) -> str:
        return self.names[self.names.index(stage) - 1]

    def after(self, stage: str) -> str:
        return self.names[self.names.index(stage) + 1]

    def between(self, stage: str, later: str) -> int:
        """Presses of an arrow key from one to the other."""
        return self.names.index(later) - self.names.index(stage)

    def stop(self, step: int, stage: str) -> int:
        """Which stop of a talk it is, where every step before runs something; counted from 1."""
        return step * len(self.names) + self.names.index(stage) + 1


def stages_of(page: Page) -> Stages:
    told = page.request.get("/api/spaces").json()["stages"]
    return Stages(
        tuple(stage["name"] for stage in told), tuple(stage["name"] for stage in told if stage["tier"] is not None)
    )


def title_of(stage: str, lang: Language = "en") -> str:
    return catalogue(lang)[f"stage.{stage}"]
