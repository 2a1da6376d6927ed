"""The addresses of all parties: loopback origins that the runner hands to every client in the environment."""

from __future__ import annotations

import os

ISSUER = os.environ["ISSUER"]
ERRANDS = os.environ["ERRANDS"]
SINGLE_PAGE = os.environ["SINGLE_PAGE"]
BACK_CHANNEL_PARTY = os.environ["BACK_CHANNEL_PARTY"]
FRONT_CHANNEL_PARTY = os.environ["FRONT_CHANNEL_PARTY"]
MCP_SERVER = os.environ["MCP_SERVER"]
WEBHOOK = os.environ["WEBHOOK"]
MUTUAL_TLS = os.environ["MUTUAL_TLS"]
WORKPLACE = os.environ["WORKPLACE"]
"""A folder for this run's files."""
