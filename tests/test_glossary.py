"""The glossary: complete, bilingual, and never saying other than the schema."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from app.glossary import STAGES, all_terms, coordinates, describe_glossary, kind_of
from app.i18n import LANGUAGES, Language, catalogue
from app.trace.schema import SPACES, describe

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

SENTENCE = re.compile(r"glossary\.(?P<term>.+)\.(?P<what>definition|confusion|name)")
CHINESE = re.compile(r"[\u4e00-\u9fff]")
# What pipeline code and the page speak of without it being a tensor of a trace.
CONCEPTS = {
    "slot",
    "block",
    "logical-block",
    "physical-block",
    "null-block",
    "kv-cache-group",
    "persistent-table",
    "gathered-table",
    "padding",
    "PAD_SLOT_ID",
    "stale-tail",
    "prefill-chunk",
    "decode",
    "draft-token",
    "rejection",
    "uniform-decode",
    "cuda-graph-mode",
    "capture-size",
    "sliding-window",
    "context-parallelism",
    "rank",
    "interleave",
    "prefix-cache-hit",
    "preemption",
    "resumption",
    "logits",
    "nhd",
    "hnd",
    "slot-bytes",
    "int32-limit",
}


@pytest.fixture(scope="module")
def terms() -> dict[str, dict[str, Any]]:
    return {term["term"]: term for term in describe_glossary("en")["terms"]}


def test_every_space_coordinate_stage_and_concept_is_a_term() -> None:
    expected = {space.name for space in SPACES} | set(coordinates()) | set(STAGES) | CONCEPTS
    assert expected <= set(all_terms())
    kinds = {name: kind_of(name) for name in all_terms()}
    assert kinds["slot_mappings"] == "space"
    assert kinds["req_state_idx"] == "dim"
    assert kinds["batch"] == "stage"
    assert kinds["slot"] == "concept"
    assert all(all_terms()[name].theme for name, kind in kinds.items() if kind == "concept")


def test_coordinates_are_all_that_the_schema_names() -> None:
    schema = describe()
    named = {dim for space in schema["spaces"].values() for dim in space["dims"]}
    named |= {entry["name"] for entry in schema["coordinates"]} | set(schema["walk"])
    assert set(coordinates()) == named
    assert {space.holds for space in SPACES if space.holds} <= named


@pytest.mark.parametrize("language", LANGUAGES)
def test_both_languages_define_every_term_and_nothing_else(language: Language) -> None:
    keys = {(match["term"], match["what"]) for key in catalogue(language) if (match := SENTENCE.fullmatch(key))}
    assert {term for term, what in keys if what == "definition"} == set(all_terms())
    assert {term for term, _ in keys} == set(all_terms())
    others = {(match["term"], match["what"]) for key in catalogue("en") if (match := SENTENCE.fullmatch(key))}
    assert keys == others


def test_definitions_say_something() -> None:
    for language in LANGUAGES:
        sentences = catalogue(language)
        definitions = {name: sentences[f"glossary.{name}.definition"] for name in all_terms()}
        assert len(set(definitions.values())) == len(definitions), "two terms, one definition"
        for name, text in definitions.items():
            words = re.sub(re.escape(name), "", text)
            assert len(words) >= (14 if language == "zh" else 35), f"{language} {name}: {text}"
            assert not re.search(r"[{}`]", text), f"{language} {name}: no markup, no placeholder"
            assert text[-1] in ".。", f"{language} {name}: a sentence"
            assert bool(CHINESE.search(text)) == (language == "zh"), f"{language} {name}"


def test_tensor_names_are_not_translated() -> None:
    """A code name that a definition speaks of stands in the other language as well."""
    code = re.compile(r"[a-z]+(?:_[a-z0-9]+)+|PAD_SLOT_ID")
    for key, english in catalogue("en").items():
        if SENTENCE.fullmatch(key) and not key.endswith(".name"):
            assert set(code.findall(english)) == set(code.findall(catalogue("zh")[key])), key


def test_related_terms_exist_and_lead_somewhere_else() -> None:
    for name, term in all_terms().items():
        related = term.related.split()
        assert related, f"{name} stands alone"
        assert set(related) <= set(all_terms()), f"{name}: {set(related) - set(all_terms())}"
        assert name not in related
        assert len(set(related)) == len(related)


def test_every_other_name_has_an_owner_and_is_another() -> None:
    for name, term in all_terms().items():
        for other, whose in term.also.items():
            assert whose.strip(), f"{other} is nobody's"
            # The same name for another thing is worth saying; the same name for the same thing is not another name.
            assert other != name, name
    names = {other for term in all_terms().values() for other in term.also}
    wild = ["cu_seqlens_q", "cu_q_lens", "context_lens", "out_cache_loc", "out_loc", "page_size", "req_pool_indices"]
    assert set(wild) <= names


# What people ask for, having met it in an article, a paper or another code base -> the term that answers.
ASKED_FOR = {
    "request_state_index": "req_state_idx",
    "index_mapping": "idx_mapping",
    "logic_block": "block_index",
    "physical_block_id": "block_id",
    "completed_tokens": "num_computed_tokens",
    "PagedAttention": "paged-attention",
    "continuous batching": "continuous-batching",
    "chunked prefill": "prefill-chunk",
    "page table": "block-table",
    "页表": "block-table",
    "GQA": "gqa",
    "RoPE": "rope",
    "CSR": "csr",
    "paged_kv_indices": "csr",
    "投机解码": "speculative-decoding",
    "推测解码": "speculative-decoding",
    "压平": "flatten",
    "num_actual_tokens": "num_tokens",
    "k_cache": "kv-cache",
    "token_indices": "all_token_ids",
    "block_table_indices": "block_indices",
}


def test_words_of_the_field_are_known() -> None:
    terms = {term["term"]: term for term in describe_glossary("zh")["terms"]}
    unknown = set(ASKED_FOR)
    for asked, answered_by in ASKED_FOR.items():
        term = terms[answered_by]
        said = [term["term"].replace("-", " "), term["name"], term["definition"], *(one["name"] for one in term["also"])]
        if any(asked in text for text in said):
            unknown.remove(asked)
    assert not unknown


def test_no_list_of_block_ids_is_called_by_the_name_of_another(terms: dict[str, dict[str, Any]]) -> None:
    """FlashInfer's lists have the same ids, but no padding and nothing stale."""
    assert not any(other.startswith("paged_kv_") for term in all_terms().values() for other in term.also)
    assert "not another name of input_block_tables" in terms["csr"]["confusion"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_differs_is_said_of_a_name(language: Language) -> None:
    notes = [
        re.fullmatch(r"terms\.note\.([\w-]+)\.(\w+)", key) for key in catalogue(language) if key.startswith("terms.note.")
    ]
    assert notes
    for note in notes:
        assert note and note[2] in all_terms()[note[1]].also, note
    shown = {term["term"]: term["also"] for term in describe_glossary(language)["terms"]}
    assert not any(one["whose"].startswith("terms.") for also in shown.values() for one in also)
    req_to_token = next(one for one in shown["block_tables"] if one["name"] == "req_to_token")
    assert req_to_token["whose"].startswith({"en": "SGLang: a slot for each token", "zh": "SGLang：每个 token"}[language])


def test_what_the_schema_knows_is_the_schema_s(terms: dict[str, dict[str, Any]]) -> None:
    for name, space in describe()["spaces"].items():
        term = terms[name]
        for key in ("dims", "dtype", "stage", "holds", "exactness"):
            assert term["space"][key] == space[key], f"{name}.{key}"
        assert term["vllm"] == space["vllm"], name
        assert name in terms[space["stage"]]["spaces"]["stage"]
        for dim in space["dims"]:
            assert name in terms[dim]["spaces"]["along"], f"{name} along {dim}"
    assert "slot_mappings" in terms["slot_id"]["spaces"]["hold"]


def test_it_warns_of_the_mistakes_people_make(terms: dict[str, dict[str, Any]]) -> None:
    assert "Not the number of scheduled tokens" in terms["seq_lens"]["confusion"]
    assert "GQA" in terms["kv-cache-group"]["confusion"]
    assert "paged_kv_indices" in terms["csr"]["definition"]
    assert "-1" in terms["padding"]["confusion"]
    assert "batch" in terms["state-pool"]["confusion"]
    assert {"name": "seq_lens", "whose": "TensorRT-LLM"} in terms["num_scheduled_tokens"]["also"]


def test_the_api_speaks_the_reader_s_language(client: TestClient) -> None:
    answer = client.get("/api/glossary")
    assert answer.status_code == 200
    assert answer.headers["content-language"] == "en"
    assert [term["term"] for term in answer.json()["terms"]] == list(all_terms())
    chinese = client.get("/api/glossary?lang=zh")
    assert chinese.headers["content-language"] == "zh"
    by_name = {term["term"]: term for term in chinese.json()["terms"]}
    assert by_name["null-block"]["name"] == "占位块（null block）"
    assert by_name["slot_mappings"]["name"] == "slot_mappings"
    assert by_name["req_state_idx"]["words"] == "池行"
    by_header = client.get("/api/glossary", headers={"Accept-Language": "zh-CN"})
    assert by_header.json() == chinese.json()
