"""Imports what the command `serve` imports, into the process from which others are forked."""

from __future__ import annotations

import gc
from importlib import import_module

from service.cli.importing import without_unwanted

with without_unwanted():
    import_module("service.__main__")
    import_module("service.cli.serve")
    import_module("service.cli.serving")
    import_module("service.start.load")
    import_module("fakeredis")

gc.collect()
gc.freeze()
