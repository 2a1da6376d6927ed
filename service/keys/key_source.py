"""Takes the service's keys from the operator's files or the store, as configured, and follows them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Never

import structlog
from msgspec.structs import replace

from service.config.named_files import find_file_problem
from service.config.problem import Finding
from service.config.schema.file import ConfigurationFile
from service.config.schema.server import Signing, VerifyOnly
from service.config.schema.server import SigningKey as KeyFile
from service.events.event import Emit
from service.events.timings import EmitTiming, ignore_timing
from service.keys.algorithms import ENCRYPTION_ALGORITHMS
from service.keys.jose import Key
from service.keys.keyring import KeyRing
from service.keys.schedule import (
    FOLLOW_EVERY,
    KeyFileError,
    Keys,
    RotationPolicy,
    SigningKey,
    find_current_keys,
)
from service.keys.sealing import Seal
from service.keys.stored_keys import StoredKeys
from service.keys.verify_only import VerifyOnlyKeys, current
from service.model.client import Client
from service.store.keyvalue import KeyValue

log = structlog.stdlib.get_logger(__name__)

DEFAULT_ENCRYPTION = ("RSA-OAEP-256", "ECDH-ES")
"""The algorithms, by type, of an encryption key that does not name its own."""


@dataclass(kw_only=True)
class FileKeys:
    """Keeps the ring in step with the times in the configuration, and with the files at each reload."""

    ring: KeyRing
    files: Sequence[KeyFile]
    policy: Callable[[], RotationPolicy]
    now: Callable[[], int]
    verify_only: VerifyOnlyKeys = field(default_factory=VerifyOnlyKeys)

    def __post_init__(self) -> None:
        """Read all files, or raise KeyFileError for the first that is wrong."""
        self._keys = read_key_files(self.files, self.ring.algorithms)

    @property
    def keys(self) -> Keys:
        """All keys of the files, and those that were in them lately."""
        return tuple(self._keys)

    def can_open(self, key: SigningKey) -> bool:
        """Return whether this process has the key."""
        return key in self._keys

    def read_files(self, verify_only: Sequence[VerifyOnly] = ()) -> None:
        """Take the keys that the files hold now; if one is wrong (KeyFileError), keep the present keys.

        A key that no file holds any more has retired: it signs nothing, and is published as long as its tokens live.
        """
        self.verify_only.read_files(verify_only)
        read = read_key_files(self.files, self.ring.algorithms)
        present, now = {key.kid for key in read.values()}, self.now()
        retired = {
            times if times.is_retired(now) else replace(times, retired_at=now): key
            for times, key in self._keys.items()
            if key.kid not in present
        }
        self._keys = read | retired

    async def refresh(self) -> None:
        """Let the keys sign, and stop, at their times."""
        now, policy = self.now(), self.policy()
        keys = self._keys  # once: a reload replaces them from its thread
        algorithms = (*self.ring.algorithms, *ENCRYPTION_ALGORITHMS)
        self.ring.replace(
            in_use=[keys[key] for key in find_current_keys(keys, algorithms, now)],
            held=[key for times, key in keys.items() if not policy.is_gone(times, now)],
            since={times.kid: times.sign_from for times in keys if times.sign_from},
            verify_only=current(self.verify_only.keys, now),
        )

    start = load = refresh  # files are never changed


def read_key_files(files: Iterable[KeyFile], algorithms: Sequence[str]) -> dict[SigningKey, Key]:
    """Return the keys in these files with their times; KeyFileError for the first that is wrong.

    `algorithms` are those of keys that sign, where a file does not name its own.
    """
    keys: dict[SigningKey, Key] = {}
    for file in files:
        key = read_key_file(file, algorithms if file.use == "sig" else DEFAULT_ENCRYPTION)
        if any(key.kid == other.kid for other in keys.values()):
            raise KeyFileError(f"{file.path}: another file holds a key with the key id {key.kid}")
        times = SigningKey(
            kid=key.kid,
            alg=key.alg,
            announced_at=file.sign_from or 0,
            sign_from=file.sign_from or 0,
            retired_at=file.retire_at,
            sealed="",
        )
        keys[times] = key
    return keys


def read_key_file(file: KeyFile, algorithms: Sequence[str] = ()) -> Key:
    """Return the key in this file for its algorithm, else for the first of `algorithms` that fits; or raise KeyFileError."""
    try:
        content = file.path.read_bytes()
    except OSError as error:
        raise KeyFileError(f"{file.path}: {error.strerror or 'cannot be read'}") from error
    reason = ""
    for alg in [file.algorithm] if file.algorithm else algorithms:
        try:
            key = Key.load(content, alg)
        except ValueError as error:
            reason = str(error)
            continue
        if not key.is_private:
            raise KeyFileError(f"{file.path}: holds a public key; a private one is needed")
        if key.use != file.use:
            reason = f"{key.alg} is no algorithm of a key with use: {file.use}"
            raise KeyFileError(f"{file.path}: {reason}")
        return key
    wanted = file.algorithm or ", ".join(algorithms)
    raise KeyFileError(f"{file.path}: holds no unencrypted PEM or JWK key for {wanted}: {reason}")


def key_files_hold_keys(file: ConfigurationFile) -> Iterator[Finding]:
    """The operator's own signing keys can be read, fit their algorithms, and are different ones."""
    holders: dict[str, int] = {}
    for at, key in enumerate(file.signing.keys):
        location = ("signing", "keys", at, "path")
        if find_file_problem(key.path):
            continue
        try:
            (times,) = read_key_files([key], file.signing.algorithms)
        except KeyFileError as error:
            yield Finding(location, str(error))
            continue
        if times.kid in holders:
            first = ("signing", "keys", holders[times.kid], "path")
            yield Finding(location, "holds a key that is listed already", first=first)
        holders.setdefault(times.kid, at)


