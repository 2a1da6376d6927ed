"""The promises of tests/chaos: each can be broken, and a run in which nothing is wrong keeps them all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.chaos.answers import Answer, Kind, read
from tests.chaos.fault import Fault
from tests.chaos.ledger import (
    CODE,
    REFRESH_TOKEN,
    Attempt,
    Heard,
    Ledger,
    Life,
    Look,
    OneTime,
    Question,
    Signed,
    Token,
)
from tests.chaos.promises import breaches, forgotten

AWAY = {"honest": frozenset({Kind.UNAVAILABLE}), "began": 10.0, "mended": 14.0}
"""A fault from 10 to 14, in which the service may be unavailable."""
READY = Look("r1", 20, 20, (), frozenset({"key-1"}))


def broken(ledger: Ledger, **fault: object) -> list[str]:
    """The names of the promises that were not kept."""
    return [breach.promise for breach in breaches(ledger, Fault(**fault))]  # type: ignore[arg-type]


def one_time(kind: str = CODE, *attempts: Attempt, lenient: bool = False) -> OneTime:
    return OneTime(kind, "secret", "web", Life(), 1, lenient, list(attempts))


def success(at: float, successor: str = "rt_next") -> Attempt:
    return Attempt(at, at + 0.1, Kind.GOOD, successor)


def refusal(at: float) -> Attempt:
    return Attempt(at, at + 0.1, Kind.REFUSED)


def answer(kind: Kind, at: float = 11, work: str = "introspect") -> Answer:
    return Answer(work=work, kind=kind, began=at, ended=at + 0.1)


def token(*questions: Question, waited: bool = False) -> Token:
    return Token("secret", Life(), 1, "api1", waited, Life(), list(questions))


def inactive(at: float) -> Question:
    return Question(at, at + 0.1, active=False)


def active(at: float) -> Question:
    return Question(at, at + 0.1, active=True)


def test_a_run_without_a_fault_keeps_every_promise() -> None:
    ledger = Ledger(
        answers=[answer(Kind.GOOD)],
        tokens=[token(active(2))],
        codes=[one_time(CODE, success(2), refusal(2))],
        refresh_tokens={"rt": one_time(REFRESH_TOKEN, success(3), success(4), lenient=True)},
        signed=[Signed("key-1", 21)],
        looks=[READY],
    )
    assert broken(ledger) == []


def test_a_code_that_is_redeemed_twice_is_found() -> None:
    ledger = Ledger(codes=[one_time(CODE, success(2), success(3))])
    assert broken(ledger) == ["codes are spent once"]


def test_a_refresh_token_that_is_spent_twice_is_found() -> None:
    ledger = Ledger(refresh_tokens={"rt": one_time(REFRESH_TOKEN, success(2), success(3))})
    assert broken(ledger) == ["refresh tokens have one successor"]


def test_two_successors_within_the_reuse_interval_are_found() -> None:
    attempts = success(2, "rt_a"), success(3, "rt_b")
    ledger = Ledger(refresh_tokens={"rt": one_time(REFRESH_TOKEN, *attempts, lenient=True)})
    assert broken(ledger) == ["refresh tokens have one successor"]


def test_an_acknowledged_token_that_is_inactive_is_found() -> None:
    assert broken(Ledger(tokens=[token(inactive(2))])) == ["nothing acknowledged is lost"]


def test_a_token_that_may_have_been_revoked_is_not_missed() -> None:
    revoked = token(inactive(5))
    revoked.own.may_end(4)
    assert broken(Ledger(tokens=[revoked])) == []


def test_a_revoked_token_that_is_active_is_found() -> None:
    revoked = token(active(5))
    revoked.own.end(4)
    assert broken(Ledger(tokens=[revoked])) == ["what has ended stays ended"]


def test_a_gateway_is_asked_as_introspection_is() -> None:
    revoked, good = token(), token()
    revoked.own.end(4)
    revoked.checked(answer(Kind.GOOD, work="check"))
    assert broken(Ledger(tokens=[revoked])) == ["what has ended stays ended"]
    good.checked(answer(Kind.UNAVAILABLE, work="check"))
    assert good.questions == []
    good.checked(answer(Kind.REFUSED, work="check"))
    assert broken(Ledger(tokens=[good])) == ["nothing acknowledged is lost"]


def test_a_grant_ends_with_the_refusal_of_what_comes_twice() -> None:
    code = one_time()
    for kind in (Kind.GOOD, Kind.REFUSED):
        code.answered(code.present(), answer(kind, work="redeem"))
    survivor = Token("secret", code.grant, 1, "api1", questions=[active(12)])
    assert broken(Ledger(tokens=[survivor])) == ["what has ended stays ended"]


def test_the_refusal_of_a_good_code_is_found() -> None:
    assert broken(Ledger(codes=[one_time(CODE, refusal(2))])) == ["refusals are true"]


def test_a_code_whose_first_answer_was_lost_may_be_refused() -> None:
    lost = Attempt(2, 2.5, Kind.UNAVAILABLE)
    assert broken(Ledger(codes=[one_time(CODE, lost, refusal(3))])) == []


def test_a_refresh_token_that_may_be_repeated_is_never_refused() -> None:
    attempts = Attempt(2, 2.5, Kind.UNAVAILABLE), refusal(3)
    ledger = Ledger(refresh_tokens={"rt": one_time(REFRESH_TOKEN, *attempts, lenient=True)})
    assert broken(ledger) == ["refusals are true"]


@pytest.mark.parametrize(
    ("kind", "at"),
    [(Kind.UNAVAILABLE, 9), (Kind.UNAVAILABLE, 30), (Kind.WRONG, 11), (Kind.SILENCE, 11)],
    ids=["before the fault", "long after it", "a fault of the service", "no answer"],
)
def test_a_failure_without_a_reason_is_found(kind: Kind, at: float) -> None:
    assert broken(Ledger(answers=[answer(kind, at)]), **AWAY) == ["errors are honest"]


def test_a_failure_with_a_reason_is_none() -> None:
    assert broken(Ledger(answers=[answer(Kind.UNAVAILABLE)]), **AWAY) == []


def test_discovery_is_never_unavailable() -> None:
    ledger = Ledger(answers=[answer(Kind.UNAVAILABLE, work="discovery")])
    assert broken(ledger, **AWAY) == ["errors are honest"]


def test_a_signature_by_a_key_that_was_not_published_is_found() -> None:
    ledger = Ledger(signed=[Signed("key-2", 21)], looks=[READY])
    assert broken(ledger) == ["keys are published before they sign"]


def test_a_replica_that_shows_no_keys_is_found() -> None:
    assert broken(Ledger(looks=[Look("r1", 2, 2, ())])) == ["keys are always published"]


READINESS: dict[str, Callable[[], list[Look]]] = {
    "not ready": lambda: [red(12, "store: has not answered"), degraded(13), READY],
    "silent": lambda: [READY],
    "not ready in the end": lambda: [degraded(12), red(20, "keys: none")],
    "degraded in the end": lambda: [degraded(12), degraded(20)],
}


def red(at: float, reason: str) -> Look:
    return Look("r1", at, at, (reason,), frozenset({"key-1"}))


def degraded(at: float) -> Look:
    return replace(READY, began=at, ended=at, degraded=("store: has not answered for 2 s",))


@pytest.mark.parametrize("looks", READINESS.values(), ids=READINESS.keys())
def test_a_readiness_that_misleads_is_found(looks: Callable[[], list[Look]]) -> None:
    assert broken(Ledger(looks=looks()), **AWAY, store_is_away=True) == ["readiness tells"]


def test_replica_that_is_degraded_while_the_store_is_unavailable_is_right() -> None:
    assert broken(Ledger(looks=[degraded(12), READY]), **AWAY, store_is_away=True) == []


def test_what_a_scenario_misses_is_told() -> None:
    assert broken(Ledger(), broken=["it was never full"]) == ["the scenario saw what it expects"]


def test_a_failover_may_forget_what_came_just_before_and_nothing_else() -> None:
    ledger = Ledger(tokens=[token(inactive(12)), token(inactive(12))])
    ledger.tokens[0].acknowledged = 9.5
    fault = Fault(loses=True, began=10, mended=10)
    assert forgotten(ledger, fault) == 1
    assert [each.times for each in breaches(ledger, fault)] == [1]


def test_a_failover_forgets_no_single_use_that_waited_for_replicas() -> None:
    code = one_time(CODE, success(9.5), success(12))
    ledger = Ledger(codes=[code])
    assert broken(ledger, loses=True, began=10, mended=10) == []
    assert broken(ledger, loses=True, waits=True, began=10, mended=10) == ["codes are spent once"]


def test_a_failover_forgets_no_revocation_that_waited_for_replicas() -> None:
    revoked = token(active(12))
    revoked.own.end(9.8)
    ledger = Ledger(tokens=[revoked])
    assert broken(ledger, loses=True, began=10, mended=10) == []
    assert broken(ledger, loses=True, waits=True, began=10, mended=10) == [
        "what has ended stays ended"
    ]


OURS = {"X-Request-ID": "1"}
AWAY_BODY = b'{"error": "temporarily_unavailable"}'


@pytest.mark.parametrize(
    ("status", "headers", "body", "kind"),
    [
        (200, OURS, b"{}", Kind.GOOD),
        (503, OURS | {"Retry-After": "5"}, AWAY_BODY, Kind.UNAVAILABLE),
        (503, OURS, AWAY_BODY, Kind.WRONG),
        (500, OURS, b'{"error": "server_error"}', Kind.WRONG),
        (400, OURS, b'{"error": "invalid_grant"}', Kind.REFUSED),
        (503, {}, b"<html>", Kind.BALANCER),
        (303, OURS | {"Location": "https://web.example/callback?code=1"}, b"", Kind.GOOD),
        (303, OURS | {"Location": "http://localhost/account/login?request=1"}, b"", Kind.REFUSED),
    ],
    ids=["good", "away", "no Retry-After", "500", "refused", "balancer", "code", "session lost"],
)
def test_an_answer_is_what_it_says(
    status: int, headers: dict[str, str], body: bytes, kind: Kind
) -> None:
    assert read(status, headers, body)["kind"] is kind


def granted(name: str, at: float) -> Answer:
    """An authorization request that was granted within a tenth of a second."""
    return Answer(
        work="authorize",
        kind=Kind.GOOD,
        began=at,
        ended=at + 0.1,
        request_id=name,
        content={"code": "secret"},
    )


def test_events_that_arrive_twice_and_in_order_keep_the_promise() -> None:
    answers = [granted("a", 1), granted("b", 2), granted("c", 2.05)]
    heard = [Heard(name, "alice") for name in "acbab"]
    assert broken(Ledger(answers=answers, heard=heard, looks=[READY])) == []


def test_an_event_that_never_arrives_is_found() -> None:
    ledger = Ledger(answers=[granted("a", 1)], looks=[READY])
    assert broken(ledger) == ["events arrive"]
    assert broken(ledger, loses=True, began=0.9, mended=2) == []
    assert broken(ledger, loses=True, waits=True, began=0.9, mended=2) == ["events arrive"]


def test_an_event_before_its_predecessor_is_found() -> None:
    answers = [granted("a", 1), granted("b", 2)]
    ledger = Ledger(answers=answers, heard=[Heard("b", "alice"), Heard("a", "alice")])
    assert broken(ledger) == ["events arrive in order"]
    assert broken(ledger, **AWAY | {"began": 0.9}) == []
    ledger.heard = [Heard("b", "bob"), Heard("a", "alice")]
    assert broken(ledger) == []
