"""The rules that one run checks, by its variants."""

from __future__ import annotations

from tests.certification.fapi2.rules.assertions import Assertions, AssertionsAtPar
from tests.certification.fapi2.rules.certificates import BoundTokens, Certificates, MtlsEndpoints
from tests.certification.fapi2.rules.codes import Codes, RefreshTokens
from tests.certification.fapi2.rules.discovery import Discovery
from tests.certification.fapi2.rules.dpop import BoundCodes, Proofs
from tests.certification.fapi2.rules.flows import Flows
from tests.certification.fapi2.rules.identity import Identity
from tests.certification.fapi2.rules.requests import PushedRequests, Requests, Verifiers
from tests.certification.fapi2.rules.signed_requests import SignaturesOfRequests, SignedRequests
from tests.certification.fapi2.rules.signed_responses import SignedResponses
from tests.certification.fapi2.rules.tls import TlsVersions
from tests.certification.fapi2.rules.userinfo import ProofsAtUserinfo, Userinfo


class EveryRun(
    Discovery, Flows, Requests, PushedRequests, Verifiers, Codes, RefreshTokens, TlsVersions
):
    """Whatever the variants."""


class PrivateKeyJwt(Assertions, AssertionsAtPar):
    """client_auth_type=private_key_jwt."""


class Dpop(Proofs, BoundCodes):
    """sender_constrain=dpop."""


class OpenIdConnect(Identity, Userinfo):
    """openid=openid_connect."""


class OpenIdConnectByDpop(OpenIdConnect, ProofsAtUserinfo):
    """openid=openid_connect, sender_constrain=dpop."""


class MtlsAuthentication(Certificates, MtlsEndpoints):
    """client_auth_type=mtls."""


class MtlsConstraint(BoundTokens, MtlsEndpoints):
    """sender_constrain=mtls."""


class Mtls(Certificates, BoundTokens, MtlsEndpoints):
    """Both."""


class TokenEndpointByMtls(Certificates, BoundTokens, Codes):
    """Both, at the token endpoint alone: what depends on the kind of certificates."""


class SignedNonRepudiation(SignedRequests, SignaturesOfRequests):
    """fapi_request_method=signed_non_repudiation."""


class Jarm(SignedResponses):
    """fapi_response_mode=jarm."""
