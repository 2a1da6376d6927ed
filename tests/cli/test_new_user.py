"""`new user` prints an entry for users.list, under which the user signs in."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from service.cli.program import program
from service.identity.hashing import matches
from service.model.password_hash import parse_hash
from service.start.load import inspect

CAROL = ["carol", "--name", "Carol ${Doe}", "--email", "carol@example.com", "--group", "staff"]


def new_user(*arguments: str, given: str = "s3cret\n", config: str = "config.yaml") -> Result:
    return CliRunner().invoke(program, ["new", "user", *arguments, "--config", config], input=given)


def test_the_printed_entry_works_as_it_is(tmp_path: Path) -> None:
    made = new_user(*CAROL)
    main = Path("config.yaml").read_text(encoding="utf-8")
    (tmp_path / "config.yaml").write_text(f"include: [new.yaml]\n{main}", encoding="utf-8")
    (tmp_path / "new.yaml").write_text(made.stdout, encoding="utf-8")
    assert inspect(tmp_path / "config.yaml", {}) == ()
    assert "s3cret" not in made.output


def test_the_entry_has_the_hash_of_the_password_and_claims() -> None:
    (user,) = yaml.safe_load(new_user(*CAROL).stdout)["users"]["list"]
    assert matches("s3cret", parse_hash(user["password"]))
    assert user["claims"] == {
        "name": "Carol $${Doe}",
        "email": "carol@example.com",
        "email_verified": True,
        "groups": ["staff"],
    }


def test_each_user_has_a_sub_of_their_own() -> None:
    subs = {yaml.safe_load(new_user("x").stdout)["users"]["list"][0]["sub"] for _ in range(2)}
    assert len(subs) == 2


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["ALICE"], "alice is the name of a user already"),
        (["carol", "--sub", "818727"], "818727 is the sub of a user already"),
    ],
)
def test_a_name_or_sub_that_is_taken_is_refused(arguments: list[str], reason: str) -> None:
    made = new_user(*arguments)
    assert (made.exit_code, made.stdout, reason in made.stderr) == (1, "", True)


def test_users_of_another_source_are_not_made_here(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(
        "issuer: http://localhost:8080\nusers: {source: tests.users.switched:SwitchedUsers}\n"
    )
    made = new_user("carol", config=str(file))
    assert (made.exit_code, "new users are made there" in made.stderr) == (1, True)


def test_a_password_is_required() -> None:
    assert new_user("carol", given="").exit_code == 2
