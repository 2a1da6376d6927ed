"""Reads the record of the service's keys in the store, without opening a key."""

from __future__ import annotations

from service.keys.problems import KeysUnreadable
from service.keys.schedule import RECORD, Keys
from service.store.keyvalue import KeyValue


def name_record(prefix: str) -> str:
    """Return the name of the record in the store."""
    return f"{prefix}:keys"


async def read_record(kv: KeyValue, prefix: str) -> tuple[bytes | None, Keys]:
    """Return the record as it is in the store, and the keys in it; KeysUnreadable if it cannot be understood."""
    value = await kv.get(name_record(prefix))
    if value is None:
        return None, ()
    try:
        return value, RECORD.decode(value).keys
    except ValueError as error:
        raise KeysUnreadable("the record in the store is of no known version") from error
