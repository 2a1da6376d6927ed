"""A wrong store URL is a problem before the first request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

GOOD = [
    "memory://",
    "redis://10.0.0.5:6379/0",
    "rediss://token-service:p%40ss@redis.example:6380/0?ssl_ca_certs=/etc/redis/ca.pem",
    "unix:///run/redis/redis.sock?db=1",
    "unix://user:secret@/run/redis/redis.sock",
    "redis+sentinel://10.0.0.5:26379,10.0.0.6/mymaster",
    "rediss+sentinel://:secret@[::1]:26379/mymaster/2?sentinel_password=other&ssl_check_hostname=no",
    "redis+cluster://10.0.0.5,10.0.0.6:6379",
]
BAD = {
    "http://10.0.0.5": "a store URL that begins with",
    "redis:10.0.0.5": "a store URL that begins with",
    "redis://10.0.0.5:port": "ports are numbers",
    "redis+cluster://10.0.0.5:6379,10.0.0.6:99999": "ports are numbers up to 65535",
    "redis://10.0.0.5:6379 ": "without white space",
    "redis+sentinel://10.0.0.5:6379, 10.0.0.6:6379/mymaster": "without white space",
    "redis+sentinel://10.0.0.5:6379,,10.0.0.6:6379/mymaster": "before and after each comma",
    "redis+cluster://10.0.0.5,": "before and after each comma",
    "redis+cluster://10.0.0.5/0": "nothing after the hosts of a Cluster",
    "redis://:se/cret@10.0.0.5": "are percent-encoded",
    "redis://:12/34@10.0.0.5": "are percent-encoded",
    "redis://:12#34@10.0.0.5": "are percent-encoded",
    "redis+cluster://:12/34@10.0.0.5": "are percent-encoded",
    "redis+sentinel://10.0.0.5:26379": "the master's name",
    "redis://10.0.0.5?ssl_ca_certs=/ca.pem": "no other options in this store URL than db",
    "redis://10.0.0.5,10.0.0.6": "one host",
    "unix:///10.0.0.5?db=one": "the number of a database",
    "unix://10.0.0.5/redis.sock": "a path with a / before it",
    "redis+sentinel://10.0.0.5/mymaster/one": "the number of a database",
    "rediss://10.0.0.5?ssl_cert_reqs=no": "one of required, optional, none",
    "rediss://10.0.0.5?ssl_keyfile=/key.pem": "ssl_certfile beside ssl_keyfile",
    "redis://10.0.0.5?db=1&db=2": "each option of this store URL once",
    "redis+cluster://10.0.0.5?db=1": "no other options in this store URL than none",
    "memory://?size=5": "no other options",
}


@pytest.mark.parametrize("url", GOOD)
def test_every_kind_may_be_named(read: Callable[..., Any], url: str) -> None:
    key = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"
    read_url = read(f"store: {{url: '{url}'}}\nsigning: {{encryption_key: {key}}}").store.url
    assert read_url == url


@pytest.mark.parametrize(("url", "expected"), BAD.items(), ids=list(BAD))
def test_what_is_wrong_is_said_without_the_url(
    problems: Callable[..., Any], url: str, expected: Any
) -> None:
    found = problems(f"store: {{url: '{url}'}}")["store.url"]
    assert expected in found.message
    assert "10.0.0.5" not in found.message
    assert "34" not in found.message


@pytest.mark.parametrize("prefix", ["ts[prod]", "ts*", "a b", "{ts}", "a?", "é", ""])
def test_a_prefix_that_is_a_pattern_to_redis_is_refused(
    problems: Callable[..., Any], prefix: str
) -> None:
    found = problems(f"store: {{key_prefix: '{prefix}'}}")["store.key_prefix"]
    assert "letters, digits and . _ : -" in found.message


def test_a_prefix_has_letters_digits_and_four_signs(read: Callable[..., Any]) -> None:
    assert read("store: {key_prefix: 'Ts-1._:a'}").store.key_prefix == "Ts-1._:a"


def test_password_key_takes_precedence(problems: Callable[..., Any]) -> None:
    for url, wrong in (("redis://name@h", False), ("redis://:secret@h", True)):
        found = problems(f"store: {{url: '{url}', password: 'p@ss/w%rd'}}")
        assert ("store.password" in found) is wrong


def test_a_password_in_it_is_not_shown(read: Callable[..., Any]) -> None:
    key = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"
    text = f"store: {{url: 'redis://:hidden@h'}}\nsigning: {{encryption_key: {key}}}"
    assert "hidden" not in repr(read(text).store)
