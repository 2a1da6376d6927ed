"""An authorization request and its user: everything that decides which page comes next."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from service.authorize.request import AuthorizeRequest
from service.clock import clock
from service.identity.factors.stored import FactorQuestion
from service.identity.sign_in import SignIn
from service.model.factors import Factors
from service.model.registry import Registry
from service.model.session import Answers, Session
from service.protocol.errors import (
    LoginRequired,
    OAuthError,
    RefusedValue,
    UnmetAuthenticationRequirements,
)
from service.tokens.permitted import may_use


class Interaction(msgspec.Struct, frozen=True, kw_only=True):
    """The request, the session, and what the user has answered or allowed before."""

    request: AuthorizeRequest
    registry: Registry
    session: Session | None
    user_claims: Mapping[str, object]
    answers: Answers
    consented_scope: frozenset[str]
    """The consent that the user gave this client earlier, for good."""
    consented_claims: frozenset[str]
    """The names of the claims that went with it, by scope or one by one."""
    acr: str | None
    """The authentication context that the session meets, of those asked for."""
    register_link: str | None
    """The page at which accounts are created; None where nobody has said one."""
    factors: Factors
    """The second factors of the session's user; not read where they decide nothing."""
    asks_late: FactorQuestion | None = None
    """The question for them that goes with the answer to the client; until it is answered they count as none."""
    offered_factors: Mapping[str, frozenset[str]]
    """The methods among them that the user can use now, with the `amr` that each can add."""
    enrollable: Mapping[str, Sequence[frozenset[str]]]
    """The methods that anybody can enrol, with the sets of `amr` of which a new factor adds one."""
    acr_step: Step | None = None
    """The step that can meet an acr which the session does not meet."""

    def with_answers(self, answers: Answers) -> Interaction:
        """Return the same with what the session's user has answered by now."""
        return replace(self, answers=answers.of(self.session))

    @property
    def lacks_acr(self) -> bool:
        """Whether an authentication context is insisted on that the session does not meet."""
        session, asked = self.session, self.request.acr
        if not asked.is_insisted_on:
            return False
        return session is None or not asked.is_satisfied_by(
            session.methods, self.registry, acr=session.acr
        )

    def refuse_unmet_acr(self) -> UnmetAuthenticationRequirements:
        """Return the error of a session that does not meet what is insisted on; the log names the context."""
        session, unmet = self.session, None
        if session is not None:
            unmet = self.request.acr.find_unmet(session.methods, self.registry, acr=session.acr)
        refused = RefusedValue("acr", unmet)
        return UnmetAuthenticationRequirements(
            "the requested acr was not satisfied", refused=refused
        )

    @property
    def wishes_acr(self) -> bool:
        """Whether the client would like an authentication context that the session does not meet (RFC 9470 §4)."""
        session, asked = self.session, self.request.acr
        return session is not None and not asked.is_wish_met_by(
            session.methods, self.registry, acr=session.acr
        )

    def without_wish(self) -> Interaction:
        """Return the interaction of a request for no more than the acr that is insisted on."""
        return replace(self, request=replace(self.request, acr=self.request.acr.without_wish()))

    def is_acr_met_by(self, amr: tuple[str, ...], *, acr: str | None = None) -> bool:
        """Return whether these authentication methods meet the acr that is asked for and what is required."""
        return self.request.acr.is_met_by(amr, self.registry, acr=acr)

    @property
    def needs_login(self) -> bool:
        """Whether the user has to authenticate (again) (OIDC Core §3.1.2.3)."""
        session = self.session
        if session is None or not self._is_named(session) or not self._accepts_sign_in(session):
            return True
        if self.answers.authenticated:
            return False
        if self.lacks_acr and self.acr_step is None:
            return True
        return "login" in self.request.prompt or self._is_too_old(session)

    def refuse_another_user(self) -> None:
        """Raise LoginRequired if another user signed in than the client names (OIDC Core §3.1.2.2)."""
        session = self.session
        if self.answers.authenticated and session and not self._is_named(session):
            raise LoginRequired("another user signed in than the request names")

    def _is_named(self, session: Session) -> bool:
        """Whether the client names this user, or none."""
        named = self.request.named
        return not named or all(one.has_subject(session.subject) for one in named)

    def _accepts_sign_in(self, session: Session) -> bool:
        """Whether the client accepts users of the session's provider."""
        if self.request.idp not in (None, session.idp) and not self.answers.authenticated:
            return False
        return self.request.accepts_users_of(session.idp, self.registry)

    @property
    def may_use_client(self) -> bool:
        """Whether the user of the session may use the client."""
        session, registry = self.session, self.registry
        if session is None:
            return True
        permissions = registry.permissions_of(self.request.client)
        return may_use(permissions, session.subject, session.idp, self.user_claims, registry)

    def _is_too_old(self, session: Session) -> bool:
        """Whether more than max_age may have passed; 0 is like prompt=login (OIDC Core §3.1.2.1).

        Both times are whole seconds, so that 61.9 of them may look like 61: the user is asked a
        second too early rather than too late.
        """
        max_age = self.request.max_age
        return max_age is not None and clock() - session.auth_time >= max_age


class UnfinishedSignIn(msgspec.Struct, frozen=True, kw_only=True):
    """A sign-in that has just been made, before it is known whether it can begin a session."""

    sign_in: SignIn
    request: AuthorizeRequest | None
    """The request that it is for; None for the user's own account."""
    registry: Registry
    factors: Factors
    """The second factors that the user has enrolled."""


def _never(*_: object) -> bool:
    return False


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """A page that asks the user for something; it knows neither the other steps nor their order."""

    path: str
    refusal: type[OAuthError]
    """The answer to prompt=none where this step is needed."""
    reason: str = "prompt is none, and the user would have to be asked"
    """The description of that answer."""
    is_needed: Callable[[Interaction], bool] = _never
    can_meet_acr: Callable[[Interaction], bool] = _never
    """Whether the session can meet the acr that it lacks by this step alone."""
    can_meet_wish: Callable[[Interaction], bool] = _never
    """Whether that is worth the step also where the client only wishes for the acr."""
    is_missing_from: Callable[[UnfinishedSignIn], bool] = _never
    """Whether a sign-in begins no session before this step."""


def find_needed_step(interaction: Interaction, steps: Sequence[Step]) -> Step | None:
    """Return the first step that the user has to take."""
    chosen = interaction.acr_step
    for step in steps:
        if step is chosen or step.is_needed(interaction):
            return step
    return None


def choose_acr_step(interaction: Interaction, steps: Sequence[Step]) -> Step | None:
    """Return the step that can meet the acr which the session lacks, if there is one; a wish is never refused."""
    if interaction.lacks_acr:
        # The last of them asks for least: a second factor rather than the whole sign-in.
        wanted = (interaction, interaction.without_wish())
        able = (step for one in wanted for step in reversed(steps) if step.can_meet_acr(one))
    elif interaction.wishes_acr and "none" not in interaction.request.prompt:
        able = (step for step in reversed(steps) if step.can_meet_wish(interaction))
    else:
        return None
    return next(able, None)
