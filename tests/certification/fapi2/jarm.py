"""Opens signed authorization responses (JARM §2.1, §2.4)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import KeySet

from tests.certification.provider import ISSUER
from tests.driving.browser import Page
from tests.driving.service import header_of

ALGORITHMS = ["PS256", "ES256"]
_OF_THE_JWT = {"aud", "exp", "iat"}


def opened(page: Page, jwks: Mapping[str, Any], request: Mapping[str, str]) -> Page:
    """The same response as if it had come plainly, once its JWT has been checked as the suite does it."""
    parts = urlsplit(page.url)
    own = dict(parse_qsl(urlsplit(request["redirect_uri"]).query))
    came = dict(parse_qsl(parts.query))
    assert came.keys() == own.keys() | {"response"}, page.url
    claims = claims_of(came["response"], jwks, client_id=request["client_id"])
    told = {name: str(value) for name, value in claims.items() if name not in _OF_THE_JWT}
    plain = parts._replace(query=urlencode(own | told)).geturl()
    return Page(plain, page.status, page.headers, page.text)


def claims_of(response: str, jwks: Mapping[str, Any], *, client_id: str) -> dict[str, Any]:
    """The claims of a response that is signed by a published key, for this client, for ten minutes at most."""
    assert header_of(response)["kid"] in {key["kid"] for key in jwks["keys"]}
    keys = KeySet.import_key_set({"keys": list(jwks["keys"])})
    claims: dict[str, Any] = jwt.decode(response, keys, algorithms=ALGORITHMS).claims
    assert (claims["iss"], claims["aud"]) == (ISSUER, client_id)
    assert 10 < claims["exp"] - time.time() <= 600
    return claims
