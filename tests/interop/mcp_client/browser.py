"""Stands for a browser where a program opens one (`BROWSER`): sends the person of the environment to a URL."""

from __future__ import annotations

import os
import sys

import httpx2

form = {"person": os.environ["PERSON"], "url": sys.argv[1]}
httpx2.post(f"{os.environ['ERRANDS']}/visit", data=form, timeout=60)
