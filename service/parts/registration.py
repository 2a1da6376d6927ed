"""Which clients there are, and how they register themselves."""

from __future__ import annotations

from functools import cached_property

from service.clients.directory import Clients
from service.clients.origins import RegisteredOrigins
from service.clients.registration.metadata import RegistrationPolicy
from service.clients.registration.registered_clients import RegisteredClients
from service.clients.registration.registration import ClientRegistration
from service.config.rules.registered_client import Offered
from service.keys.sealing import Seal
from service.model.registrable import Registrable
from service.parts.foundation import Foundation
from service.store.rate_limit import RateLimit


class Registration(Foundation):
    """The parts that know clients one by one."""

    @property
    def registration_is_on(self) -> bool:
        """Whether clients may register themselves (RFC 7591)."""
        return self.configuration.registration.enabled

    @cached_property
    def clients(self) -> Clients:
        registered = self.registered_clients if self.registration_is_on else None
        return Clients(registry=self.registry, registered=registered)

    @cached_property
    def registered_clients(self) -> RegisteredClients:
        return RegisteredClients(
            stores=self.stores, policy=self.registration_policy, seal=self.seal
        )

    @cached_property
    def registration_policy(self) -> RegistrationPolicy:
        offered = Offered(
            algorithms=self.configuration.signing.algorithms,
            pairwise=self.configuration.pairwise_salt is not None,
            decryption=lambda: self.keys.encryption_algorithms,
        )
        allowed = self.configuration.registration.allowed_scopes
        return RegistrationPolicy(allowed_scopes=allowed, offered=offered)

    @cached_property
    def registrable(self) -> Registrable:
        return self.registration_policy.registrable if self.registration_is_on else Registrable()

    @cached_property
    def seal(self) -> Seal:
        return Seal(self.configuration.signing.encryption_key)

    @cached_property
    def registered_origins(self) -> RegisteredOrigins:
        return RegisteredOrigins(stores=self.stores, now=self.now)

    @cached_property
    def client_registration(self) -> ClientRegistration:
        return ClientRegistration(
            policy=self.registration_policy,
            stores=self.stores,
            origins=self.registered_origins,
            seal=self.seal,
            http=self.client_http("sector_identifier").guarded,
            lifetime=self.configuration.registration.client_lifetime,
            now=self.now,
            emit=self.emit,
        )

    def registration_rate_limit(self, per_minute: int) -> RateLimit:
        """For each address: registrations where they are open, and changes."""
        return RateLimit(
            kv=self.kv,
            prefix=self.prefix,
            name="registration",
            per_minute=per_minute,
            now=self.now,
        )
