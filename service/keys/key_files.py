"""The operator's own keys, from files (`signing.source: files`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from service.config.schema.server import SigningKey as KeyFile
from service.keys.algorithms import ENCRYPTION_ALGORITHMS
from service.keys.jose import Key
from service.keys.keyring import KeyRing
from service.keys.schedule import RotationPolicy, find_current_keys
from service.model.signing_key import SigningKey

DEFAULT_ENCRYPTION = ("RSA-OAEP-256", "ECDH-ES")
"""The algorithms, by type, of an encryption key that does not name its own."""


class KeyFileError(Exception):
    """A key file cannot be used; `path` names it and the message says why."""

    def __init__(self, path: Path, reason: str) -> None:
        """Take a reason that shows nothing of the content."""
        super().__init__(f"{path}: {reason}")
        self.path = path


@dataclass(kw_only=True)
class FileKeys:
    """Keeps the ring in step with the times in the configuration, and with the files at each reload."""

    ring: KeyRing
    files: Sequence[KeyFile]
    policy: Callable[[], RotationPolicy]
    now: Callable[[], int]

    def __post_init__(self) -> None:
        """Read all files, or raise KeyFileError for the first that is wrong."""
        self._keys = read_key_files(self.files, self.ring.algorithms)

    def read_files(self) -> None:
        """Take the keys that the files hold now; if one is wrong (KeyFileError), keep the present keys.

        A key that no file holds any more has retired: it signs nothing, and is published as long as its tokens live.
        """
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
        )

    start = load = refresh  # files are never changed


def read_key_files(files: Iterable[KeyFile], algorithms: Sequence[str]) -> dict[SigningKey, Key]:
    """Return the keys in these files with their times; KeyFileError for the first that is wrong.

    `algorithms` are those of keys that sign, where a file does not name its own.
    """
    keys: dict[SigningKey, Key] = {}
    for file in files:
        key = _read(file, algorithms if file.use == "sig" else DEFAULT_ENCRYPTION)
        if any(key.kid == other.kid for other in keys.values()):
            raise KeyFileError(file.path, f"another file holds a key with the key id {key.kid}")
        times = SigningKey(
            kid=key.kid,
            alg=key.alg,
            announced_at=0,
            sign_from=file.sign_from or 0,
            retired_at=file.retire_at,
            sealed="",
        )
        keys[times] = key
    return keys


def _read(file: KeyFile, algorithms: Sequence[str]) -> Key:
    try:
        content = file.path.read_bytes()
    except OSError as error:
        raise KeyFileError(file.path, error.strerror or "cannot be read") from error
    reason = ""
    for alg in [file.algorithm] if file.algorithm else algorithms:
        try:
            key = Key.load(content, alg)
        except ValueError as error:
            reason = str(error)
            continue
        if not key.is_private:
            raise KeyFileError(file.path, "holds a public key; a private one is needed")
        if key.use != file.use:
            raise KeyFileError(
                file.path, f"{key.alg} is no algorithm of a key with use: {file.use}"
            )
        return key
    wanted = file.algorithm or ", ".join(algorithms)
    raise KeyFileError(file.path, f"holds no unencrypted PEM or JWK key for {wanted}: {reason}")
