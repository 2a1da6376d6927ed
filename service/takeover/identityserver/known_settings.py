"""The properties of clients, resources and providers of IdentityServer3, 4 and Duende, and what becomes of each; keys in lower case."""

from __future__ import annotations

from service.takeover.settings import Notice, Settings

_ROW = frozenset({"id", "created", "updated", "lastaccessed", "noneditable"})
"""Columns of every table, which say nothing to clients."""
_PROPERTIES = Notice("properties of your own", "see extending.md, if a program here reads them")

CLIENT = Settings(
    read=frozenset(
        {
            *("clientid", "protocoltype", "clientname", "clienturi", "logouri", "enabled"),
            *("frontchannellogouturi", "backchannellogouturi", "initiateloginuri", "logouturi"),
            *("allowrememberconsent", "allowplaintextpkce", "requirerequestobject"),
            *("requirepushedauthorization", "requiredpop", "dpopvalidationmode"),
            *("frontchannellogoutsessionrequired", "backchannellogoutsessionrequired"),
            *("alwaysincludeuserclaimsinidtoken", "updateaccesstokenclaimsonrefresh"),
            *("enablelocallogin", "alwayssendclientclaims", "accesstokenlifetime"),
            *("identitytokenlifetime", "authorizationcodelifetime", "consentlifetime"),
            *("slidingrefreshtokenlifetime", "absoluterefreshtokenlifetime", "userssolifetime"),
            *("pushedauthorizationlifetime", "devicecodelifetime", "redirecturis"),
            *("postlogoutredirecturis", "allowedcorsorigins", "clientsecrets"),
            *("requireclientsecret", "requireconsent", "requirepkce", "allowedgranttypes"),
            *("allowedscopes", "allowofflineaccess", "allowaccesstokensviabrowser"),
            *("allowedidentitytokensigningalgorithms", "accesstokentype", "refreshtokenusage"),
            *("refreshtokenexpiration", "identityproviderrestrictions", "claims"),
            *("clientclaimsprefix", "prefixclientclaims", "properties"),
            *("flow", "allowedcustomgranttypes", "allowclientcredentialsonly"),
            *("allowaccesstoallscopes", "logoutsessionrequired"),
        }
    ),
    idle=_ROW | {"description", "includejwtid", "requiresignoutprompt"},
    reported={
        "pairwisesubjectsalt": Notice(
            "pairwise subjects are computed from pairwise_salt, for all clients"
        ),
        "usercodetype": Notice("user codes have one form here"),
        "pollinginterval": Notice("the interval of polls is that of this service"),
        "cibalifetime": Notice("the lifetime of CIBA requests is that of this service"),
        "dpopclockskew": Notice(
            "how far clocks may differ is the same for all DPoP proofs", usual=("00:05:00",)
        ),
        "coordinatelifetimewithusersession": Notice(
            "refresh tokens end with the session only where offline_access is not needed for them"
        ),
        "allowaccesstoallcustomgranttypes": Notice(
            "each grant of your own has to be named", "add them to allowed_grant_types"
        ),
        "configurationprofiles": Notice(
            "profiles that the client has to follow", "write profile, such as fapi2_security"
        ),
        "profile": Notice(
            "a profile of ASP.NET Core's API authorization", "write out what it stands for"
        ),
    },
)
SCOPE = Settings(
    read=frozenset(
        {
            *("name", "displayname", "description", "required", "emphasize", "enabled"),
            *("showindiscoverydocument", "userclaims", "claims", "type", "scopesecrets"),
            *("includeallclaimsforuser", "apiresourceid"),
        }
    ),
    idle=_ROW,
    reported={
        "properties": _PROPERTIES,
        "claimsrule": Notice("a rule of your own for claims", "list the claims in user_claims"),
        "allowunrestrictedintrospection": Notice(
            "it may introspect tokens that are not for it",
            "add it to the APIs that the tokens are for",
        ),
    },
)
API = Settings(
    read=frozenset(
        {
            *("name", "displayname", "enabled", "apisecrets", "secrets", "scopes", "userclaims"),
            *("requireresourceindicator", "allowedaccesstokensigningalgorithms"),
        }
    ),
    idle=_ROW | {"description", "showindiscoverydocument"},
    reported={"properties": _PROPERTIES},
)
PROVIDER = Settings(
    read=frozenset(
        {
            *("scheme", "displayname", "enabled", "type", "properties", "authority", "clientid"),
            *("clientsecret", "scope"),
        }
    ),
    idle=_ROW | {"usepkce", "getclaimsfromuserinfoendpoint"},
    reported={
        "responsetype": Notice("a provider is asked for a code", usual=("code",)),
    },
)
OPTIONS = frozenset(
    {
        *("authentication", "endpoints", "discovery", "cors", "inputlengthrestrictions"),
        *("mutualtls", "dpop", "keymanagement", "serversidesessions", "deviceflow", "ciba"),
        *("pushedauthorization", "persistentgrants", "validation"),
        *("emitstaticaudienceclaim", "emitscopesasspacedelimitedstringinjwt", "caching"),
        *("accesstokenjwttype", "logouttokenjwttype", "strictjarvalidation", "csp"),
        *("emitissueridentificationresponseparameter", "emitstatehash", "userinteraction"),
        *("dynamicproviders", "jwtvalidationclockskew", "supportedrequestobjectsigningalgorithms"),
        *("supportedclientassertionsigningalgorithms", "preview"),
    }
)
"""Options of the server; other settings of the file are the application's own."""
