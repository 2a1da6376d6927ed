"""Extension grants and user stores of the operator's own: what can be seen before a start, and what only then."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from service.app import create_app
from service.cli.serving import Serving
from service.cli.settings import Refused
from service.cli.shared_store import on_store
from service.config.problem import Problem
from service.events.operations import RegistryReloadRefused
from service.model.user import UserStore
from service.start.load import load
from service.wiring.shared import Shared

Problems = Callable[..., dict[str, Problem]]

SOUND = "issuer: https://auth.example.com\n"
OWN = """
class Sound:
    grant_type = "urn:example:sound"
    def __init__(self, options, services): ...
    async def handle(self, request): ...

class Other(Sound):
    grant_type = "urn:example:other"

class NoArguments(Sound):
    def __init__(self): ...

class NumberedGrant(Sound):
    grant_type = 7

class NoHandle:
    grant_type = "urn:example:none"
    def __init__(self, options, services): ...

class Sync(Sound):
    def handle(self, request): ...

class Late(Sound):
    grant_type = None
    def __init__(self, options, services): self.grant_type = options["type"]

class Needy(Sound):
    def __init__(self, options, services): self.need = options["need"]

class Bare(Sound):
    def __init__(self, options, services): raise KeyError

def makes_nothing(options, services): ...

class Users:
    async def by_subject(self, sub): ...
    async def by_username(self, username): ...

class HalfUsers:
    async def by_subject(self, sub): ...

class HalfFactors(Users):
    async def find_factors(self, sub): ...

class SyncUsers(Users):
    def by_username(self, username): ...

class UsersOfSomething(Users):
    def __init__(self, something): ...

class LostUsers(Users):
    def __init__(self): raise OSError("no database")

class Credentials:
    def get_credentials(self): ...

class AsyncCredentials:
    async def get_credentials_async(self): ...

class CredentialsOf(Credentials):
    def __init__(self, user): ...
"""


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Writes the operator's module."""
    (tmp_path / "shaped.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)


def grant(name: str, options: str = "{}") -> str:
    return f"extension_grants:\n- handler: {name}\n  options: {options}\n"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("os:getcwd", "cannot be called with (options, services): too many positional arguments"),
        ("shaped:OWN_NAME", "cannot be imported"),
        ("os:sep", "is a str, which cannot be called"),
        ("shaped:NoArguments", "cannot be called with (options, services)"),
        ("shaped:NumberedGrant", "names no grant_type"),
        ("shaped:NoHandle", "has no method handle"),
    ],
)
def test_handlers_have_their_shape(problems: Problems, name: str, why: str) -> None:
    problem = problems(grant(name))[f"extension_grants[{name}].handler"]
    assert (problem.severity, problem.line, problem.column) == ("error", 3, 12)
    assert problem.message.startswith(why)
    assert problem.hint or why == "cannot be imported"


@pytest.mark.parametrize("name", ["shaped:Sound", "shaped:Needy", "shaped:Sync"])
def test_a_handler_is_not_made_before_the_start(problems: Problems, name: str) -> None:
    assert problems(grant(name)) == {}


@pytest.mark.parametrize("name", ["shaped:Users", "shaped:SyncUsers", "shaped:LostUsers"])
def test_a_user_store_is_not_made_before_the_start(problems: Problems, name: str) -> None:
    assert problems(f"users: {{source: '{name}'}}") == {}


@pytest.mark.parametrize("name", ["shaped:Late", "shaped:makes_nothing"])
def test_a_grant_type_that_only_an_instance_knows_is_a_warning(
    problems: Problems, name: str
) -> None:
    (problem,) = problems(grant(name)).values()
    assert (problem.severity, "only when it is made" in problem.message) == ("warning", True)


@pytest.mark.parametrize(("name", "unknown"), [("shaped:Late", False), ("shaped:Sound", True)])
def test_a_grant_type_that_a_handler_may_still_name_is_not_unknown(
    problems: Problems, name: str, unknown: bool
) -> None:
    client = "{client_id: c, require_client_secret: false, allowed_grant_types: ['urn:example:c']}"
    found = problems(f"{grant(name)}clients: [{client}]")
    assert ("clients[c].allowed_grant_types[urn:example:c]" in found) is unknown


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("shaped:HalfUsers", "has no method by_username"),
        ("shaped:HalfFactors", "has no method replace_factors"),
        ("shaped:UsersOfSomething", "cannot be called without arguments"),
        ("shaped:NoUsers", "cannot be imported"),
    ],
)
def test_user_store_has_its_shape(problems: Problems, name: str, why: str) -> None:
    problem = problems(f"users: {{source: '{name}'}}")["users.source"]
    assert (problem.severity, problem.message.startswith(why)) == ("error", True)


