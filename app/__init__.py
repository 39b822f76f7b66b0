"""PageWalk: walk a token from the scheduler's plan to its slot in GPU memory.

Dependencies point one way: `main -> web -> trace -> pipeline`, with `scenario` beside `pipeline` and below `trace`.
"""

__version__ = "0.1.0"
