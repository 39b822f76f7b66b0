"""Handouts: the numbers of the trace as tables on paper, blank where asked, bounded, in the reader's language."""

from __future__ import annotations

import itertools
import re
import time
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest

from app.examples import examples
from app.i18n import translate
from app.scenario.format.link import encode_link
from app.trace.schema import SPACES, worksheet_blanks
from app.web.handout.lines import NOT_SHOWN
from app.web.identity import identities
from tests.scenario.faults import blocks_of, request, step, worked

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

COUNTED = 24  # rows of a table that is cut


@dataclass
class Sheet:
    """One article: a step, as worksheet or answer key."""

    kind: str
    cells: dict[str, str] = field(default_factory=dict)  # "space.i.j" -> what is seen, "" where it is blank
    states: dict[str, str] = field(default_factory=dict)


class Page(HTMLParser):
    """What a reader sees of a handout: sheets, and all text but what is for screen readers alone."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.html = html
        self.sheets: list[Sheet] = []
        self.text = ""
        self.tags: list[tuple[str, dict[str, str]]] = []
        self._cell: str | None = None
        self._hidden = 0
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.tags.append((tag, given))
        if tag == "article":
            self.sheets.append(Sheet(given["class"].split()[1]))
        if "data-cell" in given:
            self._cell = given["data-cell"]
            self.sheets[-1].cells[self._cell] = ""
            self.sheets[-1].states[self._cell] = given.get("data-state", given.get("class", ""))
        if self._hidden or "vh" in given.get("class", "").split():
            self._hidden += 1

    def handle_endtag(self, tag: str) -> None:
        if tag in {"td", "th"}:
            self._cell = None
        self._hidden = max(0, self._hidden - 1)

    def handle_data(self, data: str) -> None:
        if self._hidden:
            return
        self.text += data
        if self._cell is not None:
            self.sheets[-1].cells[self._cell] += data

    @property
    def sheet(self) -> Sheet:
        (sheet,) = self.sheets
        return sheet

    def line(self, space: str) -> list[str]:
        """The values of a space with one dim, or of its group 0, as they stand on the sheet."""
        cells = {key: text for key, text in self.sheet.cells.items() if key.split(".")[0] == space}
        return [cells[key] for key in sorted(cells, key=lambda key: [int(part) for part in key.split(".")[1:]])]


def handout(client: TestClient, query: str = "", status: int = 200, **headers: str) -> Page:
    response = client.get(f"/handout{query}", headers=headers)
    assert response.status_code == status, response.text[:500]
    assert response.headers["content-type"].startswith("text/html")
    return Page(response.text)


def of(client: TestClient, scenario: Any, query: str = "", status: int = 200) -> Page:
    return handout(client, f"?s={encode_link(scenario)}{query}", status)


def words(key: str, **params: Any) -> str:
    return translate("en", key, params)


# ---- the numbers


def test_the_worked_example_is_the_step_it_starts_with(client: TestClient) -> None:
    page = handout(client)
    assert page.sheet.kind == "key"
    assert page.line("idx_mapping") == ["7", "6"]
    assert page.line("query_start_loc") == ["0", "1", "9"]
    assert page.line("positions") == ["31", *map(str, range(16, 24))]
    assert page.line("seq_lens") == ["32", "24"]
    # B: 31 // 16 = 1, 31 % 16 = 15, block 12, 12 * 16 + 15 = 207. A: block 44, 44 * 16 = 704, offsets 0 to 7.
    assert page.line("slot_mappings") == ["207", *map(str, range(704, 712))]
    # A slot takes 8 heads * 2 * 128 * 2 bytes = 4,096; 207 * 4,096 = 847,872.
    assert page.line("slot_byte_offsets")[0] == "847,872"
    assert page.line("num_computed_tokens_after") == ["32", "24"]


def test_every_cell_is_the_traces(client: TestClient, subtests: pytest.Subtests) -> None:
    for name in examples():
        with subtests.test(name):
            scenario = client.get(f"/api/examples/{name}").json()
            start = scenario.get("start_step", 0)
            last = min(start + 1, len(scenario["steps"]) - 1)
            trace = client.post(f"/api/trace?first={start}&last={last}", json=scenario).json()
            page = handout(client, f"?example={name}&steps={start}-{last}")
            assert len(page.sheets) == len(trace["steps"])
            for sheet, traced in zip(page.sheets, trace["steps"], strict=True):
                assert len(sheet.cells) > (20 if traced["num_reqs"] else 5)
                for key, text in sheet.cells.items():
                    space, *at = key.split(".")
                    assert text == shown(space, value_at(traced["spaces"][space]["values"], list(map(int, at)))), key


def value_at(values: Any, at: list[int]) -> Any:
    for index in at:
        if values == []:  # a padded row of a table: all of it is the null block
            return 0
        values = values[index]
    return values


def shown(space: str, value: Any) -> Any:
    if value is None:
        return AnyOf("?", "–")
    if isinstance(value, bool):
        return str(value).lower()
    if space == "row_status":
        return words(f"value.row_status.{value}")
    return AnyOf(str(value), f"{value:,}") if isinstance(value, int) else value


class AnyOf:
    """Equal to any of some texts."""

    def __init__(self, *texts: str) -> None:
        self.texts = texts

    def __eq__(self, other: object) -> bool:
        return other in self.texts

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"any of {self.texts}"


def test_nothing_of_a_small_step_is_missing(client: TestClient) -> None:
    scenario = client.get("/api/examples/worked-example").json()
    (traced,) = client.post("/api/trace?first=1&last=1", json=scenario).json()["steps"]
    there = handout(client).sheet.cells
    free = set(traced["free_indices"])
    for name, space in traced["spaces"].items():
        if name in NOT_SHOWN or name == "kv_block_groups":
            continue
        for at in places(space["values"]):
            row = at[space["dims"].index("req_state_idx")] if "req_state_idx" in space["dims"] else None
            is_unused = row in free  # said in one line: 6 more rows, never used: 0-5
            assert (".".join([name, *map(str, at)]) in there) != is_unused, (name, at)


def places(values: Any) -> list[tuple[int, ...]]:
    if not isinstance(values, list):
        return [()]
    return [(index, *rest) for index, value in enumerate(values) for rest in places(value)]


def test_every_space_is_on_some_handout(client: TestClient) -> None:
    seen = set()
    for name in (
        "worked-example",
        "two-groups-drafts-padding-preemption",
        "context-parallel-rank-1-of-2",
        "a-row-is-recycled",
        "shared-prefix-blocks",
        "a-prefix-hit",
    ):
        for sheet in handout(client, f"?example={name}&steps=0-7").sheets:
            seen |= {key.split(".")[0] for key in sheet.cells}
    assert {space.name for space in SPACES} - NOT_SHOWN == seen


def test_what_is_not_data_looks_different(client: TestClient) -> None:
    padded = handout(client, "?example=two-groups-drafts-padding-preemption&step=2").sheet
    assert {padded.states[f"slot_mappings.0.{token}"] for token in (6, 7, 8)} == {"padding"}
    # W = 24, P has 37 tokens computed: (37 - 23) // 8 = 1 block is below the window.
    assert padded.states["input_block_tables.1.1.0"] == "null"
    elsewhere = handout(client, "?example=context-parallel-rank-1-of-2&step=1").sheet
    assert "not_local" in {elsewhere.states[key] for key in elsewhere.cells if key.startswith("slot_mappings.")}
    stale = handout(client, "?example=a-row-is-recycled&step=1").sheet
    assert stale.states["block_tables.0.7.1"] == "stale"


def test_formulas_are_the_declared_ones(client: TestClient) -> None:
    page = handout(client)
    assert "block_indices[t] = positions[t] // block_size" in page.text
    assert "slot_mappings[t] = block_numbers[t] * block_size + block_offsets[t]" in page.text
    assert "query_start_loc[b] = query_start_loc[b - 1] + num_scheduled_tokens[b - 1]" in page.text
    parallel = handout(client, "?example=context-parallel-rank-1-of-2")
    assert "block_indices[t] = positions[t] // (block_size * dcp_size)" in parallel.text
    groups = handout(client, "?example=two-groups-drafts-padding-preemption")
    assert "slot_mappings[g, t] = block_numbers[g, t] * block_size[g] + block_offsets[g, t]" in groups.text


# ---- worksheet and answer key


def test_a_worksheet_is_blank_where_the_class_works(client: TestClient) -> None:
    worksheet = handout(client, "?answers=0")
    assert worksheet.sheet.kind == "worksheet"
    key = handout(client).sheet.cells
    assert set(worksheet.sheet.cells) == set(key)
    for cell, text in worksheet.sheet.cells.items():
        assert text == ("" if cell.split(".")[0] in worksheet_blanks() else key[cell]), cell
    assert "207" not in re.sub(r"<[^>]*>", " ", worksheet.html), "the slot that is asked for"
    assert words("handout.name") in worksheet.text


def test_both_are_one_after_the_other(client: TestClient) -> None:
    page = handout(client, "?answers=both&steps=0-1")
    assert [sheet.kind for sheet in page.sheets] == ["worksheet", "worksheet", "key", "key"]
    assert page.sheets[1].cells["slot_mappings.0.0"] == ""
    assert page.sheets[3].cells["slot_mappings.0.0"] == "207"


@pytest.mark.parametrize(
    ("query", "blank"),
    [
        ("&blank=positions,seq_lens", {"positions", "seq_lens"}),
        ("&blank=&blank=positions&blank=seq_lens", {"positions", "seq_lens"}),
        ("&blank=", set()),
        ("&blank=auto,prompt_len", worksheet_blanks() | {"prompt_len"}),
    ],
)
def test_what_is_blank_can_be_chosen(client: TestClient, query: str, blank: set[str]) -> None:
    page = handout(client, f"?answers=0{query}")
    on_sheet = {key.split(".")[0] for key in page.sheet.cells}
    empty = {key.split(".")[0] for key, text in page.sheet.cells.items() if not text}
    assert empty == blank & on_sheet
    checked = {given["value"] for tag, given in page.tags if given.get("type") == "checkbox" and "checked" in given}
    assert checked == blank - NOT_SHOWN


def test_the_form_leads_to_the_same_scenario(client: TestClient) -> None:
    link = encode_link(worked(title="Mine"))
    page = handout(client, f"?s={link}&lang=zh&answers=0")
    hidden = {given["name"]: given["value"] for tag, given in page.tags if given.get("type") == "hidden"}
    assert hidden == {"s": link, "lang": "zh", "blank": ""}
    (form,) = [given for tag, given in page.tags if tag == "form"]
    assert (form["action"], form["method"]) == ("/handout", "get")


# ---- which steps


def test_steps_are_chosen_and_never_missing(client: TestClient) -> None:
    recycled = "?example=a-row-is-recycled"
    for query, indices in (("&step=0", [0]), ("&steps=1-2", [1, 2]), ("&steps=2-1", [1, 2]), ("&steps=1", [1]), ("", [1])):
        page = handout(client, recycled + query)
        found = [int(number) for number in re.findall(r"<h2>Step (\d+)", page.html)]
        assert found == indices, query
    page = handout(client, f"{recycled}&step=99")
    assert words("notice.step", asked="99", step="2") in page.text
    page = handout(client, f"{recycled}&steps=zero&answers=9&blank=nothing")
    assert words("notice.ignored", names="steps, answers, blank") in page.text
    assert page.sheet.kind == "key"


def test_what_left_the_pool_and_what_is_padded_is_said(client: TestClient) -> None:
    assert words("handout.finished", names="F") in handout(client, "?example=a-row-is-recycled&step=1").text
    padded = handout(client, "?example=two-groups-drafts-padding-preemption&step=2")
    assert words("handout.graph", mode="FULL", tokens=9, requests=3) in padded.text
    assert (
        words("handout.preempted", names="P") in handout(client, "?example=two-groups-drafts-padding-preemption&step=4").text
    )


def test_states_of_a_scenario_without_numbers(client: TestClient) -> None:
    empty = {"version": 1, "requests": [], "steps": []}
    assert words("handout.no_requests") in of(client, empty).text
    assert words("handout.no_steps") in of(client, worked(steps=[], start_step=0)).text
    pause = of(client, worked(steps=[step({"B": 31}), step({}), step({"B": 1})]), "&step=1")
    assert words("handout.empty_step") in pause.text
    assert pause.line("num_computed_tokens") == ["31"]  # B's row; the others were never used
    assert not pause.line("slot_mappings")
    before = of(client, worked(steps=[step({})]))
    assert before.line("row_status") == [words("value.row_status.unused")]


def test_a_trace_that_stops_says_where(client: TestClient) -> None:
    # Two blocks besides the null block: B's 31 tokens take both, A's 16 find none.
    scenario = worked(config={"num_blocks": 3}, steps=[step({"B": 31}), step({"A": 16})])
    message = words("stopped.pool_exhausted", step=1, needed=1, free=0)
    for query in ("&steps=0-1", "&step=1"):
        page = of(client, scenario, query)
        assert message in page.text
        assert len(page.sheets) == 1
    none = of(client, worked(config={"num_blocks": 2}, steps=[step({"B": 31})]))  # 31 tokens need 2 blocks
    assert not none.sheets
    assert words("stopped.pool_exhausted", step=0, needed=2, free=1) in none.text


def test_violated_checks_stand_on_the_key(client: TestClient) -> None:
    steps = [{"num_scheduled_tokens": {"B": 31, "A": 16}, "new_block_ids": {"B": [[37, 12]], "A": [[37, 44]]}}]
    page = of(client, worked(strict=False, steps=steps))
    assert re.search(r'<ul class="violated"><li>[^<]*', page.html)
    assert words("checks.violated.one") in page.text or "checks violated" in page.text
    assert "violated" not in of(client, worked(strict=False, steps=steps), "&answers=0").html


# ---- what cannot be shown


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_is_not_there_has_a_page_with_a_way_on(client: TestClient, lang: str) -> None:
    good = encode_link(worked())
    cases = [
        ("?example=nope", 404),
        (f"?s={good[:40]}", 400),
        (f"?s={good[:20]}x{good[21:]}", 400),
        ("?s=", 400),
        ("?short=aaaaaaaa", 404),
        (f"?s={encode_link(worked(steps=[step({'B': 32})]))}", 422),
        (f"?s={encode_link(worked(config={'max_num_reqs': 1}))}", 422),
    ]
    for query, status in cases:
        page = handout(client, f"{query}&lang={lang}", status)
        assert translate("zh" if lang == "zh" else "en", f"problem.{status}.title", {}) in page.text, query
        assert any(given.get("href") == f"/handout?lang={lang}" for tag, given in page.tags)
        assert not page.sheets
    assert f'lang="{"zh-Hans" if lang == "zh" else "en"}"' in page.html


def test_all_faults_are_said_in_words(client: TestClient) -> None:
    many = worked(steps=[step({"nobody": 1, f"n{index}": 1}) for index in range(40)])
    page = of(client, many, status=422)
    faults = [given for tag, given in page.tags if tag == "li"]
    assert len(faults) == 21  # 20 sentences, and how many more
    assert "nobody" in page.text


@pytest.mark.parametrize(
    "query",
    [
        "?steps=999999999-999999999",
        "?steps=9999999999",
        "?step=-999999999",
        "?steps=%00&lang=%00",
        "?steps=٣",
        "?blank=" + ",".join(["positions"] * 500),
        "?blank=%3Cscript%3E",
        "?lang=xx",
        "?example=worked-example&example=nope",
        "?answers=both&answers=0",
        "?steps=1-",
        "?step=1e3",
    ],
)
def test_no_query_fails(client: TestClient, query: str) -> None:
    page = handout(client, query)
    assert page.sheets
    assert "<script" not in page.html


# ---- words, safety


def test_the_language_is_the_readers(client: TestClient) -> None:
    for page in (handout(client, "?lang=zh"), handout(client, **{"accept-language": "zh-CN,en;q=0.5"})):
        assert '<html lang="zh-Hans">' in page.html
        assert "一个解码" in page.text
        assert "idx_mapping" in page.text
        assert "sort_key：无草稿 · 非 1+K · 数量" in page.text
        assert not re.search(r"\b(Handout|Step|Worksheet|request|Show)\b", page.text)
        assert page.line("slot_mappings")[0] == "207"
    english = handout(client, "?lang=en", **{"accept-language": "zh"})
    assert '<html lang="en">' in english.html
    links = {given["hreflang"]: given["href"] for tag, given in english.tags if "hreflang" in given}
    assert set(links) == {"zh"}
    assert "lang=zh" in links["zh"]
    assert "lang=en" not in links["zh"]


def test_what_users_wrote_stays_text(client: TestClient) -> None:
    evil = '"><img src=x onerror=alert(1)><script>alert(2)</script>'
    scenario = {
        "version": 1,
        "title": evil,
        "description": evil,
        "config": {"kv_cache_groups": [{"name": evil, "block_size": 16}, {"name": "other", "block_size": 8}]},
        "requests": [request(evil, 24), request("'b\" <i>", 24)],
        "steps": [step([[evil, 8], ["'b\" <i>", 4]])],
    }
    page = of(client, scenario, "&answers=both")
    assert [given["src"][:8] for tag, given in page.tags if tag == "img"] in ([], ["/api/qr."])
    assert not {"script", "i"} & {tag for tag, given in page.tags if given}
    assert "<script" not in page.html
    assert evil in page.text
    assert not any(name.startswith("on") or name == "style" for _, given in page.tags for name in given)


def test_nothing_may_run_on_it(client: TestClient) -> None:
    for query in ("", "?example=nope"):
        headers = client.get(f"/handout{query}").headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script" not in policy
        assert "unsafe" not in policy
        assert "Accept-Language" in headers["vary"]
        assert headers["x-content-type-options"] == "nosniff"
    private = client.get(f"/handout?s={encode_link(worked())}").headers
    assert private["x-robots-tag"] == "noindex"
    assert "x-robots-tag" not in client.get("/handout").headers


def test_tables_are_tables(client: TestClient) -> None:
    page = handout(client)
    kinds = [tag for tag, _ in page.tags]
    assert kinds.count("table") == kinds.count("caption") > 10
    assert all("scope" in given for tag, given in page.tags if tag == "th")
    headings = [int(tag[1]) for tag in kinds if re.fullmatch(r"h\d", tag)]
    assert headings[0] == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(headings))


def test_the_link_of_the_scenario_is_printed(client: TestClient) -> None:
    page = handout(client, "?example=a-row-is-recycled&step=2&lang=en")
    assert "http://testserver/?example=a-row-is-recycled&step=2&lang=en" in page.text
    assert "vLLM 0.33.0" in page.text
    codes = [given["src"] for tag, given in page.tags if tag == "img"]
    assert codes == ["/api/qr.svg?example=a-row-is-recycled&step=2&lang=en"]
    assert client.get(codes[0]).status_code == 200
    long = worked(description="x" + "".join(chr(33 + (index * 7919) % 90) for index in range(900)))
    page = of(client, long)
    assert words("handout.long_link") in page.text
    assert not [tag for tag, _ in page.tags if tag == "img"]


def test_a_page_without_javascript_points_to_its_handout(client: TestClient) -> None:
    html = client.get("/?example=a-row-is-recycled&step=2&stage=batch&lang=zh").text
    found = re.search(r'<noscript>.*?href="([^"]*)".*?</noscript>', html, re.DOTALL)
    assert found is not None
    assert found[1].replace("&amp;", "&") == "/handout?example=a-row-is-recycled&lang=zh&step=2"
    assert handout(client, found[1].removeprefix("/handout").replace("&amp;", "&")).sheets


def test_short_links_have_handouts(client: TestClient) -> None:
    made = client.post("/api/links", json=worked(title="Kept"))
    if made.status_code == 404:
        pytest.skip("this server keeps no links")
    page = handout(client, f"?short={made.json()['id']}&step=1")
    assert "Kept" in page.text
    assert page.line("slot_mappings")[0] == "207"
    assert f"/s/{made.json()['id']}?step=1" in page.text


# ---- bounds


def test_many_steps_are_cut_and_lead_on(client: TestClient) -> None:
    steps = [step({"B": 31, "A": 16}), *(step({"B": 1, "A": 1}) for _ in range(40))]
    page = of(client, worked(steps=steps, requests=[request("B", 31), request("A", 16)]), "&steps=0-40")
    assert len(page.sheets) == 8
    assert words("handout.cut.steps", first="0", last="7", wanted="40") in page.text
    links = [given["href"] for tag, given in page.tags if tag == "a" and "steps=8-15" in given.get("href", "")]
    assert links
    assert len(handout(client, links[0].removeprefix("/handout")).sheets) == 8


def test_the_largest_scenarios_are_bounded_and_fast(client: TestClient) -> None:
    names = [f"r{index}" for index in range(256)]
    scenario = {
        "version": 1,
        "config": {"max_num_reqs": 256, "max_num_batched_tokens": 4096, "max_model_len": 1024, "num_blocks": 16384},
        "requests": [request(name, 16) for name in names],
        "steps": [step([[name, 16] for name in names]), *(step([[name, 1] for name in names[:8]]) for _ in range(511))],
    }
    link = encode_link(scenario)
    handout(client, f"?s={link}")
    for query in ("&steps=0-511&answers=both", "&step=511", "&step=0"):
        began = time.process_time()  # well under 1 s; what grows without bound takes minutes
        page = handout(client, f"?s={link}{query}")
        took = time.process_time() - began
        assert took < 20, f"{query}: {took:.2f} s"
        assert len(page.html) < 2_500_000
    cut = words("handout.cut", axis="flat_token_idx", shown=64, n=256 * 16 - 64, all=256 * 16)
    assert cut in page.text
    rows = [key for key in page.sheet.cells if key.startswith("idx_mapping.")]
    assert len(rows) == COUNTED


def test_wide_tables_keep_the_columns_that_matter(client: TestClient) -> None:
    # 1,000 tokens computed, blocks of 8: position 1000 falls into column 1000 // 8 = 125, the last of 126.
    scenario = {
        "version": 1,
        "config": {"max_model_len": 2048, "num_blocks": 4096, "kv_cache_groups": blocks_of(8)},
        "requests": [request("A", 1000, {"num_computed_tokens": 1000, "output_token_ids": 1})],
        "steps": [step({"A": 1})],
    }
    page = of(client, scenario)
    columns = [int(key.split(".")[-1]) for key in page.sheet.cells if key.startswith("block_tables.")]
    assert len(columns) == 12
    assert 0 in columns
    assert 125 in columns
    assert words("handout.cut.columns", space="block_tables", n=126 - 12, all=126) in page.text


# ---- identities


def test_a_request_has_the_letter_it_has_on_the_board() -> None:
    found = identities(["B", "req-1", "A", "req-2"])
    assert [one.letter for one in found.values()] == ["B", "C", "A", "D"]  # A and B are taken
    assert [one.colour for one in found.values()] == [0, 1, 2, 3]
    many = identities([f"r{index}" for index in range(60)])
    assert len({one.letter for one in many.values()}) == 60
    assert many["r52"].letter == "A2"  # place 52: letter 52 % 26, digit 52 // 26
    assert (many["r12"].colour, many["r12"].hatch) == (0, 1)  # 12 colours, then another hatch: (12 + 1) % 6
