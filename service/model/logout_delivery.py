"""Word that a session has ended, on its way to one client (OpenID Connect Back-Channel Logout §2.5)."""

from __future__ import annotations

from dataclasses import dataclass

from service.model.handle import digest


@dataclass(frozen=True, slots=True, kw_only=True)
class LogoutDelivery:
    """Which client is to be told of which session; the token itself is made anew for each attempt."""

    client_id: str
    session_id: str
    subject: str
    failures: int = 0
    """Attempts that came to nothing."""
    traceparent: str | None = None
    """The span in which the session ended (W3C Trace Context §3.2)."""

    @property
    def id(self) -> str:
        """The same for the same session and client, so that an end that is repeated tells nobody twice."""
        return digest(f"{self.session_id} {self.client_id}")
