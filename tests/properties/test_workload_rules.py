"""Rules on workloads never confuse two workloads, and never name a configured client or a user (RFC 7523 §3)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from service.model.workload import (
    WorkloadIssuer,
    WorkloadRule,
    can_make,
    encode,
    is_ambiguous,
    make_client_id,
    matches,
)

LABEL = st.text("abcxyz019-", min_size=1, max_size=12)
NAME = st.text("abcxyz019.-", min_size=1, max_size=12)
VALUE = st.text(min_size=1, max_size=12)
FIXED = st.text("abc.-_:/", max_size=4)
SEPARATOR = st.sampled_from(":/")
ACCOUNTS = st.tuples(LABEL, NAME)

CLUSTER = WorkloadIssuer(
    name="cluster",
    kind="kubernetes",
    issuer="https://cluster.example",
    rules=(
        WorkloadRule(
            subject="system:serviceaccount:*:*", client_id="{namespace}.{name}", template="t"
        ),
    ),
)


def subject_of(account: tuple[str, str]) -> dict[str, object]:
    return {"sub": "system:serviceaccount:{}:{}".format(*account)}


@given(text=VALUE, separator=SEPARATOR)
def test_a_subject_without_a_star_fits_itself_alone(text: str, separator: str) -> None:
    pattern = text.replace("*", "x")
    assert matches(pattern, text, separator) is (pattern == text)


@given(begin=VALUE, middle=VALUE, end=VALUE, separator=SEPARATOR)
def test_a_star_stands_for_something_within_one_segment(
    begin: str, middle: str, end: str, separator: str
) -> None:
    begin, end = begin.replace("*", ""), end.replace("*", "")
    within = separator not in middle
    assert matches(f"{begin}*{end}", begin + middle + end, separator) is within
    assert not matches(f"{begin}*{end}", begin + end, separator)


@given(values=st.tuples(VALUE, VALUE))
def test_different_values_are_encoded_differently(values: tuple[str, str]) -> None:
    first, second = values
    assert (encode(first) == encode(second)) is (first == second)
    assert encode(first).isascii()
    assert "_" not in encode(first)


@given(accounts=st.tuples(ACCOUNTS, ACCOUNTS))
def test_two_service_accounts_never_share_a_client(
    accounts: tuple[tuple[str, str], tuple[str, str]],
) -> None:
    first, second = (CLUSTER.find_workload(subject_of(account)) for account in accounts)
    assert first is not None
    assert second is not None
    assert (first.name == second.name) is (accounts[0] == accounts[1])


@given(account=ACCOUNTS)
def test_a_made_client_is_found_again_by_its_id(account: tuple[str, str]) -> None:
    made = CLUSTER.find_workload(subject_of(account))
    assert made is not None
    assert CLUSTER.find_template(made.name) == "t"


@given(
    fixed=st.tuples(FIXED, FIXED, FIXED),
    ours=st.tuples(VALUE, VALUE),
    theirs=st.tuples(VALUE, VALUE),
)
def test_a_pattern_that_is_not_ambiguous_tells_all_values_apart(
    fixed: tuple[str, str, str], ours: tuple[str, str], theirs: tuple[str, str]
) -> None:
    pattern = "{}{{a}}{}{{b}}{}".format(*fixed)
    first, second = (
        make_client_id(pattern, dict(zip("ab", values, strict=True))) for values in (ours, theirs)
    )
    if first is None or second is None:
        return
    assert can_make(pattern, first)
    if not is_ambiguous(pattern):
        assert (first == second) is (ours == theirs)


@given(sub=st.text(max_size=60))
def test_no_subject_is_a_service_account_by_accident(sub: str) -> None:
    spiffe = replace(CLUSTER, kind="spiffe", trust_domain="example.org", issuer=None)
    assert CLUSTER.find_workload({"sub": sub}) is None
    assert spiffe.find_workload({"sub": sub}) is None
