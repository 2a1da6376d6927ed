"""`explain` says what has become of a device code, to operators."""

from __future__ import annotations

from tests.cli.conftest import Command
from tests.cli.conftest import command as command  # noqa: PLC0414 - a fixture
from tests.cli.test_explain import explained
from tests.device.tv import Television


async def test_a_device_code_is_explained_from_its_beginning_to_its_use(
    tv: Television, command: Command
) -> None:
    code = tv.codes["device_code"]
    waiting = await explained(command, code)
    assert (waiting["kind"], waiting["state"]) == ("device code", "waits for the user")
    assert "tv" in waiting["client"]
    await tv.decide()
    assert (await explained(command, code))["state"] == "waits to be polled with"
    assert (await tv.poll()).status == 200
    assert (await explained(command, code))["state"] == "inactive: it was used"


async def test_a_refused_device_code_is_explained(tv: Television, command: Command) -> None:
    await tv.decide("deny")
    state = (await explained(command, tv.codes["device_code"]))["state"]
    assert state == "inactive: the user refused"
