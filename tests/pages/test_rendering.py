"""Pages: the contract's element ids, forms that work without a script, labels and languages (RFC 9110 §12.5.4)."""

from __future__ import annotations

from urllib.parse import unquote

import pytest

from tests.pages.screens import LANGUAGES, SCREENS, Browser, Elements, each_screen, policy_of

pytestmark = pytest.mark.rfc("9110#12.5.4")

IDS = {
    "login.html": {"passkey", "username", "password", "remember", "login", "cancel", "login-error"},
    "not_allowed.html": {"not-allowed", "account-other", "cancel"},
    "select_account.html": {"account-continue", "account-other", "cancel"},
    "consent.html": {"consent-allow", "consent-deny", "remember"},
    "second_factor.html": {"passkey", "use-another-method", "cancel", "login-error"},
    "recovery_code_used.html": {"recovery-codes-left", "continue"},
    "request.html": {"request-allow", "request-deny", "binding-message"},
    "requests.html": {"request-done"},
    "device.html": {"user_code", "device-continue", "device-error"},
    "device_confirm.html": {"device-allow", "device-deny"},
    "device_done.html": {"device-done"},
    "logout.html": {"logout-confirm"},
    "logged_out.html": {"logout-success"},
    "error.html": {"error", "error-description", "request-id"},
    "account.html": {"logout"},
    "add_factor.html": {"otp", "totp-secret", "totp-qr", "use-another-method", "login-error"},
    "recovery_codes.html": {"recovery-codes", "continue"},
    "security.html": {"add-passkey", "recovery-codes-left", "login-error"},
}


@each_screen
def test_a_screen_has_the_contracts_ids_once(browser: Browser, template: str) -> None:
    ids = Elements(browser.sees(template)).ids()
    assert IDS[template] <= set(ids)
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_screen_says_its_language_and_direction(browser: Browser, language: str) -> None:
    for template in SCREENS:
        page = browser.sees(template, accept=f"{language}, en;q=0.1")
        (html,) = Elements(page).every("html")
        assert html == {"lang": language, "dir": "rtl" if language == "ar" else "ltr"}
        assert page.headers["Content-Language"] == language


@each_screen
def test_a_screen_runs_no_script_but_ours_and_fetches_nothing_foreign(
    browser: Browser, template: str
) -> None:
    elements = Elements(browser.sees(template))
    for script in elements.every("script"):
        assert script["src"].startswith(("/auth/static/page.", "/auth/static/passkeys."))
    assert policy_of(browser.sees(template))["script-src"] == ["'self'"]
    assert not any(
        name.startswith("on") or name == "style" for _, a in elements.found for name in a
    )
    assert {a["href"].split("/")[1] for a in elements.every("link")} == {"auth"}


@each_screen
def test_a_clients_own_texts_are_escaped(browser: Browser, template: str) -> None:
    text = browser.sees(template).text or ""
    assert "<Web>" not in text
    assert "javascript:" not in text


@each_screen
def test_every_form_carries_the_anti_forgery_value(browser: Browser, template: str) -> None:
    elements = Elements(browser.sees(template))
    posts = elements.every("form", method="post")
    assert len(elements.every("input", name="csrf", value="anti-forgery")) == len(posts)
    assert all(form["action"].startswith(("/auth/account", "/auth/device")) for form in posts)


@each_screen
def test_every_field_has_a_label(browser: Browser, template: str) -> None:
    text = browser.sees(template).text or ""
    for field in Elements(browser.sees(template)).every("input"):
        if field.get("type") in {"text", "password"}:
            assert f'<label for="{field["id"]}">' in text


def test_kind_of_a_factor_is_shown_only_next_to_its_name(browser: Browser) -> None:
    text = browser.sees("security.html").text or ""
    assert "<h3><bdi>Passkey</bdi></h3>" in text
    assert ("Authenticator app ·" in text, "Passkey ·" in text) == (True, False)


