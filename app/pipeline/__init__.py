"""The mapping pipeline of vLLM's GPU model runner V2, in torch: a schedule goes in, slots come out.

Read in this order: request_state (the pool of rows), block_tables (two kinds of table), input_batch (batch and
flatten), cudagraph (padding), kv_cache (bytes), runner (one engine step, all of it in order).
"""
