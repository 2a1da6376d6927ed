"""Every token, code and answer that callers got in a run, for promises.py to judge."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from time import monotonic

from tests.chaos.answers import Answer, Kind

NEVER = math.inf
CODE, DEVICE_CODE, AUTH_REQ_ID = "code", "device code", "auth_req_id"
REFRESH_TOKEN = "refresh token"


@dataclass(eq=False)
class Life:
    """The time for which something is good, as far as its owner can know; two moments, because an answer may be lost."""

    may_have_ended: float = NEVER
    """When the first request began that may have ended it."""
    ended: float = NEVER
    """When the first answer came after which it has to be over."""

    def may_end(self, at: float) -> None:
        """From then on nobody knows."""
        self.may_have_ended = min(self.may_have_ended, at)

    def end(self, at: float) -> None:
        """From then on it is over."""
        self.may_end(at)
        self.ended = min(self.ended, at)


@dataclass(frozen=True)
class Question:
    """An answer of introspection about a token, with its time."""

    began: float
    ended: float
    active: bool


@dataclass(eq=False)
class Token:
    """An acknowledged access or refresh token."""

    value: str
    grant: Life
    acknowledged: float
    asker: str
    """Who introspects it: an API resource, or its own client."""
    waited: bool = False
    """Whether it came for a code or a refresh token, with an answer that waits for the store's replicas where that is
    configured."""
    own: Life = field(default_factory=Life)
    questions: list[Question] = field(default_factory=list)

    @property
    def good_until(self) -> float:
        """Until then it has to be active."""
        return min(self.own.may_have_ended, self.grant.may_have_ended)

    @property
    def over_from(self) -> float:
        """From then on it must not be."""
        return min(self.own.ended, self.grant.ended)

    def asked(self, answer: Answer) -> None:
        """Note what introspection said, if it said anything."""
        if answer.good:
            active = bool(answer.content["active"])
            self.questions.append(Question(answer.began, answer.ended, active))

    def checked(self, answer: Answer) -> None:
        """Note whether a request with it may pass, which it may as long as the token is active."""
        if answer.good or answer.kind is Kind.REFUSED:
            self.questions.append(Question(answer.began, answer.ended, answer.good))


@dataclass
class Attempt:
    """One presentation of a code or refresh token; until there is an answer, anything may have come of it."""

    began: float
    ended: float = NEVER
    kind: Kind | None = None
    successor: str | None = None
    """The refresh token that it was answered with."""


@dataclass(eq=False)
class OneTime:
    """A code or refresh token: what is to be used once, and every attempt to."""

    kind: str
    value: str
    client: str
    grant: Life
    acknowledged: float
    lenient: bool = False
    """Whether it may be repeated, and gives the same successor (`refresh_token_reuse_interval`)."""
    attempts: list[Attempt] = field(default_factory=list)

    @property
    def successes(self) -> list[Attempt]:
        """The attempts that were answered with tokens."""
        return [each for each in self.attempts if each.kind is Kind.GOOD]

    def present(self) -> Attempt:
        """Begin an attempt; a second one ends the grant where the first was successful."""
        attempt = Attempt(monotonic())
        if self.attempts and not self.lenient:
            self.grant.may_end(attempt.began)
        self.attempts.append(attempt)
        return attempt

    def answered(self, attempt: Attempt, answer: Answer) -> None:
        """Note the answer; a success and a refusal together say that the grant is over."""
        attempt.kind, attempt.ended = answer.kind, answer.ended
        attempt.successor = answer.content.get("refresh_token") if answer.good else None
        refused = [each for each in self.attempts if each.kind is Kind.REFUSED]
        if refused and self.successes and not self.lenient:
            self.grant.end(answer.ended)


@dataclass
class Signed:
    """A JWT of that key came in the answer to a request that began then."""

    kid: str
    began: float


@dataclass
class Look:
    """An answer of a replica's readiness probe, and of its JWKS."""

    replica: str
    began: float
    ended: float
    reasons: tuple[str, ...] | None
    """Those against its readiness; None where it did not answer."""
    kids: frozenset[str] = frozenset()
    """The keys that it published."""
    registry: str | None = None
    """The generation of its registry."""
    degraded: tuple[str, ...] = ()
    """What it said to be wrong although it is ready."""


@dataclass(frozen=True)
class Heard:
    """An event that has come to the webhook."""

    request_id: str
    subject: str


@dataclass
class Ledger:
    """Everything of one run."""

    answers: list[Answer] = field(default_factory=list)
    tokens: list[Token] = field(default_factory=list)
    codes: list[OneTime] = field(default_factory=list)
    refresh_tokens: dict[str, OneTime] = field(default_factory=dict)
    signed: list[Signed] = field(default_factory=list)
    looks: list[Look] = field(default_factory=list)
    heard: list[Heard] = field(default_factory=list)

    @property
    def granted(self) -> dict[str, Answer]:
        """The granted authorization requests, by the names of the requests."""
        return {
            each.request_id: each
            for each in self.answers
            if each.request_id is not None and each.good and "code" in each.content
        }

    def unheard(self) -> set[str]:
        """The granted requests of which the webhook has not heard."""
        return self.granted.keys() - {each.request_id for each in self.heard}
