"""How many links one client may make: a bucket of tokens that fills up again slowly.

Clients are told apart by the address that the connection, or the proxy that uvicorn trusts, gives. Addresses are held in
memory alone, until their bucket is full again; none is written anywhere.
"""

import ipaddress
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

BURST = 60  # at once: a classroom behind one address
PER_HOUR = 120
MAX_CLIENTS = 10_000


class RateLimit:
    """A bucket for each client. Safe to share between threads."""

    def __init__(
        self,
        burst: int = BURST,
        per_hour: float = PER_HOUR,
        max_clients: int = MAX_CLIENTS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._burst = burst
        self._per_second = per_hour / 3600
        self._max_clients = max_clients
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # client -> tokens, and when; oldest first

    def take(self, client: str) -> int:
        """Take a token: 0, or how many seconds there will be none, at least 1."""
        with self._lock:
            tokens = self._tokens(client)
            if tokens < 1:
                return max(1, math.ceil((1 - tokens) / self._per_second - 1e-6))  # the rest is rounding
            self._put(client, tokens - 1)
            return 0

    def give_back(self, client: str) -> None:
        """Return the token of a call that made nothing."""
        with self._lock:
            self._put(client, self._tokens(client) + 1)

    def _tokens(self, client: str) -> float:
        tokens, since = self._buckets.get(client, (float(self._burst), 0.0))
        return min(self._burst, tokens + (self._clock() - since) * self._per_second)

    def _put(self, client: str, tokens: float) -> None:
        self._buckets.pop(client, None)
        if tokens < self._burst:  # a full bucket is as good as none
            self._buckets[client] = (tokens, self._clock())
        while self._buckets:
            oldest = next(iter(self._buckets))
            if len(self._buckets) <= self._max_clients and self._tokens(oldest) < self._burst:
                break
            del self._buckets[oldest]


def client_key(address: str) -> str:
    """What one client's address is filed under: of an IPv6 address its first 64 bits, which one client has all of."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address[:64]
    if isinstance(ip, ipaddress.IPv6Address):
        return str(ip.ipv4_mapped or ipaddress.ip_network((ip, 64), strict=False))
    return str(ip)
