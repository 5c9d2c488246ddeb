"""The connection to a Ray cluster: found quickly or not at all, silent, our signals kept.

Ray waits for minutes where there is nothing, prints on stdout, replaces signal handlers, sends
folders around and reports to its makers. What of that can be turned off is turned off here.
"""

import contextlib
import logging
import os
import secrets
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from dynascope.engine import count_threads
from dynascope.errors import DynascopeError
from dynascope.extras import needing

_KNOCK = 5.0  # seconds for a cluster to answer
REFUSALS = (ConnectionError, ValueError, RuntimeError, OSError)
# For the sweep's own process, where a person has not set them:
_SETTINGS = {
    # Under `uv run` Ray would send the current folder, whatever is in it, to all nodes and start
    # workers from there; but they have dynascope already, and its version is checked.
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",  # lines, lost nodes among them, that it would print on stdout
    "RAY_USAGE_STATS_ENABLED": "0",  # a cluster of `local` does not report to Ray's makers
}
_ELSEWHERE = {"RAY_NUM_REDIS_GET_RETRIES": "3"}  # to connect, of 40 seconds each


@contextlib.contextmanager
def connected(address: str) -> Iterator[tuple[Any, bool]]:
    """Ray, connected to the cluster that is meant, and whether somebody else connected it.

    `local` starts a cluster on this machine, for the time of the block.
    """
    ray = import_ray(address)
    if ray.is_initialized():  # a notebook that is on a cluster already
        yield ray, True
        return
    where: dict[str, Any] = {"address": address}
    if address == "local":
        where |= {"include_dashboard": False, "num_cpus": count_threads(None, 10**6)}
    else:
        _find(ray, address)
    try:
        with _signals_kept():
            ray.init(**where, log_to_driver=False, logging_level=logging.CRITICAL)
    except (*REFUSALS, ray.exceptions.RayError) as error:
        if address == "local":
            text = f"ray: no cluster could be started on this machine ({reason(error)})."
        else:
            text = (
                f"ray: the cluster at {address} refused the connection ({reason(error)}); use the "
                "same version of Ray and, if it has them, the same RAY_AUTH_MODE and token."
            )
        raise DynascopeError(text) from None
    try:
        yield ray, False
    finally:
        with contextlib.suppress(Exception):  # the cluster may be gone
            ray.shutdown()


def import_ray(address: str) -> Any:
    """Ray, set up to be quiet; one sentence where it is not installed."""
    if "ray" not in sys.modules:
        # Else Ray would write a token into the home folder, which later clusters would then demand.
        alone = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
        for name, value in (_SETTINGS | (alone if address == "local" else _ELSEWHERE)).items():
            os.environ.setdefault(name, value)
    with needing("ray", "sweep", "ray"):
        import ray
    return ray


def _find(ray: Any, address: str) -> None:
    """Notice quickly that there is nothing: Ray itself would try for minutes, and talk."""
    try:
        where = _cluster_at_hand(ray) if address == "auto" else address
        if where is not None:
            knock(where)
    except REFUSALS as error:
        raise DynascopeError(
            f"ray: expected a cluster at {address}, but found none ({reason(error)}); start "
            "one with `ray start --head`, or use --ray local, which needs none."
        ) from None


def _cluster_at_hand(ray: Any) -> str | None:
    """Where `auto` leads; None if this Ray does not say.

    The one place that looks into Ray: its public functions tell an address only once they are
    connected, which takes minutes where a cluster has died and left its address behind.
    """
    services = getattr(getattr(ray, "_private", None), "services", None)
    find = getattr(services, "canonicalize_bootstrap_address_or_die", None)
    return None if find is None else str(find("auto"))


def head_of(ray: Any) -> str | None:
    """The address of the cluster's head, if it can be reached from here."""
    address: str = ray.get_runtime_context().gcs_address
    try:
        knock(address)
    except REFUSALS:  # connected through a proxy: ray://
        return None
    return address


def knock(address: str) -> None:
    """Raises one of `REFUSALS` if nobody answers there."""
    place = urlsplit(address if "://" in address else f"//{address}")
    if place.hostname is None or place.port is None:
        raise ValueError("an address is HOST:PORT")
    socket.create_connection((place.hostname, place.port), _KNOCK).close()


@contextlib.contextmanager
def _signals_kept() -> Iterator[None]:
    """Ray's own handler of SIGTERM would end the process in the middle of what it is doing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def reason(error: BaseException) -> str:
    """An error in a few words: Ray's own fill a screen."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
    return text.rstrip(".:")[:160]
