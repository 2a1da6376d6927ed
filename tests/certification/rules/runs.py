"""The rules that one run of a core plan checks, by its requests: Form Post repeats the runs of the three others."""

from __future__ import annotations

from tests.certification.rules.answers import Answers, NeverUnsigned
from tests.certification.rules.claims import ScopesAtUserinfo, ScopesInIdentityToken
from tests.certification.rules.codes import Codes
from tests.certification.rules.request_objects import UnsignedRequestObjects
from tests.certification.rules.requests import ByPost, NonceOptional, NonceRequired, Requests
from tests.certification.rules.signing_in import SigningIn
from tests.certification.rules.userinfo import Userinfo


class _EveryRun(Answers, Requests, SigningIn, UnsignedRequestObjects):
    """Whatever is asked for."""


class Code(_EveryRun, NeverUnsigned, ByPost, NonceOptional, ScopesAtUserinfo, Userinfo, Codes):
    """The code flow."""


class IdToken(_EveryRun, NonceRequired, ScopesInIdentityToken):
    """Nothing to fetch claims with."""


class IdTokenToken(_EveryRun, NonceRequired, ScopesAtUserinfo, Userinfo):
    """Everything from the authorize endpoint."""


class CodeToken(_EveryRun, NonceOptional, ScopesAtUserinfo, Userinfo, Codes):
    """An access token in front, and nothing that a nonce could stand in."""


class CodeIdToken(_EveryRun, NonceRequired, ScopesAtUserinfo, Userinfo, Codes):
    """Identity tokens in front and at the back, with an access token in front or not."""
