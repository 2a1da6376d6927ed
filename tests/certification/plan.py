"""A test class is one run of a plan of the suite, with the variants that the plan fixes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One run: the client, its request, and the response mode."""

    response_type: str
    client_id: str | None = None
    """The first static client of the file; None: clients register themselves."""
    form_post: bool = False
    on_redis: bool = True
    """Whether it runs on a real Redis, too: not where another run of the file leaves the same in the store."""

    @property
    def words(self) -> frozenset[str]:
        """The requested scope."""
        return frozenset(self.response_type.split())

    @property
    def place(self) -> str:
        """The place of the response (OAuth 2.0 Multiple Response Type Encoding Practices §5)."""
        if self.form_post:
            return "form"
        return "query" if self.words == {"code"} else "fragment"

    @property
    def runs_on_redis(self) -> bool:
        """Whether it runs on a real Redis, too: how an answer is delivered leaves no trace in the store."""
        return self.on_redis and not self.form_post

    @property
    def title(self) -> str:
        """The run, in a table."""
        return self.response_type

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters of each authorization request of the run."""
        mode = {"response_mode": "form_post"} if self.form_post else {}
        return {"response_type": self.response_type} | mode
