"""Where the keys of the ring come from: the store, or the operator's files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from service.keys.algorithms import ENCRYPTION_ALGORITHMS
from service.keys.key_files import DEFAULT_ENCRYPTION, FileKeys, KeyFile
from service.keys.keyring import KeyRing
from service.keys.rotation import StoredKeys
from service.keys.schedule import RotationPolicy
from service.keys.sealing import Seal
from service.keys.vault import Vault
from service.model.client import Client
from service.model.timings import unheard
from service.store.keyvalue import KeyValue


class SigningSettings(Protocol):
    """The section `signing` of the configuration."""

    @property
    def algorithms(self) -> Sequence[str]:
        """The default first."""
        ...

    @property
    def source(self) -> str:
        """`store` or `files`."""
        ...

    @property
    def keys(self) -> Sequence[KeyFile]:
        """For `source: files`."""
        ...

    @property
    def encryption_key(self) -> Sequence[bytes]:
        """The first encrypts, all decrypt."""
        ...

    @property
    def rotate_every(self) -> int:
        """Seconds for which a key signs."""
        ...

    @property
    def announce_before(self) -> int:
        """Seconds for which a key is published before."""
        ...

    @property
    def retire_after(self) -> int:
        """Seconds for which a key is published after."""
        ...


class KeySource(Protocol):
    """Keeps a ring up to date."""

    @property
    def ring(self) -> KeyRing:
        """The keys in force."""
        ...

    async def start(self) -> None:
        """Fill the ring for the first time."""
        ...

    async def refresh(self) -> None:
        """Bring the ring up to date."""
        ...

    def read_again(self) -> None:
        """At a reload: take what files hold now; KeyFileError where one is wrong."""
        ...

    async def load(self) -> None:
        """Fill the ring with what is there, and neither make nor rotate anything."""
        ...


def key_source(
    settings: SigningSettings,
    *,
    kv: KeyValue,
    prefix: str,
    longest_token: Callable[[], int],
    encryption: Callable[[], Sequence[str]],
    now: Callable[[], int],
    emit: Callable[[object], None],
    timed: Callable[[object], None] = unheard,
) -> KeySource:
    """The source that the configuration names; KeyFileError where a file of it is wrong.

    `timed` hears how long its keys take to sign.
    """
    if settings.source == "files":
        return FileKeys(
            ring=KeyRing(settings.algorithms, timed=timed),
            files=settings.keys,
            policy=lambda: _policy(settings, longest_token(), ()),
            now=now,
        )
    return stored_keys(
        settings,
        kv=kv,
        prefix=prefix,
        longest_token=longest_token,
        encryption=encryption,
        now=now,
        emit=emit,
        timed=timed,
    )


def stored_keys(
    settings: SigningSettings,
    *,
    kv: KeyValue,
    prefix: str,
    longest_token: Callable[[], int],
    encryption: Callable[[], Sequence[str]],
    now: Callable[[], int],
    emit: Callable[[object], None],
    timed: Callable[[object], None] = unheard,
) -> StoredKeys:
    """The keys in the store; `longest_token` and `encryption` are asked each time: a reload may change them."""
    return StoredKeys(
        ring=KeyRing(settings.algorithms, timed=timed),
        kv=kv,
        prefix=prefix,
        vault=Vault(Seal(settings.encryption_key)),
        policy=lambda: _policy(settings, longest_token(), encryption()),
        now=now,
        emit=emit,
    )


def encryption_algorithms(clients: Iterable[Client], *, registration: bool) -> tuple[str, ...]:
    """The algorithms that request objects may be encrypted to the service's keys with; none where nobody asks.

    Those that clients have registered, and the usual ones where any client may register.
    """
    registered = {client.metadata.get("request_object_encryption_alg") for client in clients}
    usual = DEFAULT_ENCRYPTION if registration else ()
    return tuple(alg for alg in ENCRYPTION_ALGORITHMS if alg in registered or alg in usual)


def _policy(
    settings: SigningSettings, longest_token: int, encryption: Sequence[str]
) -> RotationPolicy:
    return RotationPolicy(
        algorithms=(*settings.algorithms, *encryption),
        rotate_every=settings.rotate_every,
        announce_before=settings.announce_before,
        retire_after=settings.retire_after,
        longest_token=longest_token,
    )
