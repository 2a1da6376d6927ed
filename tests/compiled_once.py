"""Compiles the tests before the workers of pytest-xdist start, which would each do it, because all begin at the same time."""

from __future__ import annotations

import pytest
from _pytest.assertion.rewrite import (
    PYC_TAIL,
    _rewrite_test,
    _write_pyc,
    assertstate_key,
    get_cache_dir,
)


def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """Write the code of each test module, with what explains its assertions, to where pytest looks for it.

    One that was compiled before is left to the worker that finds it changed.
    """
    state = config.stash[assertstate_key]
    if state.hook is None:
        return
    root = config.rootpath
    folders = [root / arg.partition("::")[0] for arg in config.args]
    for file in {file for folder in folders for file in folder.rglob("*.py")}:
        compiled = get_cache_dir(file) / (file.stem + PYC_TAIL)
        name = ".".join(file.with_suffix("").parts[len(root.parts) :])
        if not compiled.exists() and state.hook._should_rewrite(name, str(file), state):  # noqa: SLF001
            compiled.parent.mkdir(parents=True, exist_ok=True)
            source_hash, code = _rewrite_test(file, config)
            _write_pyc(state, code, source_hash, compiled)
