"""The promises of the service, and their judgement by the ledger of a run: one function for each promise.

To add one: a function that yields every breach, and a line in PROMISES.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from tests.chaos.answers import Answer, Kind
from tests.chaos.fault import Fault
from tests.chaos.ledger import CODE, NEVER, Attempt, Ledger, Look, OneTime

DOCUMENTS = frozenset({"discovery"})
"""Works that need no store."""
SPENDING = frozenset({"check", "poll", "redeem", "refresh", "replay"})
"""Works that may be refused for a reason that the ledger knows."""
EXCHANGE = "exchange"
"""The work that is refused only where its source may have been lost."""
NO_ANSWER = "store: has not answered"
"""What readiness says of a store that is unavailable."""
EXAMPLES = 5
"""How many breaches of one kind are told."""


def codes_are_spent_once(ledger: Ledger, fault: Fault) -> Iterator[str]:
    """No code is redeemed twice (RFC 6749 §4.1.2)."""
    for code in ledger.codes:
        if _spent_twice(code, fault):
            yield f"a code was redeemed {len(code.successes)} times"


def refresh_tokens_have_one_successor(ledger: Ledger, fault: Fault) -> Iterator[str]:
    """No refresh token begins two families, repeated within its interval or not (RFC 9700 §4.14.2)."""
    for token in ledger.refresh_tokens.values():
        if len({each.successor for each in token.successes}) > 1:
            yield "a refresh token was answered with two different ones"
        if not token.lenient and _spent_twice(token, fault):
            yield f"a refresh token was spent {len(token.successes)} times"


def nothing_acknowledged_is_lost(ledger: Ledger, fault: Fault) -> Iterator[str]:
    """Everything handed out is good until somebody may have ended it."""
    for token in ledger.tokens:
        for asked in token.questions:
            if not asked.active and asked.ended < token.good_until:
                if not fault.forgives(token.acknowledged, waited=token.waited):
                    issued, said = token.acknowledged - fault.began, asked.ended - fault.began
                    waited = " and waited for" if token.waited else ""
                    yield f"a token issued{waited} {issued:+.2f} s from the fault was inactive at {said:+.2f} s"
                break


def what_has_ended_stays_ended(ledger: Ledger, fault: Fault) -> Iterator[str]:
    """A token that was revoked, or belongs to a replayed code or refresh token, is inactive from the answer on, or soon after where reads are tracked."""
    for token in ledger.tokens:
        for asked in token.questions:
            if asked.active and asked.began > token.over_from + fault.seen_within:
                if not fault.forgives(token.over_from, waited=True):
                    yield f"a token was active {asked.began - token.over_from:.2f} s after its end was acknowledged"
                break


def refusals_are_true(ledger: Ledger, fault: Fault) -> Iterator[str]:
    """A code or refresh token is refused only where it may have been spent, or its grant have ended."""
    for one in (*ledger.codes, *ledger.refresh_tokens.values()):
        for attempt in one.attempts:
            if attempt.kind is Kind.REFUSED and not _explained(one, attempt, fault):
                yield f"a good {one.kind} of {one.client} was refused"


def errors_are_honest(ledger: Ledger, fault: Fault) -> Iterator[str]:
    """Every failure says what is true, and comes only while there is a reason for it."""
    for answer in ledger.answers:
        if not answer.good and not _honest(answer, fault):
            yield f"{answer.work}: {answer.label}, {answer.ended - fault.began:+.2f} s from the fault"


def keys_are_published_before_they_sign(ledger: Ledger, _: Fault) -> Iterator[str]:
    """A token can be verified with the JWKS that any replica served before it was issued."""
    for replica, looks in _by_replica(ledger.looks).items():
        shown = [look for look in looks if look.reasons is not None]
        for signed in ledger.signed:
            before = [look.kids for look in shown if look.ended < signed.began]
            if before and signed.kid not in before[-1]:
                yield f"a token was signed by a key that {replica} had not published"


def keys_are_always_published(ledger: Ledger, _: Fault) -> Iterator[str]:
    """A replica that answers at all shows its JWKS, whatever has become of the store."""
    for look in ledger.looks:
        if look.reasons is not None and not look.kids:
            yield f"{look.replica} answered, but not with its keys"


def readiness_tells(ledger: Ledger, fault: Fault) -> Iterator[str]:
    """A replica stays ready while the store is unavailable, says so, and is ready in the end."""
    for replica, looks in _by_replica(ledger.looks).items():
        if any(reason.startswith("store") for look in looks for reason in look.reasons or ()):
            yield f"{replica} was unready because the store was away"
        if fault.is_noticed and not any(map(_tells_of_the_store, looks)):
            yield f"{replica} did not tell that the store was away"
        if looks[-1].reasons != () or _tells_of_the_store(looks[-1]):
            yield f"{replica} was not well in the end: {looks[-1].reasons or looks[-1].degraded}"


def events_arrive(ledger: Ledger, fault: Fault) -> Iterator[str]:
    """The webhook hears of everything that was acknowledged."""
    granted = ledger.granted
    for request_id in ledger.unheard():
        at = granted[request_id].ended
        if not fault.forgives(at, waited=True):
            yield f"an event was lost, acknowledged {at - fault.began:+.2f} s from the fault"


def events_arrive_in_order(ledger: Ledger, fault: Fault) -> Iterator[str]:
    """Of two requests of a user, one after the answer to the other, the webhook hears in that order, unless Redis was away."""
    granted = ledger.granted
    for subject in {each.subject for each in ledger.heard}:
        names = dict.fromkeys(each.request_id for each in ledger.heard if each.subject == subject)
        first_end = NEVER
        for name in reversed([name for name in names if name in granted]):
            one = granted[name]
            if first_end < one.began:
                yield f"an event came {one.began - first_end:.2f} s before its predecessor"
            if not fault.is_trouble_of_the_store(one.ended):
                first_end = min(first_end, one.ended)


def the_scenario_saw_what_it_expects(_: Ledger, fault: Fault) -> Iterator[str]:
    """The promises of one scenario alone."""
    yield from fault.broken


PROMISES: Sequence[Callable[[Ledger, Fault], Iterator[str]]] = (
    codes_are_spent_once,
    refresh_tokens_have_one_successor,
    nothing_acknowledged_is_lost,
    what_has_ended_stays_ended,
    refusals_are_true,
    errors_are_honest,
    keys_are_published_before_they_sign,
    keys_are_always_published,
    readiness_tells,
    events_arrive,
    events_arrive_in_order,
    the_scenario_saw_what_it_expects,
)


@dataclass(frozen=True)
class Breach:
    """A promise that was not kept."""

    promise: str
    times: int
    examples: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.promise}: {self.times} times, such as: {'; '.join(self.examples)}"


def breaches(ledger: Ledger, fault: Fault) -> list[Breach]:
    """Every promise that was broken."""
    found = []
    for promise in PROMISES:
        if told := list(promise(ledger, fault)):
            name = promise.__name__.replace("_", " ")
            found.append(Breach(name, len(told), tuple(dict.fromkeys(told))[:EXAMPLES]))
    return found


def forgotten(ledger: Ledger, fault: Fault) -> int:
    """The number of acknowledged tokens that the store lost, and may lose."""
    return sum(
        any(not asked.active and asked.ended < token.good_until for asked in token.questions)
        and fault.forgives(token.acknowledged, waited=token.waited)
        for token in ledger.tokens
    )


def failures(ledger: Ledger) -> list[Answer]:
    """Whatever a caller would complain about."""
    return [each for each in ledger.answers if is_failure(each)]


def is_failure(answer: Answer) -> bool:
    """A complaint of a caller; the second of two that used the same code has no reason for one."""
    explained = answer.kind is Kind.REFUSED and answer.work in SPENDING
    return not answer.good and not explained


def _tells_of_the_store(look: Look) -> bool:
    return any(each.startswith(NO_ANSWER) for each in look.degraded)


def _spent_twice(one: OneTime, fault: Fault) -> bool:
    successes = sorted(each.ended for each in one.successes)
    return len(successes) > 1 and not fault.forgives(successes[0], waited=True)


def _explained(one: OneTime, attempt: Attempt, fault: Fault) -> bool:
    """Whether another attempt or the grant's end is a reason, or the store lost it by its nature."""
    if one.grant.may_have_ended < attempt.ended:
        return True
    others = [each for each in one.attempts if each is not attempt and each.began < attempt.ended]
    if others and not one.lenient:
        return True
    return fault.forgives(one.acknowledged, waited=one.kind != CODE)


def _honest(answer: Answer, fault: Fault) -> bool:
    if answer.kind is Kind.REFUSED and answer.work in SPENDING:
        return True  # refusals_are_true judges it
    if answer.kind is Kind.REFUSED and answer.work == EXCHANGE:
        return fault.forgives(answer.began, waited=False)  # the source was issued just before
    if answer.kind is Kind.UNAVAILABLE and answer.work in DOCUMENTS | fault.spared:
        return False
    return fault.excuses(answer.kind, began=answer.began, ended=answer.ended)


def _by_replica(looks: list[Look]) -> dict[str, list[Look]]:
    ordered = sorted(looks, key=lambda look: (look.replica, look.ended))
    return {name: list(its) for name, its in groupby(ordered, key=lambda look: look.replica)}