@pytest.mark.parametrize(
    ("name", "others", "said"),
    [
        ("Credentials", "url: 'redis://h'", ""),
        ("AsyncCredentials", "url: 'redis://h'", ""),
        ("CredentialsOf", "url: 'redis://h'", "error: cannot be called without arguments"),
        ("Users", "url: 'redis://h'", "error: has no method get_credentials"),
        ("Credentials", "url: 'redis://h', password: p", "error: store.password or store.url has"),
        ("Credentials", "url: 'redis://u@h'", "error: store.password or store.url has"),
        ("Credentials", "url: 'memory://'", "warning: memory:// asks for no credentials"),
    ],
)
def test_credential_provider_has_its_shape_and_is_alone(
    problems: Problems, name: str, others: str, said: str
) -> None:
    found = problems(f"store: {{{others}, credential_provider: 'shaped:{name}'}}")
    problem = found.get("store.credential_provider")
    assert (f"{problem.severity}: {problem.message}" if problem else "").startswith(said)
    assert (problem is None) is (said == "")


CANNOT_BE_MADE = {
    "an option that is missing": (
        "api_scopes: []\n" + grant("shaped:Needy"),
        (
            ":4:12: error: extension_grants[shaped:Needy].handler: shaped:Needy cannot be made"
            ": KeyError: 'need' (shaped.py:28) (is 'need' missing in its options?)"
        ),
    ),
    "an instance without grant type": (
        grant("shaped:Late", "{type: 7}"),
        (
            ":3:12: error: extension_grants[shaped:Late].handler: what shaped:Late makes names"
            " no grant_type (name it in the class"
        ),
    ),
    "an error without words": (
        grant("shaped:Bare"),
        ":3:12: error: extension_grants[shaped:Bare].handler: shaped:Bare cannot be made: KeyError",
    ),
    "a grant type that is taken without being listed": (
        grant("shaped:Late", "{type: delegation}"),
        ":3:12: error: extension_grants[shaped:Late].handler: delegation is served by another",
    ),
    "a taken grant type": (
        grant("shaped:Late", "{type: password}"),
        ":3:12: error: extension_grants[shaped:Late].handler: password is served by another",
    ),
}


@pytest.fixture(params=list(CANNOT_BE_MADE.values()), ids=list(CANNOT_BE_MADE))
def unmakable(request: pytest.FixtureRequest) -> tuple[str, str]:
    """A text with a class that fails only when it is made, and the message about it."""
    made: tuple[str, str] = request.param
    return made


def test_what_cannot_be_made_stops_the_start_with_its_place(
    file: Path, unmakable: tuple[str, str]
) -> None:
    text, said = unmakable
    file.write_text(SOUND + text)
    with pytest.raises(Refused) as refused:
        Serving(configuration=load(file, {}), environ={}, flags={}, watch=False).make()
    assert refused.value.message.startswith(f"{file}{said}")
    assert ("in its options" in refused.value.message) is ("in its options" in said)


def test_what_cannot_be_made_refuses_the_reload_with_its_place(
    file: Path, unmakable: tuple[str, str]
) -> None:
    text, said = unmakable
    file.write_text(SOUND)
    events: list[object] = []
    service = create_app(load(file, {}), events.append, environ={})
    file.write_text(SOUND + text)
    assert not service.features.shared.registry.reload()
    (event,) = events
    assert isinstance(event, RegistryReloadRefused)
    assert event.problems[0].startswith(f"{file}{said}")


def test_a_handler_in_an_included_file_is_shown_there(file: Path) -> None:
    included = file.parent / "grants.yaml"
    included.write_text(grant("shaped:Needy"))
    file.write_text(f"{SOUND}include: [grants.yaml]\n{grant('shaped:Other')}")
    with pytest.raises(Refused) as refused:
        Serving(configuration=load(file, {}), environ={}, flags={}, watch=False).make()
    assert refused.value.message.startswith(f"{included}:2:12: error: extension_grants[")


def test_a_user_store_that_cannot_be_made_stops_the_start_with_its_place(file: Path) -> None:
    file.write_text(f"{SOUND}users: {{source: 'shaped:LostUsers'}}")
    with pytest.raises(Refused) as refused:
        Serving(configuration=load(file, {}), environ={}, flags={}, watch=False).make()
    said = "shaped:LostUsers cannot be made: OSError: no database (shaped.py:"
    assert refused.value.message.startswith(f"{file}:2:17: error: users.source: {said}")


def test_a_user_store_that_cannot_be_made_ends_a_command_with_its_place(file: Path) -> None:
    key = "signing: {encryption_key: AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=}"
    users = "users: {source: 'shaped:LostUsers'}"
    file.write_text(f"{SOUND}{users}\nstore: {{url: 'redis://127.0.0.1:1'}}\n{key}\n")

    async def opened(shared: Shared) -> UserStore:
        return shared.users

    with pytest.raises(Refused, match=r":2:17: error: users\.source: shaped:LostUsers cannot be"):
        on_store(load(file, {}), opened)
