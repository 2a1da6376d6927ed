"""A directory that answers as Active Directory does where OpenLDAP cannot (RFC 4511, MS-ADTS)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

_decoder: Any = import_module("pyasn1.codec.ber.decoder")
_encoder: Any = import_module("pyasn1.codec.ber.encoder")
_rfc2251: Any = import_module("pyasn1_modules.rfc2251")

SUCCESS, INVALID_CREDENTIALS = 0, 49


@dataclass
class FakeDirectory:
    """Knows one user, whose attributes it sends in parts, and answers each password as the test says."""

    dn: str
    attributes: Mapping[str, Sequence[bytes]]
    port: int = 0
    part: int = 1500
    """How many values of an attribute it sends at once."""
    refusals: dict[str, str] = field(default_factory=dict)
    """By passwords: what it says of a bind with them; it accepts all others."""
    searches: list[Sequence[str]] = field(default_factory=list)
    """The attributes of each search."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received = b""
        while piece := await reader.read(1 << 16):
            received += piece
            while received:
                try:
                    message, received = _decoder.decode(received, asn1Spec=_rfc2251.LDAPMessage())
                except Exception:  # noqa: BLE001 - the rest of the message is on its way
                    break
                for kind, content in self._answer(message["protocolOp"]):
                    answer = _rfc2251.LDAPMessage()
                    answer["messageID"] = message["messageID"]
                    answer["protocolOp"][kind] = content
                    writer.write(_encoder.encode(answer))
        writer.close()

    def _answer(self, asked: Any) -> Iterator[tuple[str, Any]]:
        kind, content = asked.getName(), asked.getComponent()
        if kind == "bindRequest":
            said = self.refusals.get(str(content["authentication"].getComponent()))
            yield "bindResponse", _result(_rfc2251.BindResponse(), said)
        elif kind == "searchRequest":
            yield "searchResEntry", self._find([str(name) for name in content["attributes"]])
            yield "searchResDone", _result(_rfc2251.SearchResultDone(), None)

    def _find(self, names: Sequence[str]) -> Any:
        self.searches.append(names)
        entry = _rfc2251.SearchResultEntry()
        entry["objectName"] = self.dn
        shown = [shown for name in names if (shown := self._show(name)) is not None]
        for at, (name, values) in enumerate(shown):
            entry["attributes"][at]["type"] = name
            for number, value in enumerate(values):
                entry["attributes"][at]["vals"][number] = value
        return entry

    def _show(self, wanted: str) -> tuple[str, Sequence[bytes]] | None:
        name, _, numbers = wanted.partition(";range=")
        values = next(
            (v for known, v in self.attributes.items() if known.lower() == name.lower()), ()
        )
        first = int(numbers.partition("-")[0] or 0)
        if first == 0 and len(values) <= self.part:
            return (name, values) if values else None
        end = first + self.part
        last = "*" if end >= len(values) else str(end - 1)
        return f"{name};range={first}-{last}", values[first:end]


def _result(response: Any, said: str | None) -> Any:
    response["resultCode"] = SUCCESS if said is None else INVALID_CREDENTIALS
    response["matchedDN"] = ""
    response["errorMessage"] = said or ""
    return response
