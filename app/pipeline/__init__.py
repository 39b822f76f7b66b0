"""The mapping pipeline of vLLM's GPU model runner V2, in torch: a schedule goes in, slots come out.

Read the files in this order; each builds on those above it alone.

1. scheduler_output: what comes in
2. token_ids, request_state: the pool of rows, one per live request
3. context_parallel: what of a request lies on this rank
4. ragged: rows of different lengths, one behind the other
5. block_tables: which blocks hold the tokens of a pool row
6. input_batch: who runs, in the order of the batch rows
7. cudagraph: what the step is padded to
8. flat_tokens: all tokens as one flat sequence
9. input_block_tables: where attention reads
10. slot_mapping: where each token is written
11. kv_cache: what a slot is in bytes
12. sampled_tokens: what the step makes of the pool
13. record: all that a step computed
14. runner: one engine step, all of it in order
"""
