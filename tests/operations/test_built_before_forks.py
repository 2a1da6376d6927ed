"""The service of several workers is built once, before they are forked."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.catalogue import builtin_catalogue
from service.cli.serving import Serving
from service.config.load import load

CONFIGURATION = Path(__file__).parents[2] / "benchmarks" / "service.yaml"
MEMORY = {"SERVICE_STORE_URL": "memory://"}


@pytest.fixture
def serving() -> Serving:
    return Serving(
        configuration=load(CONFIGURATION, MEMORY, builtin_catalogue()), environ=MEMORY, watch=False
    )


def test_the_service_is_built_before_the_forks(serving: Serving) -> None:
    assert serving.made is None
    assert serving.before_forks().made is not None


def test_reload_builds_another_service(serving: Serving) -> None:
    before = serving.before_forks()
    after = before.with_present_registry()
    assert after.made is not None
    assert after.made is not before.made


def test_workers_that_export_spans_build_their_own(serving: Serving) -> None:
    traced = Serving(
        configuration=serving.configuration,
        environ=MEMORY | {"OTEL_TRACES_EXPORTER": "console"},
        watch=False,
    )
    assert traced.before_forks().made is None
