"""The table of refusals: each row spoils one thing in a request that is right otherwise."""

from __future__ import annotations

from tests.refusals import certificates, details, profiles, proofs, registrations, requests, targets

TABLE = [
    *proofs.ROWS,
    *certificates.ROWS,
    *details.ROWS,
    *requests.ROWS,
    *targets.ROWS,
    *registrations.ROWS,
    *profiles.ROWS,
]
