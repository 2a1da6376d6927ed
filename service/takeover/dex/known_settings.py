"""The settings of dex (its types Config, storage.Client and those of its connectors), and what becomes of each; keys in lower case."""

from __future__ import annotations

from service.takeover.settings import Notice, Settings

_NO_ADDRESS = Notice("e-mail is the public one of the profile, and not verified")
_BY_CONNECTOR = Notice(
    "a second factor for users of some connectors only",
    "see mfa.required and required_acr, which count for users of all",
)

ROOT = Settings(
    read=frozenset(
        {
            *("issuer", "storage", "web", "oauth2", "expiry", "frontend", "sessions", "mfa"),
            *("connectors", "staticclients", "enablepassworddb", "staticpasswords"),
        }
    ),
    idle=frozenset({"telemetry", "logger", "signer", "additionalfeatures"}),
    reported={
        "grpc": Notice("clients and users are not changed by an API: see admin and registration")
    },
)
OAUTH2 = Settings(
    read=frozenset(
        {"responsetypes", "skipapprovalscreen", "passwordconnector", "pkce", "granttypes"}
    ),
    idle=frozenset({"alwaysshowloginscreen"}),
    reported={},
)
EXPIRY = Settings(
    read=frozenset({"idtokens", "devicerequests", "refreshtokens"}),
    idle=frozenset({"signingkeys", "authrequests", "garbagecollectionfrequency"}),
    reported={},
)
REFRESH_TOKENS = Settings(
    read=frozenset({"disablerotation", "reuseinterval", "absolutelifetime", "validifnotusedfor"}),
    reported={},
)
WEB = Settings(
    read=frozenset({"allowedorigins"}),
    idle=frozenset(
        {"http", "https", "tlscert", "tlskey", "tlsminversion", "tlsmaxversion", "allowedheaders"}
    ),
    reported={
        "headers": Notice("the headers of responses are those of this service"),
        "clientremoteip": Notice("the proxies that name the address of a client are set by server"),
    },
)
SESSIONS = Settings(
    read=frozenset({"validifnotusedfor", "absolutelifetime"}),
    idle=frozenset({"cookiename", "cookieencryptionkey", "ssosharedwithdefault"}),
    reported={
        "remembermecheckedbydefault": Notice("users choose themselves whether to be remembered")
    },
)
MFA = Settings(read=frozenset({"authenticators", "defaultmfachain"}), reported={})
AUTHENTICATOR = Settings(
    read=frozenset({"id", "type"}),
    idle=frozenset({"config"}),
    reported={"connectortypes": _BY_CONNECTOR},
)
CLIENT = Settings(
    read=frozenset(
        {
            *("id", "idenv", "secret", "secretenv", "redirecturis", "postlogoutredirecturis"),
            *("backchannellogouturi", "refreshtokenlifetime", "trustedpeers", "public", "name"),
            *("logourl", "allowedconnectors", "mfachain", "ssosharedwith"),
            "clientcredentialsclaims",
        }
    ),
    reported={},
)
PASSWORD = Settings(
    read=frozenset(
        {
            *("email", "username", "name", "preferredusername", "emailverified", "userid"),
            *("hash", "hashfromenv", "groups"),
        }
    ),
    reported={},
)
CONNECTOR = Settings(read=frozenset({"type", "name", "id", "config", "granttypes"}), reported={})
_SHARED = frozenset({"clientid", "clientsecret", "redirecturi"})
CONNECTORS = {
    "oidc": Settings(
        read=_SHARED
        | {
            *("issuer", "issueralias", "providerdiscoveryoverrides", "basicauthunsupported"),
            *("scopes", "hosteddomains", "rootcas", "insecureskipemailverified"),
            *("insecureenablegroups", "allowedgroups", "acrvalues", "insecureskipverify"),
            *("useridkey", "usernamekey", "prompttype", "overrideclaimmapping", "claimmapping"),
            "claimmodifications",
        },
        idle=frozenset({"getuserinfo", "pkcechallenge"}),
        reported={},
    ),
    "google": Settings(
        read=_SHARED
        | {"scopes", "hosteddomains", "groups", "serviceaccountfilepath", "prompttype"},
        idle=frozenset({"fetchtransitivegroupmembership", "adminemail", "domaintoadminemail"}),
        reported={},
    ),
    "github": Settings(
        read=_SHARED | {"org", "orgs", "hostname", "rootca", "useloginasid"},
        idle=frozenset({"teamnamefield", "loadallgroups"}),
        reported={"preferredemaildomain": _NO_ADDRESS},
    ),
    "ldap": Settings(
        read=frozenset(
            {
                *("host", "insecurenossl", "insecureskipverify", "starttls", "rootca"),
                *("rootcadata", "clientcert", "binddn", "bindpw", "kerberos", "usersearch"),
                "groupsearch",
            }
        ),
        idle=frozenset({"clientkey"}),
        reported={"usernameprompt": Notice("the texts of the login page are set by ui")},
    ),
}
USER_SEARCH = Settings(
    read=frozenset(
        {
            *("basedn", "filter", "username", "scope", "idattr", "emailattr", "nameattr"),
            *("preferredusernameattr", "emailsuffix"),
        }
    ),
    reported={},
)
GROUP_SEARCH = Settings(
    read=frozenset(
        {
            *("basedn", "filter", "userattr", "groupattr", "recursiongroupattr"),
            *("usermatchers", "nameattr"),
        }
    ),
    reported={
        "scope": Notice(
            "groups are searched in the whole tree below baseDN",
            "write users.ldap.groups.base or filter so that it finds no others",
            usual=("sub",),
        )
    },
)
