"""A test class is one run of a FAPI plan of the suite, with the variants that were chosen for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal


@dataclass(frozen=True, kw_only=True)
class FapiPlan:
    """One run: the variants have the names and values that the suite gives them."""

    words: ClassVar[frozenset[str]] = frozenset({"code"})
    place: ClassVar[str] = "query"
    form_post: ClassVar[bool] = False

    client_id: str
    """The first static client; the second one has the same name and `-2`."""
    client_auth_type: Literal["private_key_jwt", "mtls"] = "private_key_jwt"
    sender_constrain: Literal["dpop", "mtls"] = "dpop"
    openid: Literal["openid_connect", "plain_oauth"] = "openid_connect"
    fapi_request_method: Literal["unsigned", "signed_non_repudiation"] = "unsigned"
    fapi_response_mode: Literal["plain_response", "jarm"] = "plain_response"
    endpoint_is_audience: bool = False
    """Whether assertions are for the endpoint that they go to, as in FAPI-CIBA, instead of the issuer."""
    runs_on_redis: bool = False
    """Whether it runs on a real Redis, too: the store is asked the same in every run, so one is enough."""

    @property
    def is_openid(self) -> bool:
        """Whether there are identity tokens."""
        return self.openid == "openid_connect"

    @property
    def is_jarm(self) -> bool:
        """Whether authorization responses are signed."""
        return self.fapi_response_mode == "jarm"

    @property
    def is_signed(self) -> bool:
        """Whether authorization requests are signed."""
        return self.fapi_request_method == "signed_non_repudiation"

    @property
    def scope(self) -> str:
        """The requested scope; with offline_access, so that there are refresh tokens."""
        return "openid email offline_access" if self.is_openid else "accounts offline_access"

    @property
    def title(self) -> str:
        """The run, in a table."""
        variants = (self.client_auth_type, self.sender_constrain, self.openid)
        further = (self.fapi_request_method, self.fapi_response_mode)
        changed = (one for one in further if one not in {"unsigned", "plain_response"})
        return ", ".join((*variants, *changed))
