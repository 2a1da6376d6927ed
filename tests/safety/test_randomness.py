"""No two tokens share their randomness, whatever thread or process draws it (RFC 6749 §10.10)."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from service.protocol.octets import ALPHABET, BLOCK, random_bytes, random_text

pytestmark = pytest.mark.rfc("6749#10.10")

MANY = 5_000


@pytest.mark.parametrize("length", [1, 12, BLOCK])
def test_as_many_bytes_come_as_were_asked_for(length: int) -> None:
    assert len(random_bytes(length)) == length
    assert len(random_text(length)) == (length * 4 + 2) // 3


def test_texts_consist_of_all_characters_of_base64url() -> None:
    assert set("".join(random_text(BLOCK) for _ in range(1000))) == set(ALPHABET)


@pytest.mark.parametrize("draw", [random_bytes, random_text])
def test_no_block_is_given_out_twice(draw: Callable[[int], bytes | str]) -> None:
    with ThreadPoolExecutor(8) as threads:
        drawn = list(threads.map(lambda _: draw(BLOCK), range(MANY)))
    assert len(set(drawn)) == MANY
    assert len({len(each) for each in drawn}) == 1


@pytest.mark.parametrize("draw", [random_bytes, lambda length: random_text(length).encode()])
def test_a_forked_worker_draws_anew(draw: Callable[[int], bytes]) -> None:
    length = len(draw(BLOCK))  # and others wait to be given out
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, draw(BLOCK))
        os._exit(0)
    os.close(writing)
    in_child = os.read(reading, length)
    os.close(reading)
    os.waitpid(child, 0)
    assert len(in_child) == length
    assert in_child not in {draw(BLOCK) for _ in range(1000)}
