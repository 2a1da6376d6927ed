"""A configuration with as many users as the works of browsers take turns with."""

from __future__ import annotations

from pathlib import Path

CONFIGURATION = Path(__file__).with_name("service.yaml")

CHEAP_HASH = (
    "$argon2id$v=19$m=8,t=1,p=1$YmVuY2htYXJrLXNhbHQ$4hx8LrYSq2ATQntdAV+pJN3jCjwNp1z8Py+s76TXZa8"
)
"""A password that costs next to nothing to verify, so that the rest of a sign-in is seen."""
USER_COUNT = 250
"""So many that none has more codes at once than one client may have for a user."""
USER = """\
    - sub: {sub}
      username: {sub}
      password: "{hashed}"
      claims: {{name: User {number}, email: {sub}@web.example}}
"""


def subject(number: int) -> str:
    """Return the `sub` and the user name of a user."""
    return f"user{number}"


def with_users(folder: Path, *more: str) -> Path:
    """The benchmark's own configuration with further users, and lines before them, in a file in this folder."""
    file = folder / "users.yaml"
    users = (
        USER.format(sub=subject(number), number=number, hashed=CHEAP_HASH)
        for number in range(USER_COUNT)
    )
    file.write_text("\n".join([*more, CONFIGURATION.read_text().rstrip()]) + "\n" + "".join(users))
    return file
