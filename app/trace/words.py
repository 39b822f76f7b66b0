"""Parts of the sentences that stages say about a step."""

from collections.abc import Iterable, Sequence

from app.i18n import Translate

MOST_NAMES = 4  # before a sentence stops listing
MOST_RUNS = 4


def listed(parts: Sequence[str], translate: Translate) -> str:
    """`A, B, C, D and 3 more`."""
    shown = translate("list.separator", {}).join(parts[:MOST_NAMES])
    return shown if len(parts) <= MOST_NAMES else translate("list.more", {"shown": shown, "n": len(parts) - MOST_NAMES})


def runs(numbers: Iterable[int], translate: Translate) -> str:
    """[0, 1, 2, 5] -> "0–2, 5", with the comma of the language, as in static/js/core/i18n.js."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][-1] == number - 1:
            parts[-1][1:] = [number]
        elif len(parts) > MOST_RUNS:
            break
        else:
            parts.append([number])
    shown = ["–".join(map(str, part)) for part in parts[:MOST_RUNS]]
    return translate("list.separator", {}).join([*shown, "…"] if len(parts) > MOST_RUNS else shown)