def provider_keys_can_sign(file: ConfigurationFile) -> Iterator[Finding]:
    """The keys by which this service authenticates at identity providers can be read."""
    for at, provider in enumerate(file.identity_providers):
        path, alg = provider.private_key, provider.token_endpoint_auth_signing_alg
        if path is None or alg is None or find_file_problem(path):
            continue
        try:
            read_key_file(KeyFile(path=path, algorithm=alg))
        except KeyFileError as error:
            yield Finding(("identity_providers", at, "private_key"), str(error))


KeySource = FileKeys | StoredKeys


def build_key_source(
    settings: Signing,
    *,
    kv: KeyValue,
    prefix: str,
    seal: Seal,
    longest_token: Callable[[], int],
    encryption: Callable[[], Sequence[str]],
    now: Callable[[], int],
    emit: Emit,
    timed: EmitTiming = ignore_timing,
) -> KeySource:
    """Return the source that the configuration names; KeyFileError if a file of it is wrong.

    `longest_token` and `encryption` are called each time: a reload may change them. `timed`
    receives the duration of each signature.
    """
    ring = KeyRing(settings.algorithms, timed=timed)
    verify_only = VerifyOnlyKeys(settings.verify_only)

    def policy() -> RotationPolicy:
        return RotationPolicy(
            algorithms=(*settings.algorithms, *encryption()),
            rotate_every=settings.rotate_every,
            announce_before=settings.announce_before,
            retire_after=settings.retire_after,
            longest_token=longest_token(),
        )

    if settings.source == "files":
        return FileKeys(
            ring=ring, files=settings.keys, policy=policy, now=now, verify_only=verify_only
        )
    return StoredKeys(
        ring=ring,
        kv=kv,
        prefix=prefix,
        seal=seal,
        policy=policy,
        now=now,
        emit=emit,
        verify_only=verify_only,
    )


def encryption_algorithms(
    clients: Iterable[Client], *, configured: Iterable[str], registration: bool
) -> tuple[str, ...]:
    """Return the algorithms of request objects that the operator or a client asks for, and the usual ones if any client may register."""
    usual = DEFAULT_ENCRYPTION if registration else ()
    asked = {*configured, *usual, *(client.request_object_encryption_alg for client in clients)}
    return tuple(alg for alg in ENCRYPTION_ALGORITHMS if alg in asked)


async def follow_keys(source: KeySource) -> Never:
    """Keep the ring up to date until the task is cancelled."""
    while True:
        await asyncio.sleep(FOLLOW_EVERY)
        try:
            await source.refresh()
        except Exception:
            log.exception("signing keys were not refreshed")
