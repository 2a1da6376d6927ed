"""The master behind sentinels: whom they name is connected to, and they are asked for each connection anew."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from service.store.engine.engine import TROUBLE, ConnectionLost
from service.store.engine.link import Link
from service.store.engine.server import Address, Server


class Sentinels:
    """Asks one sentinel after another, and first the one that knew a master last."""

    def __init__(
        self, sentinels: Iterable[Server], name: str, server_at: Callable[[Address], Server]
    ) -> None:
        """Take the name that they know the master by, and what says how its server is spoken to."""
        self._sentinels = list(sentinels)
        self._name = name
        self._server_at = server_at

    async def connect(self, make_link: Callable[[], Link]) -> Link:
        """Return a link to the present master; raise ConnectionLost if no sentinel names one."""
        return await self._server_at(await self._find_master()).connect(make_link)

    async def _find_master(self) -> Address:
        reasons: list[str] = []
        for sentinel in self._sentinels:
            try:
                fields = await sentinel.ask(("SENTINEL", "MASTER", self._name))
            except TROUBLE as error:
                reasons.append(str(error))
                continue
            master = dict(zip(fields[::2], fields[1::2], strict=True))
            flags = set(master[b"flags"].split(b","))
            if b"master" in flags and not flags & {b"s_down", b"o_down"}:
                self._sentinels.sort(key=lambda each: each is not sentinel)
                return master[b"ip"].decode(), int(master[b"port"])
            reasons.append(f"{self._name} is {master[b'flags'].decode()}")
        raise ConnectionLost(f"no sentinel names a master: {'; '.join(reasons)}")
