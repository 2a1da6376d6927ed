"""Builds what signs users in: by password and at identity providers."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from service.identity.users import Subjects
from service.parts.keys import KeyParts
from service.parts.shared import Shared
from service.parts.users import open_directory

if TYPE_CHECKING:
    from service.identity.assertions import ForeignAssertions
    from service.identity.password_sign_in import PasswordSignIn
    from service.identity.providers.sign_in import ProviderSignIn


class SignInParts:
    """The users, and the ways to sign them in, each built when it is first read."""

    def __init__(self, shared: Shared, keys: KeyParts) -> None:
        """Raise CannotServe if the operator's user store cannot be made."""
        self._shared, self._keys = shared, keys
        self.users = open_directory(shared)
        self.subjects = Subjects(users=self.users, registry=shared.registry)

    @cached_property
    def local(self) -> PasswordSignIn:
        """Signs in by password."""
        from service.parts.ways_to_sign_in import build_local_sign_in

        return build_local_sign_in(self._shared, self.users)

    @cached_property
    def providers(self) -> ProviderSignIn:
        """Signs in at identity providers."""
        from service.parts.ways_to_sign_in import build_provider_sign_in

        return build_provider_sign_in(self._shared, self._keys, self.users)

    @cached_property
    def assertions(self) -> ForeignAssertions:
        """Verifies JWTs of trusted issuers."""
        from service.parts.ways_to_sign_in import build_foreign_assertions

        return build_foreign_assertions(self._shared, self.users)
