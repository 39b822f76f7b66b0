"""How many computations run at once, whoever asks for them: the API, pages."""

import os

import anyio


def compute_limiter() -> anyio.CapacityLimiter:
    """For `anyio.to_thread.run_sync`. Each computation is bound to one core; a few more than cores may run, so that a small
    one need not wait for large ones.
    """
    return anyio.CapacityLimiter(4 + (os.cpu_count() or 1))
