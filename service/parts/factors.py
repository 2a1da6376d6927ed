"""Builds what keeps and verifies second factors."""

from __future__ import annotations

from service.identity.factors.enrolled import EnrolledFactors
from service.identity.factors.methods import FactorMethod
from service.identity.factors.recovery_codes import RecoveryCodeMethod
from service.identity.factors.second_factors import SecondFactors
from service.identity.factors.stored import StoredFactors
from service.identity.factors.totp import TotpMethod
from service.identity.sign_in import Throttle
from service.keys.sealing import Seal
from service.model.factors import FactorStore
from service.model.user import UserStore
from service.parts.shared import Shared


class FactorParts:
    """The second factors of users."""

    def __init__(self, shared: Shared, users: UserStore) -> None:
        self.seal = Seal(shared.configuration.signing.encryption_key)
        store: FactorStore = StoredFactors(shared.stores, self.seal)
        self.enrolled = EnrolledFactors(store)
        self.second_factors = SecondFactors(
            enrolled=self.enrolled,
            methods=second_factor_methods(self),
            throttle=Throttle(
                kv=shared.kv, prefix=shared.prefix, limits=shared.configuration.limits, name="of"
            ),
            emit=shared.emit,
        )


def second_factor_methods(parts: FactorParts) -> tuple[FactorMethod, ...]:
    """Return all methods; of those that a user has enrolled the first one is asked for first."""
    return (TotpMethod(parts.enrolled), RecoveryCodeMethod(parts.enrolled))
