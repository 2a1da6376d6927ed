"""Imports what the command `serve` imports, into the process from which others are forked."""

from __future__ import annotations

import gc
from importlib import import_module

from service.cli.program import without_unwanted

with without_unwanted():
    import_module("service.__main__")
    import_module("service.cli.serve")

gc.collect()
gc.freeze()
