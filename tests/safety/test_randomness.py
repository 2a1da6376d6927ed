"""No two tokens share their randomness, whatever thread or process draws it (RFC 6749 §10.10)."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from service.protocol.randomness import BLOCK, random_bytes, random_text

pytestmark = pytest.mark.rfc("6749#10.10")

MANY = 5_000


@pytest.mark.parametrize("length", [1, 12, BLOCK])
def test_as_many_bytes_come_as_were_asked_for(length: int) -> None:
    assert len(random_bytes(length)) == length
    assert len(random_text(length)) == (length * 4 + 2) // 3


def test_no_block_is_given_out_twice() -> None:
    with ThreadPoolExecutor(8) as threads:
        drawn = list(threads.map(lambda _: random_bytes(BLOCK), range(MANY)))
    assert len(set(drawn)) == MANY


def test_a_forked_worker_draws_anew() -> None:
    random_bytes(BLOCK)  # so that others wait to be given out
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, random_bytes(BLOCK))
        os._exit(0)
    os.close(writing)
    in_child = os.read(reading, BLOCK)
    os.close(reading)
    os.waitpid(child, 0)
    assert len(in_child) == BLOCK
    assert in_child not in {random_bytes(BLOCK) for _ in range(1000)}
