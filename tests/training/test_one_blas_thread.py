"""Linear algebra of crews on one thread: the same digits on any number of cores."""

import json
import os
import subprocess
import sys
import threading

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import dynascope as ds
from dynascope.one_blas_thread import one_blas_thread
from dynascope.progress import Status


def blas_threads() -> set[int]:
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


def test_the_limit_is_set_and_lifted_once() -> None:
    with threadpool_limits(2, user_api="blas"):  # as if there were two cores
        with one_blas_thread():
            assert blas_threads() == {1}
            with one_blas_thread():
                assert blas_threads() == {1}
            assert blas_threads() == {1}
        assert blas_threads() == {2}
        with pytest.raises(KeyError), one_blas_thread():
            raise KeyError
        assert blas_threads() == {2}


def test_another_thread_that_leaves_later_lifts_nothing() -> None:
    first_left, second_in = threading.Event(), threading.Event()

    def second() -> None:
        with one_blas_thread():
            second_in.set()
            first_left.wait()

    with threadpool_limits(2, user_api="blas"):
        other = threading.Thread(target=second)
        with one_blas_thread():
            other.start()
            second_in.wait()
        first_left.set()
        other.join()
        assert blas_threads() == {2}


def test_crews_work_within_it() -> None:
    seen = []

    def look(status: Status) -> None:
        seen.append(blas_threads())

    with threadpool_limits(2, user_api="blas"):
        ds.train(ds.Config().replace({"training.epochs": 300}), 4, threads=1, progress=look)
        assert blas_threads() == {2}
    assert seen
    assert all(each == {1} for each in seen)


ROWS = """
import json, dynascope as ds
config = ds.Config().replace({"training.epochs": 60, "task.train_size": 128, "training.lr": 0.02})
runs = ds.train(config, [2], progress=False)
print(json.dumps(runs.analyse("all", progress=False).to_pylist()))
"""


@pytest.mark.slow
def test_digits_do_not_depend_on_the_number_of_cores() -> None:
    found = []
    for threads in ("1", "2", "3"):
        limits = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), threads)
        done = subprocess.run(
            [sys.executable, "-c", ROWS],
            env={**os.environ, **limits},
            capture_output=True,
            text=True,
            check=True,
        )
        found.append(json.loads(done.stdout))
    assert found[0] == found[1] == found[2]