def test_a_provider_is_a_link(browser: Browser) -> None:
    links = Elements(browser.sees("login.html")).every("a", **{"data-idp": "google"})
    assert [link["href"] for link in links] == ["/external/google"]


def test_a_failed_login_points_its_fields_to_the_error(browser: Browser) -> None:
    fields = Elements(browser.sees("login.html")).every("input", **{"aria-invalid": "true"})
    assert [(f["id"], f["aria-describedby"]) for f in fields] == [
        ("username", "login-error"),
        ("password", "login-error"),
    ]


def test_a_login_without_an_error_has_no_alert(browser: Browser) -> None:
    assert "login-error" not in Elements(browser.sees("login.html", error=None)).ids()


@each_screen
def test_elements_that_need_a_script_are_hidden_without_one(
    browser: Browser, template: str
) -> None:
    elements = Elements(browser.sees(template))
    for button in elements.every("button", type="button"):
        assert "hidden" in button


def test_the_login_page_links_to_a_new_password_and_a_new_account() -> None:
    links = {"forgot_password": "https://acme.example/pw", "register": "https://acme.example/new"}
    page = Elements(Browser(links=links).sees("login.html"))
    assert page.every("a", id="forgot-password")[0]["href"] == "https://acme.example/pw"
    assert page.every("a", id="register")[0]["href"] == "https://acme.example/new"


def test_the_security_page_links_to_where_a_password_is_changed() -> None:
    links = {"change_password": "https://acme.example/pw"}
    with_link = Elements(Browser(links=links).sees("security.html", has_password=True))
    assert with_link.every("a", id="change-password")[0]["href"] == "https://acme.example/pw"
    for page in (
        Browser(links=links).sees("security.html", has_password=False),
        Browser().sees("security.html", has_password=True),
    ):
        assert "change-password" not in Elements(page).ids()


def test_recovery_codes_can_be_downloaded_without_a_script(browser: Browser) -> None:
    (link,) = Elements(browser.sees("recovery_codes.html")).every("a", id="download")
    kind, _, text = str(link["href"]).partition(",")
    assert (kind, link["download"]) == ("data:text/plain;charset=utf-8", "recovery-codes.txt")
    codes = SCREENS["recovery_codes.html"]["codes"]
    assert unquote(text).split()[-len(codes) :] == codes


@pytest.mark.parametrize("template", ["account.html", "security.html", "requests.html"])
def test_the_pages_of_the_account_link_to_each_other(browser: Browser, template: str) -> None:
    links = {link["href"] for link in Elements(browser.sees(template)).every("a")}
    paths = ("/auth/account", "/auth/account/security", "/auth/account/requests")
    assert links.issuperset(paths)


def test_without_a_local_login_there_is_no_password_to_forget() -> None:
    page = Browser(links={"forgot_password": "https://acme.example/pw"}).sees(
        "login.html", local_login=False
    )
    assert "forgot-password" not in Elements(page).ids()


@pytest.mark.parametrize("template", ["login.html", "consent.html", "select_account.html"])
def test_links_of_a_client_stand_below_its_name(browser: Browser, template: str) -> None:
    text = browser.sees(template).text or ""
    _, _, foot = text.partition('<footer class="links">')
    assert foot.split("<ul>")[0].strip() == "<p><bdi>&lt;Web&gt; &amp; more</bdi></p>"


def test_an_option_that_is_not_offered_is_absent(browser: Browser) -> None:
    page = browser.sees("login.html", local_login=False, can_cancel=False)
    assert not {"username", "password", "remember", "login", "cancel"} & set(Elements(page).ids())


def test_every_scope_is_ticked_and_a_required_one_stays_so(browser: Browser) -> None:
    boxes = Elements(browser.sees("consent.html")).every("input", name="scope")
    assert {box["value"] for box in boxes} == {"openid", "email", "api1", "offline_access"}
    assert all("checked" in box for box in boxes)
    assert [box["value"] for box in boxes if "disabled" in box] == ["openid"]


