"""A store that fails once, in the middle of a request."""

from __future__ import annotations

from typing import Any

import pytest

from service.store.keyvalue import KeyValue, StoreUnavailable
from service.store.verbs import key_of


def refuse_write(kv: KeyValue, monkeypatch: pytest.MonkeyPatch, *, of: str) -> None:
    """Refuse the next write of a key that holds `of`, and none after it."""
    write = kv.write

    async def refuse(*writes: Any, durable: bool = False) -> Any:
        if any(of in str(key_of(one)) for one in writes):
            monkeypatch.undo()
            raise StoreUnavailable("the store cannot be reached")
        return await write(*writes, durable=durable)

    monkeypatch.setattr(kv, "write", refuse)
