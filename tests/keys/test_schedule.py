"""A signing key is announced, signs, is retired and is gone (RFC 7517 §5, RFC 7515 §4.1.4)."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from service.keys.schedule import (
    LATE_SIGNATURES,
    LEAD,
    Keys,
    RotationPolicy,
    SigningKey,
    find_signing_key,
    find_successor,
    keys_to_make,
    retire_keys,
)

seconds = st.integers(min_value=0, max_value=5000)
policies = st.builds(
    RotationPolicy,
    algorithms=st.sampled_from([("RS256",), ("RS256", "ES256")]),
    rotate_every=st.integers(min_value=1, max_value=5000),
    announce_before=seconds,
    retire_after=seconds,
    longest_token=seconds,
)
pauses = st.lists(st.integers(min_value=1, max_value=3000), min_size=1, max_size=30)


@dataclass
class History:
    """One store over time: what `rotation` does to it, without the store and the cryptography."""

    policy: RotationPolicy
    now: int = 1000
    keys: Keys = ()
    made: int = 0
    last_signed: dict[str, int] = field(default_factory=dict)

    def look(self) -> None:
        kept = retire_keys(self.keys, self.policy, self.now)
        wanted = keys_to_make(kept, self.policy, self.now)
        self.keys = (*kept, *[self.make(alg, sign_from) for alg, sign_from in wanted.items()])
        for alg in self.policy.algorithms:
            if key := find_signing_key(self.keys, alg, self.now):
                self.last_signed[key.kid] = self.now

    def make(self, alg: str, sign_from: int) -> SigningKey:
        self.made += 1
        return SigningKey(
            kid=str(self.made),
            alg=alg,
            announced_at=self.now,
            sign_from=sign_from,
            retired_at=None,
            sealed="",
        )

    def published(self) -> set[str]:
        return {key.kid for key in self.keys if not self.policy.is_gone(key, self.now)}


@given(policies, pauses)
def test_each_algorithm_always_has_a_key_that_signs(
    policy: RotationPolicy, pauses: list[int]
) -> None:
    history = History(policy)
    for pause in (0, *pauses):
        history.now += pause
        history.look()
        for alg in policy.algorithms:
            in_force = [
                k
                for k in history.keys
                if k.alg == alg and k.sign_from <= history.now and k.retired_at is None
            ]
            assert [find_signing_key(history.keys, alg, history.now)] in [[key] for key in in_force]


@given(policies, pauses)
def test_a_key_is_published_until_its_last_token_has_expired(
    policy: RotationPolicy, pauses: list[int]
) -> None:
    history = History(policy)
    for pause in pauses:
        history.look()
        history.now += pause
        history.keys = retire_keys(history.keys, policy, history.now)
        alive = {
            kid
            for kid, at in history.last_signed.items()
            if at + policy.longest_token > history.now
        }
        assert alive <= history.published()


@given(policies, pauses)
def test_only_the_first_key_signs_without_having_been_announced(
    policy: RotationPolicy, pauses: list[int]
) -> None:
    history = History(policy)
    history.look()
    first = {key.kid for key in history.keys}
    for pause in pauses:
        history.now += pause
        history.look()
        for key in history.keys:
            assert key.kid in first or key.sign_from - key.announced_at >= policy.announce_before


@given(policies, pauses)
def test_at_most_one_successor_waits(policy: RotationPolicy, pauses: list[int]) -> None:
    history = History(policy)
    for pause in pauses:
        history.look()
        for alg in policy.algorithms:
            assert sum(key.alg == alg and key.sign_from > history.now for key in history.keys) <= 1
        history.now += pause


POLICY = RotationPolicy(
    algorithms=("RS256",),
    rotate_every=900,
    announce_before=140,
    retire_after=200,
    longest_token=100,
)


def test_the_key_of_an_added_algorithm_is_published_before_it_signs() -> None:
    history = History(POLICY, now=0)
    history.look()
    history.policy = replace(POLICY, algorithms=("ES256", "RS256"))
    for history.now in range(LEAD):
        history.look()
        assert find_signing_key(history.keys, "ES256", history.now) is None
        assert history.published() == {"1", "2"}
    history.now = LEAD
    assert find_signing_key(history.keys, "ES256", history.now) == history.keys[1]


def test_a_first_key_signs_at_once_though_a_clock_is_behind() -> None:
    history = History(POLICY)
    history.look()
    assert find_signing_key(history.keys, "RS256", history.now - 5) == history.keys[0]


def test_a_key_goes_its_way_by_the_clock() -> None:
    history = History(POLICY, now=0)
    history.look()
    for now, signing, published in (
        (759, "1", {"1"}),
        (760, "1", {"1", "2"}),
        (899, "1", {"1", "2"}),
        (900, "2", {"1", "2"}),
        (1099, "2", {"1", "2"}),
        (1100, "2", {"2"}),
    ):
        history.now = now
        history.look()
        key = find_signing_key(history.keys, "RS256", now)
        assert (key and key.kid, history.published()) == (signing, published)


def test_a_long_lived_token_keeps_its_key() -> None:
    policy = RotationPolicy(
        algorithms=("RS256",),
        rotate_every=900,
        announce_before=140,
        retire_after=200,
        longest_token=5000,
    )
    assert policy.kept_after == 5000 + LATE_SIGNATURES


def test_an_algorithm_that_is_no_longer_configured_gets_no_successor() -> None:
    history = History(POLICY, now=0)
    history.keys = (history.make("ES256", 0),)
    history.now = 900
    history.look()
    assert find_signing_key(history.keys, "ES256", 900) is None
    assert find_successor(history.keys, "ES256", 900) is None