def test_consent_that_may_not_be_remembered_has_no_such_box(browser: Browser) -> None:
    page = browser.sees("consent.html", can_remember=False)
    assert "remember" not in Elements(page).ids()


def test_a_session_shows_the_users_device(browser: Browser) -> None:
    assert "Firefox on Linux" in (browser.sees("account.html").text or "")
    assert "Firefox auf Linux" in (browser.sees("account.html", accept="de").text or "")


def test_logging_out_goes_on_without_a_script(browser: Browser) -> None:
    page = browser.sees("logged_out.html", continue_uri="https://web.example/bye?a=1&b=2")
    refresh = Elements(page).every("meta", **{"http-equiv": "refresh"})
    assert [meta["content"] for meta in refresh] == ["0; url=https://web.example/bye?a=1&b=2"]


@pytest.mark.parametrize(
    ("ui_locales", "accept", "language"),
    [
        pytest.param("fr de", "es", "fr", id="the request's wish comes first"),
        pytest.param("eo", "es", "es", id="then the browser's"),
        pytest.param("de_AT", "es", "de", id="a region falls back to its language"),
        pytest.param("zh-CN", "es", "zh-Hans", id="a country reads the script of its language"),
        pytest.param("zh-TW", "es", "es", id="another script is another language"),
        pytest.param("pt", "es", "pt-BR", id="a language is read in another country"),
        pytest.param(None, "pt-PT, en;q=0.9", "pt-BR", id="before a language that weighs less"),
        pytest.param(None, "en;q=0.2, DE;q=0.7", "de", id="the heavier weight wins"),
        pytest.param(None, "de;q=0, *", "en", id="a weight of nothing is a refusal"),
        pytest.param(None, "de;q=many", "en", id="a broken weight counts as none"),
        pytest.param(None, "", "en", id="the default"),
        pytest.param("../../etc \x00 -", ";;,=,-;q", "en", id="nonsense"),
    ],
)
def test_the_language_is_negotiated(
    browser: Browser, ui_locales: str | None, accept: str, language: str
) -> None:
    request = browser.request(**{"Accept-Language": accept})
    page = browser.pages.render(
        request, "error.html", ui_locales=ui_locales, context={"error": "x"}
    )
    assert page.fields.headers["Content-Language"] == language


def test_removing_access_is_confirmed_without_a_script(browser: Browser) -> None:
    text = browser.sees("account.html").text or ""
    _, _, question = text.partition("<details")
    assert (
        question.index("<summary") < question.index('value="revoke"') < question.index("</details>")
    )


def test_claim_values_are_escaped(browser: Browser) -> None:
    text = browser.sees("consent.html").text or ""
    assert "<b>&lt;alice&gt;@example.com</b>" in text
    assert "<b>2000-01-01</b>" in text


@each_screen
def test_values_keep_their_direction_in_text_from_right_to_left(
    browser: Browser, template: str
) -> None:
    english, arabic = (browser.sees(template, accept=tag).text or "" for tag in ("en", "ar"))
    assert "\N{FIRST STRONG ISOLATE}" not in english
    assert '="\N{FIRST STRONG ISOLATE}' not in arabic
    if template in {"login.html", "consent.html", "logout.html"}:
        assert "\N{FIRST STRONG ISOLATE}&lt;Web&gt; &amp; more\N{POP DIRECTIONAL ISOLATE}" in arabic


def test_a_long_list_shows_five_and_says_how_many_more(browser: Browser) -> None:
    (session,) = SCREENS["account.html"]["sessions"]
    for count, more in ((5, 0), (8, 3)):
        text = browser.sees("account.html", accept="de", sessions=[session] * count).text or ""
        assert text.count("data-session=") == count
        assert (f"{more} weitere anzeigen" in text) == bool(more)
