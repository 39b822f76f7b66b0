"""PageWalk: walk a token from the scheduler's plan to its slot in GPU memory.

Dependencies point one way: `main -> web -> trace -> pipeline`, with `scenario` beside `pipeline` and below `trace`.
"""

import warnings

__version__ = "0.1.0"

# torch works without numpy, but says on import that it is missing. PageWalk never turns a tensor into an array.
warnings.filterwarnings("ignore", message="Failed to initialize NumPy", category=UserWarning)
