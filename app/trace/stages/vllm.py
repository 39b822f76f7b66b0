"""Where vLLM 0.33.0 keeps what the spaces mirror."""

GPU = "vllm/v1/worker/gpu/"
MODEL_RUNNER = GPU + "model_runner.py"
STATES = GPU + "states.py"
INPUT_BATCH = GPU + "input_batch.py"
BLOCK_TABLE = GPU + "block_table.py"
CP_UTILS = GPU + "cp_utils.py"
SCHEDULER_OUTPUT = "vllm/v1/core/sched/output.py"
