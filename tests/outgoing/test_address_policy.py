"""URLs of clients that registered themselves lead to public addresses only, or where the operator lets them."""

from __future__ import annotations

from ipaddress import ip_network

import pytest

from service.outgoing.guard import AddressPolicy

pytestmark = pytest.mark.rfc("7591#5", "6890#2.2")

REFUSED = (
    "0.0.0.1",
    "10.0.0.1",
    "100.64.0.1",
    "127.0.0.1",
    "169.254.169.254",
    "172.16.0.1",
    "192.0.2.1",
    "192.168.1.1",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::808:808",
    "2001:db8::1",
    "2001::1",
    "2002:7f00:1::",
    "2002:a00:1::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%1",
    "fec0::1",
    "ff02::1",
)
PUBLIC = ("8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1")


@pytest.mark.parametrize("address", REFUSED)
def test_a_special_address_is_refused(address: str) -> None:
    policy = AddressPolicy(())
    assert not policy.allows(address, https=True)
    assert not policy.allows(address, https=False)


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_allowed_by_https_only(address: str) -> None:
    policy = AddressPolicy(())
    assert policy.allows(address, https=True)
    assert not policy.allows(address, https=False)


@pytest.mark.parametrize("address", ["10.1.2.3", "::ffff:10.1.2.3", "fd00::1"])
def test_an_allowed_network_is_exempt(address: str) -> None:
    policy = AddressPolicy((ip_network("10.0.0.0/8"), ip_network("fd00::/8")))
    assert policy.allows(address, https=True)
    assert policy.allows(address, https=False)
    assert not policy.allows("192.168.1.1", https=True)
