"""One authorization request in front of one person: all that decides which page comes next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

from service.authorize.request import AuthorizeRequest
from service.model.session import Answers, Session
from service.model.user import LOCAL
from service.protocol.errors import LoginRequired, OAuthError
from service.protocol.prompt import LOGIN


@dataclass(frozen=True, slots=True, kw_only=True)
class Interaction:
    """The request, who is signed in, and what the person has answered or allowed before."""

    request: AuthorizeRequest
    session: Session | None
    user_claims: Mapping[str, object]
    """Of the person signed in; empty for nobody."""
    answers: Answers
    consented_scope: frozenset[str]
    """What the person allowed this client earlier, for good."""
    consented_claims: frozenset[str]
    """The names of the claims that went with it, by scope or one by one."""
    acr: str | None
    """The authentication context that the session meets, of those asked for."""
    now: int

    @property
    def login_needed(self) -> bool:
        """Whether the person has to prove anew who it is (OIDC Core §3.1.2.3)."""
        session = self.session
        if session is None:
            return True
        if not self._is_meant(session):
            return True
        if not self._sign_in_is_accepted(session):
            return True
        if self.answers.authenticated:
            return False
        if self.request.acr.essential and self.acr is None:
            return True
        return LOGIN in self.request.prompt or self._is_too_old(session)

    def refuse_another_person(self) -> None:
        """Whoever signed in has to be the one whom the client names (OIDC Core §3.1.2.2)."""
        session = self.session
        if self.answers.authenticated and session and not self._is_meant(session):
            raise LoginRequired("somebody else signed in than the request names")

    def _is_meant(self, session: Session) -> bool:
        """Whether the client names nobody, or this person."""
        return all(named.is_subject(session.subject) for named in self.request.named)

    def _sign_in_is_accepted(self, session: Session) -> bool:
        """Whether the client takes people from where this one signed in."""
        client = self.request.client
        if self.request.idp not in (None, session.idp) and not self.answers.authenticated:
            return False
        if session.idp == LOCAL:
            return client.enable_local_login
        allowed = client.identity_provider_restrictions
        return not allowed or session.idp in allowed

    def _is_too_old(self, session: Session) -> bool:
        """Whether more than max_age may have passed; 0 is like prompt=login (OIDC Core §3.1.2.1).

        Both times are whole seconds, so that 61.9 of them may look like 61: the person is asked
        one too early rather than too late.
        """
        max_age = self.request.max_age
        return max_age is not None and self.now - session.auth_time >= max_age


class Step(Protocol):
    """One thing that a person may be asked; it knows neither the other steps nor their order."""

    path: ClassVar[str]
    refusal: ClassVar[type[OAuthError]]
    """What prompt=none answers where this step is needed."""

    def needed(self, interaction: Interaction) -> bool:
        """Whether the person has to be asked this now."""
        ...
