"""Block tables: the copy by batch row that attention walks, for reading."""

from app.i18n import Translate
from app.pipeline.input_block_tables import InputBlockTable
from app.trace.space import Case, Source, Space, Stage
from app.trace.stages.vllm import BLOCK_TABLE
from app.trace.step import StepTensors, Values, ragged

_NUM_COMPUTED_OF_ROW = "num_computed_tokens[idx_mapping[batch_idx_padded]]"


def _gathered(step: StepTensors) -> list[list[Values]]:
    """Rows of the batch up to their last column ever written; a padded row is zeros, of which none is listed."""
    padded: list[Values] = [[]] * (step.batch_desc.num_reqs_padded - step.batch.num_reqs)
    return [ragged(table) + padded for table in step.record.input_block_tables]


def _sentence(step: StepTensors, translate: Translate) -> str:
    return translate("summary.block_tables", {"n": step.batch.num_reqs})


BLOCK_TABLES = Stage(
    "block-tables",
    sentence=_sentence,
    tier=2,
    elements=("input_block_tables", "batch_idx"),
    asks="input_block_tables",
    spaces=[
        Space(
            "input_block_tables",
            ("group", "batch_idx_padded", "block_index"),
            "int32",
            "id",
            [
                Case(
                    "input_block_tables.stale",
                    when="block_index >= num_blocks[group, idx_mapping[batch_idx_padded]]",
                    state="stale",
                ),
                Case(
                    "input_block_tables.null",
                    "0",
                    when="sliding_window[group] != None and dcp_size == 1 and"
                    f" block_index < max({_NUM_COMPUTED_OF_ROW} - (sliding_window[group] - 1), 0) // block_size[group]",
                    inputs=(_NUM_COMPUTED_OF_ROW,),
                    state="null",
                ),
                Case(
                    "input_block_tables.unknown",
                    "block_tables[group, idx_mapping[batch_idx_padded], block_index]",
                    when="value == None",
                    state="unknown",
                ),
                Case("input_block_tables", "block_tables[group, idx_mapping[batch_idx_padded], block_index]"),
            ],
            Source(InputBlockTable.gather, ("block_ids = table.block_table", ".scatter_(", "[hidden] = NULL_BLOCK")),
            (BLOCK_TABLE, "_gather_block_tables_kernel"),
            holds="block_id",
            values=_gathered,
            is_key=True,
            is_answer=True,
        ),
    ],
)
