"""What looks like a secret in free text, told by its name or its shape: log lines, errors, stderr, URLs (S-34).

Every pattern is bounded where it might look back and forth: text comes from servers, and cleaning is linear in it.
"""

from __future__ import annotations

import re

MASK = "••••"

_NAME = (
    r"(?:token|secret|passw(?:or)?d|passphrase|passcode|(?<=[_-])pass|(?<=[_-])pwd|\bpwd"
    r"|(?:api|access|private|subscription|signing|encryption|account|shared|secret|master)[-_ ]?key"
    r"|session[-_]?id|credentials?|connection[-_]?string)"
)
_NEW = rf"(?!{MASK}|\$\{{(?:(?:env:)?\w{{1,80}}|input:[\w-]{{1,80}})\}}(?![^\s\"',;&\]\\]))"
"""A mask is left alone, and so is the name of a variable, as remedies write it."""
_VALUE = rf"{_NEW}(?!\w{{0,3}}\)(?:\s|\Z))[^\s\"',;&}}\]\\]{{4,}}"
"""Four letters at least; the bracket that ends a remark is none: `(using password: YES)`."""
_WORD = (
    r"(?!(?:extra|fields?|inputs?|values?|missing|must|should|none|null|true|false|string|required|invalid|expected"
    r"|unexpected|unknown|this|type|read|write|admin)\b)"
)
"""What follows a name in messages about it: `token: Extra inputs are not permitted`, `scope="token:read"`."""
_NO_CHALLENGE = r"(?![a-z_]{2,40}=[\"a-z])"
"""`Bearer error="invalid_token"` is what a server asks for (RFC 9110, 11.6.1), not what it was given."""
_SCHEME = r"(?:bearer|basic|negotiate|ntlm|token|api-?key|key|dpop|splunk)"
_GAP = r"[\"'\\]{0,4}\s{0,4}(?:[:=]>?|,)\s{0,4}(?:b(?=[\"']))?[\"'\\]{0,4}"
"""Between a header's name and its value, in a header, a dictionary or a list of pairs."""

_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(\bauthorization{_GAP}(?:digest|hmac|oauth|signature|aws4-hmac-sha256)\s)({_NEW}[^\r\n]{{4,}})",
        rf"(\bauthorization{_GAP}(?:{_SCHEME}\s{{1,4}})?)((?!{_SCHEME}\s){_VALUE})",
        rf"(\bcookie[\"'\\]{{0,4}}\s{{0,4}}[:=,]\s{{0,4}}[\"'\\]{{0,4}})({_NEW}[^\r\n\"']{{4,}})",
        rf"(\b(?:bearer|basic)\s{{1,4}}{_NO_CHALLENGE})((?=[^\s]{{0,400}}[\d._=/+~]|[^\s]{{16}})[A-Za-z0-9._~+/=-]{{6,}})",
        # name: "value with spaces", also escaped, and ('name', 'value') of a list of pairs
        rf"({_NAME}(?:[\"'\\]{{0,4}}\s{{0,4}}[:=]>?\s{{0,4}}|[\"']\s{{0,4}},\s{{0,4}})b?\\?\")({_NEW}[^\"\\\r\n]{{4,}})",
        rf"({_NAME}(?:[\"'\\]{{0,4}}\s{{0,4}}[:=]>?\s{{0,4}}|[\"']\s{{0,4}},\s{{0,4}})b?\\?')({_NEW}[^'\\\r\n]{{4,}})",
        rf"({_NAME}[\"'\\]{{0,4}}\s{{0,4}}[:=]>?\s{{0,4}}(?:{_SCHEME}\s{{1,4}})?)({_WORD}{_VALUE})",
        rf"(--?[\w-]{{0,30}}?{_NAME}\s{{1,4}})((?!-)(?=[^\s\"']{{0,400}}\d|[^\s\"']{{12}})[^\s\"']{{4,}})",
    )
)
_HINT = re.compile(r"(?i)token|secret|pass|pwd|key|cookie|authorization|bearer|basic|session|credential|connection")
_SHAPES = re.compile(
    r"\b(?:sk-[A-Za-z0-9_-]{12,}|[sr]k_(?:live|test)_[A-Za-z0-9]{12,}|naru_[A-Za-z0-9_-]{20,}"
    r"|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|npm_[A-Za-z0-9]{30,}"
    r"|hf_[A-Za-z0-9]{20,}|pypi-[A-Za-z0-9_-]{30,}|dop_v1_[a-f0-9]{30,}|AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{16,}"
    r"|xox[abeprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}|(?:AKIA|ASIA)[A-Z0-9]{16}|SG\.[A-Za-z0-9_-]{16,}"
    r"|eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{0,4000})"
    r"|-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----(?:[^-]|-(?!----))*(?:-----END [A-Z ]{0,20}-----)?"
)
_USERINFO = re.compile(r"(?i)([a-z][a-z0-9+.-]{0,20}://)[^\s/?#\"'<>]*@")
_QUERY = re.compile(
    r"(?i)([?&#](?:[\w-]{0,40}(?:key|token|secret|passw\w{0,4}|auth|sig|signature|credential|session\w{0,4})"
    r"|(?:code|assertion|ticket)(?==[^&\s\"'#]{8}))=)[^&\s\"'#]+"
)


def without_url_secrets(text: str, keep: re.Pattern[str] | None = None) -> str:
    """Mask user info and secret query values of the URLs in a text; a value that `keep` finds stays."""

    def masked(match: re.Match[str]) -> str:
        return match[0] if keep is not None and keep.search(match[0]) else f"{match[1]}{MASK}"

    return _QUERY.sub(masked, _USERINFO.sub(lambda match: f"{match[1]}{MASK}@", text))


def without_shapes(text: str) -> str:
    """Mask what is a secret by its shape alone: keys of known makers, signed tokens, private keys."""
    return _SHAPES.sub(MASK, text)


def without_secrets(text: str) -> str:
    """Mask whatever looks like a secret; linear in the text's length."""
    if "://" in text or "?" in text or "#" in text:
        text = without_url_secrets(text)
    if _HINT.search(text):
        for pattern in _PATTERNS:
            text = pattern.sub(lambda match: f"{match[1]}{MASK}", text)
    return without_shapes(text)
