"""Subject identifiers are those of dex, byte for byte (dex server/internal/types.proto, Protocol Buffers "Encoding")."""

from __future__ import annotations

from base64 import urlsafe_b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.identity.dex_subjects import find_dex_subject, read_dex_subject

OF_DEX = {
    "the user of dex's example configuration": (
        "CiQwOGE4Njg0Yi1kYjg4LTRiNzMtOTBhOS0zY2QxNjYxZjU0NjYSBWxvY2Fs",
        "08a8684b-db88-4b73-90a9-3cd1661f5466",
        "local",
    ),
    "the user of GitHub in dex's documentation": ("CgcyMzQyNzQ5EgZnaXRodWI", "2342749", "github"),
    "letters beyond ASCII": ("CgXDqeKCrBIBYw", "é€", "c"),
    "a client": ("CgNhcHA", "app", ""),
}


@pytest.mark.parametrize(("sub", "user_id", "connector"), OF_DEX.values(), ids=OF_DEX)
def test_known_subjects_of_dex_are_made_and_read(sub: str, user_id: str, connector: str) -> None:
    assert find_dex_subject(user_id, connector) == sub
    assert read_dex_subject(sub, connector) == user_id
    assert read_dex_subject(sub, "another") is None


@pytest.mark.parametrize(
    ("length", "written"), [(127, b"\x7f"), (128, b"\x80\x01"), (300, b"\xac\x02")]
)
def test_length_of_long_names_is_written_in_groups_of_seven_bits(
    length: int, written: bytes
) -> None:
    message = b"\n" + written + b"a" * length + b"\x12\x01c"
    expected = urlsafe_b64encode(message).rstrip(b"=").decode()
    assert find_dex_subject("a" * length, "c") == expected


@given(st.text(min_size=1), st.text(min_size=1))
def test_each_user_has_one_subject(user_id: str, connector: str) -> None:
    assert read_dex_subject(find_dex_subject(user_id, connector), connector) == user_id


@given(st.text(alphabet="ABCgEIQwx018_-=é") | st.text())
def test_any_other_text_names_no_user(text: str) -> None:
    user_id = read_dex_subject(text, "local")
    assert user_id is None or find_dex_subject(user_id, "local") == text
