"""Builds what leads users to the requests of their devices."""

from __future__ import annotations

from service.authorize.device import DeviceRequests
from service.authorize.parking import Parking
from service.authorize.user_codes import UserCodes
from service.parts.shared import Shared
from service.parts.tokens import TokenParts


def build_device_requests(shared: Shared, tokens: TokenParts, parking: Parking) -> DeviceRequests:
    """Take the parking whose requests are found among those of browsers, but which keeps more of them."""
    limits = shared.configuration.limits
    return DeviceRequests(
        user_codes=UserCodes(
            stores=shared.stores,
            prefix=shared.prefix,
            per_session=limits.device_codes_per_session,
            per_address=limits.device_codes_per_address,
            per_minute=limits.device_codes_per_minute,
        ),
        parking=parking,
        polling=tokens.polling,
        emit=shared.emit,
    )
