"""A library that is imported does not do then what only few need."""

from __future__ import annotations

import json
import subprocess
import sys

ASKED = """
import json, ssl
from service.cli.importing import without_unwanted
with without_unwanted():
    import aiohttp.connector
context, wanted = aiohttp.connector._SSL_CONTEXT_VERIFIED, ssl.create_default_context()
before = context.cert_store_stats()
context.wrap_bio(ssl.MemoryBIO(), ssl.MemoryBIO(), server_hostname="localhost")
flags = [[each.verify_mode, each.verify_flags, each.check_hostname] for each in (context, wanted)]
print(json.dumps([before, context.cert_store_stats(), wanted.cert_store_stats(), *flags]))
"""


def test_authorities_for_other_clients_are_loaded_with_their_first_connection() -> None:
    told = subprocess.run([sys.executable, "-c", ASKED], check=True, capture_output=True).stdout
    before, after, wanted, flags, wanted_flags = json.loads(told)
    assert before["x509"] == 0
    assert after == wanted
    assert flags == wanted_flags
