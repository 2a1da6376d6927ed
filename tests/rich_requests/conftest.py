"""Two APIs with a type of authorization_details each, and clients that ask for them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.driving.client_app import ClientApp
from tests.driving.registry import fresh_configuration
from tests.rich_requests.details import Asking, add_types


@pytest.fixture
def config() -> dict[str, Any]:
    return add_types(fresh_configuration())


@pytest.fixture
def asking(app: ClientApp) -> Asking:
    """The client `web`."""
    return Asking(app)
