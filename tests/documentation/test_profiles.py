"""docs/profiles.md has a test for every rule, and no test names a rule that does not exist."""

from __future__ import annotations

from scripts.docs.profiles import REPOSITORY, marked_tests
from service.clients.rules.profiles import RULES


def test_every_rule_has_a_test() -> None:
    assert {rule.name for rule in RULES} == marked_tests().keys()


def test_a_rule_for_requests_has_a_test_of_requests() -> None:
    tests = marked_tests()
    for rule in RULES:
        if rule.enforced:
            files = [path.as_posix() for path in tests[rule.name]]
            assert any("tests/config/" not in path for path in files), rule.name


def test_the_files_that_enforce_a_rule_exist() -> None:
    assert all((REPOSITORY / path).is_file() for rule in RULES for path in rule.enforced)
