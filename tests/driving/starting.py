"""Makes a start cheap: what is the same for all tests of a process is made once."""

from __future__ import annotations

import socket
from copy import copy
from dataclasses import replace
from functools import lru_cache
from itertools import count
from pathlib import Path
from threading import Lock

from msgspec import structs

from service.config.configuration import Configuration
from service.keys.jose import Key
from service.start.load import load


class RsaKeys:
    """Takes the place of `Key` for the service's own keys: an RSA key takes longer than most tests."""

    def __init__(self) -> None:
        self._made: list[Key] = []
        self._next = 0
        self._one_at_a_time = Lock()
        self.load = Key.load

    def start_over(self) -> None:
        """Give the next test the same keys, in the same order."""
        self._next = 0

    def generate(self, alg: str) -> Key:
        """Return a key that this test has not got yet."""
        if not alg.startswith(("RS", "PS")):
            return Key.generate(alg)
        with self._one_at_a_time:
            if self._next == len(self._made):
                self._made.append(Key.generate(alg))
            self._next += 1
            return replace(self._made[self._next - 1], alg=alg)


class Starting:
    """The ports of the services of a process, and the configurations that it has read."""

    def __init__(self, folder: Path) -> None:
        """Keep the configuration files in the folder."""
        self._folder = folder
        self._numbers = count()
        self._sockets: list[socket.socket] = []
        self.rsa_keys = RsaKeys()
        self._read = lru_cache(maxsize=100)(self._load)

    def listen(self, number: int) -> socket.socket:
        """Return the socket of a test's first, second … service.

        Each test has the same ports, so that the text of its configuration is often the same, too.
        The sockets stay open, so that no other process takes a port between two tests.
        """
        while number >= len(self._sockets):
            self._sockets.append(socket.create_server(("127.0.0.1", 0)))
        return self._sockets[number].dup()

    def close(self) -> None:
        """Give the ports back."""
        for each in self._sockets:
            each.close()

    def configuration(self, text: str) -> Configuration:
        """Return what a file with this text says; the file and the clients are the test's own, free to be changed."""
        read = self._read(text)
        clients = {client_id: copy(client) for client_id, client in read.registry.clients.items()}
        return structs.replace(
            read, file=self._write(text), registry=structs.replace(read.registry, clients=clients)
        )

    def _load(self, text: str) -> Configuration:
        return load(self._write(text), {})

    def _write(self, text: str) -> Path:
        file = self._folder / f"config-{next(self._numbers)}.yaml"
        file.write_text(text)
        return file
