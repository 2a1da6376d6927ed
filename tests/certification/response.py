"""Reads and checks the responses of the authorize endpoint."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from tests.certification.fapi2.plan import FapiPlan
from tests.certification.plan import Plan
from tests.certification.provider import ISSUER
from tests.driving.browser import Page

_OF_WORD = {
    "code": {"code"},
    "id_token": {"id_token"},
    "token": {"access_token", "token_type", "expires_in", "scope"},
}
_MAYBE = {"session_state"}
_OF_ERROR = {"error", "error_description", "error_uri"}
_ERROR_TEXT = re.compile(r"[\x20-\x21\x23-\x5b\x5d-\x7e]+")
"""RFC 6749 §4.1.2.1; no line break, no tab."""


@dataclass(frozen=True, kw_only=True)
class Response:
    """An answer at the redirect URI, and the request that it answers."""

    request: Mapping[str, str]
    plan: Plan | FapiPlan
    page: Page

    @property
    def place(self) -> str:
        """Its place; the query without a response type that says otherwise."""
        words_are_known = "response_type" in self.request or self.plan.form_post
        return self.plan.place if words_are_known else "query"

    @property
    def parameters(self) -> dict[str, str]:
        """The members that were sent."""
        if self.place == "form":
            return dict(self._form()[1])
        return dict(parse_qsl(getattr(urlsplit(self.page.url), self.place)))

    @property
    def destination(self) -> str:
        """The redirect URI that it went to."""
        if self.place == "form":
            return self._form()[0]
        own_query = urlsplit(self.request["redirect_uri"]).query
        parts = urlsplit(self.page.url)
        return parts._replace(query=own_query, fragment="").geturl()

    def _form(self) -> tuple[str, list[tuple[str, str]]]:
        (form,) = [form for form in self.page.forms if form.id == "form-post"]
        return form.action, form.fields

    def check_success(self) -> dict[str, str]:
        """It arrived where and as it must, with all that was asked for and nothing else."""
        self._check_arrival()
        asked = set().union(*(_OF_WORD[word] for word in self.plan.words)) | self._always()
        assert "error" not in self.parameters, self.parameters
        assert asked <= self._names() <= asked | _MAYBE
        return self.parameters

    def check_error(self, *codes: str) -> None:
        """It is one of these errors, readable, and gives nothing away (OIDC Core §3.1.2.6)."""
        self._check_arrival()
        answer = self.parameters
        assert answer["error"] in codes, answer
        assert self._names() <= _OF_ERROR | self._always() | _MAYBE
        assert _ERROR_TEXT.fullmatch(answer.get("error_description", "."))

    def _names(self) -> set[str]:
        """The members that the provider added; a redirect URI may have a query of its own."""
        own = dict(parse_qsl(urlsplit(self.request["redirect_uri"]).query))
        return self.parameters.keys() - (own if self.place == "query" else {})

    def _always(self) -> set[str]:
        return {"iss"} | ({"state"} & self.request.keys())

    def _check_arrival(self) -> None:
        assert self.destination == self.request["redirect_uri"]
        assert self.parameters.get("state") == self.request.get("state")
        assert self.parameters["iss"] == ISSUER  # RFC 9207 §2
        if self.place != "query":
            assert not {"code", "error"} & dict(parse_qsl(urlsplit(self.page.url).query)).keys()
