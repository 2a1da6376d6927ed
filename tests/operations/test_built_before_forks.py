"""The service of several workers is built once, before they are forked."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from functools import cached_property
from pathlib import Path

import pytest
from msgspec import structs

from service.cli.serving import Serving
from service.config.problem import ConfigError
from service.start.load import load

CONFIGURATION = Path(__file__).parents[2] / "benchmarks" / "service.yaml"
MEMORY = {"SERVICE_STORE_URL": "memory://"}


@pytest.fixture
def serving() -> Serving:
    return Serving(
        configuration=load(CONFIGURATION, MEMORY),
        environ=MEMORY,
        flags={},
        watch=False,
    )


def test_the_service_is_built_before_the_forks(serving: Serving) -> None:
    assert serving.made is None
    made = serving.before_forks().made
    assert made is not None
    features = made[0].features
    built = {
        name for name, each in vars(type(features)).items() if isinstance(each, cached_property)
    }
    assert built <= vars(features).keys(), "each is built when it is read"


def test_reload_builds_another_service(serving: Serving) -> None:
    before = serving.before_forks()
    after = before.with_present_registry()
    assert after.made is not None
    assert after.made is not before.made


def test_a_reload_that_is_refused_names_the_flag(serving: Serving) -> None:
    several = structs.replace(
        serving,
        environ=MEMORY | {"SERVICE_WORKERS": "2"},
        flags={"SERVICE_WORKERS": "--workers"},
    )
    with pytest.raises(ConfigError) as refused:
        several.read()
    named = {each.file for each in refused.value.problems}
    assert "--workers" in named
    assert "SERVICE_WORKERS" not in named


def test_services_of_earlier_registries_are_forgotten(serving: Serving) -> None:
    serving = serving.before_forks()
    for _ in range(3):
        assert serving.made is not None
        earlier = weakref.ref(serving.made[0].app)
        serving = serving.with_present_registry()
        gc.collect()
        assert earlier() is None


def test_workers_that_export_spans_build_their_own(serving: Serving) -> None:
    traced = Serving(
        configuration=serving.configuration,
        environ=MEMORY | {"OTEL_TRACES_EXPORTER": "console"},
        flags={},
        watch=False,
    )
    assert traced.before_forks().made is None


def test_garbage_is_collected_again_once_everything_is_there() -> None:
    """The start pauses the collector, which would look at all that is imported three times."""
    asked = (
        "import gc, os, signal; from service.cli import serving; from service.cli.program import program\n"
        "def listening(*_: object, **__: object) -> None:\n"
        "    print(gc.isenabled(), gc.get_freeze_count() > 50_000, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "serving.click.echo = listening\n"
        f"program(['serve', '--config', {str(CONFIGURATION)!r}, '--store', 'memory://', '--port', '0'])"
    )
    told = subprocess.run(
        [sys.executable, "-c", asked], check=True, capture_output=True, text=True
    ).stdout
    assert told == "True True\n"
