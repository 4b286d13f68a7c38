"""Why nobody was signed in, in the reader's language: what was tried, what happened, what to do."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from naru.stores.secrets.redact import REDACTOR

_TRIED = {
    "en": ("Not signed in", "Naru tried to sign you in with {issuer}.", "Back to the console"),
    "ko": ("로그인하지 못했습니다", "{issuer} 계정으로 Naru에 로그인하려고 했습니다.", "콘솔로 돌아가기"),
}
_SAID = {"en": "In detail:", "ko": "자세한 내용:"}
REASONS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "not_waited": {
        "en": (
            "This browser did not begin this sign-in, or it is over: it was used already, or another one was begun "
            "after it.",
            "Begin again in the console. If you did not begin one yourself, close this page: somebody sent you here.",
        ),
        "ko": (
            "이 브라우저에서 시작한 로그인이 아니거나, 이미 끝났거나, 그 뒤에 다른 로그인을 시작했습니다.",
            "콘솔에서 다시 시작하세요. 직접 시작하지 않았다면 누군가 이 주소를 보낸 것이니 이 페이지를 닫으세요.",
        ),
    },
    "late": {
        "en": ("The sign-in took longer than ten minutes.", "Begin again in the console."),
        "ko": ("로그인이 10분을 넘었습니다.", "콘솔에서 다시 시작하세요."),
    },
    "mixed_up": {
        "en": (
            "The answer does not come from {issuer}.",
            "Begin again in the console; if it happens again, tell an admin: server.oauth.issuer must be the issuer's "
            "own name.",
        ),
        "ko": (
            "{issuer}에서 온 답이 아닙니다.",
            "콘솔에서 다시 시작하세요. 되풀이되면 관리자에게 알리세요. server.oauth.issuer는 발급자 자신의 이름이어야 "
            "합니다.",
        ),
    },
    "denied": {
        "en": (
            "{issuer} says no: you did not agree, or may not use Naru there.",
            "Begin again and agree, or ask who runs {issuer} to let you use Naru; a key works without it.",
        ),
        "ko": (
            "{issuer}에서 거절했습니다. 동의하지 않았거나 그곳에서 Naru를 쓸 권한이 없습니다.",
            "다시 시작해 동의하거나, {issuer} 관리자에게 권한을 요청하세요. 키로는 바로 로그인할 수 있습니다.",
        ),
    },
    "refused": {
        "en": (
            "{issuer} did not sign you in.",
            "Tell an admin what it says: mostly the client of server.oauth.client_id is set up otherwise there "
            "(redirect URI, scopes).",
        ),
        "ko": (
            "{issuer}에서 로그인해 주지 않았습니다.",
            "아래 내용을 관리자에게 알리세요. 대개 server.oauth.client_id의 등록(redirect URI, scope)이 다릅니다.",
        ),
    },
    "unreachable": {
        "en": (
            "{issuer} does not answer Naru.",
            "Try again in a moment; if it stays so, tell an admin: this machine must reach the issuer. A key works "
            "without it.",
        ),
        "ko": (
            "{issuer}에서 Naru에 대답하지 않습니다.",
            "잠시 뒤에 다시 하세요. 계속되면 관리자에게 알리세요. 이 컴퓨터에서 발급자에 닿아야 합니다. 키로는 바로 "
            "로그인할 수 있습니다.",
        ),
    },
    "no_token": {
        "en": (
            "{issuer} gave nothing for the code that came back: it was used before or is too old, or the issuer does "
            "not know Naru's client by this secret.",
            "Begin again in the console; if it happens again, tell an admin: check server.oauth.client_id and "
            "client_secret.",
        ),
        "ko": (
            "{issuer}에서 돌아온 코드를 받아 주지 않았습니다. 이미 쓴 코드이거나 오래되었거나, 클라이언트의 비밀 값이 "
            "다릅니다.",
            "콘솔에서 다시 시작하세요. 되풀이되면 관리자에게 알리세요. server.oauth.client_id와 client_secret을 "
            "확인합니다.",
        ),
    },
    "wrong_token": {
        "en": (
            "{issuer} gave an ID token that is not good here.",
            "Begin again in the console; if it happens again, tell an admin what is said below.",
        ),
        "ko": (
            "{issuer}에서 준 ID 토큰을 여기서는 쓸 수 없습니다.",
            "콘솔에서 다시 시작하세요. 되풀이되면 아래 내용을 관리자에게 알리세요.",
        ),
    },
    "clock": {
        "en": (
            "The clocks of {issuer} and of this machine are too far apart.",
            "Tell an admin: set the clock of the machine that Naru runs on by a time server.",
        ),
        "ko": (
            "{issuer}의 시계와 이 컴퓨터의 시계가 너무 다릅니다.",
            "관리자에게 알리세요. Naru가 실행되는 컴퓨터의 시계를 시간 서버에 맞춰야 합니다.",
        ),
    },
    "no_role": {
        "en": (
            "{issuer} knows you, and nothing that it says of you is a role here.",
            "Ask an admin to give you one: a group that server.oauth.roles maps, or a scope of server.oauth.",
        ),
        "ko": (
            "{issuer} 계정은 확인했지만, 여기서 쓸 역할이 없습니다.",
            "관리자에게 역할을 요청하세요. server.oauth.roles에 있는 그룹이나 server.oauth의 scope면 됩니다.",
        ),
    },
}
POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_PAGE = (
    "<!doctype html><html lang={language}><meta charset=utf-8>"
    "<meta name=viewport content='width=device-width, initial-scale=1'><meta name=color-scheme content='light dark'>"
    "<title>{title} · Naru</title><link rel=stylesheet href='{root}/console/style.css'>"
    "<header id=side><a class=brand href='{root}/'><img src='{root}/console/icon.svg' alt='' width=28 height=28>"
    "<b>Naru</b> <span lang=ko>나루</span></a></header>"
    "<main><div class=head><h1>{title}</h1></div><div class='card notice' role=alert><p>{tried}</p>"
    "<p><strong>{happened}</strong></p><p>{remedy}</p>{detail}</div>"
    "<p><a href='{root}/{page}'>{back}</a></p></main></html>"
)


class RefusedError(Exception):
    """Nobody was signed in, for one of `REASONS`."""

    def __init__(self, code: str, said: str = "") -> None:
        super().__init__(f"{code}: {said}" if said else code)
        self.code = code
        self.said = said
        """Details, in the words of whoever said them."""


def page_of(error: RefusedError, *, issuer: str, language: str, root: str, page: str) -> str:
    """Return the page that says it; `root` and `page` lead back to the console."""
    title, tried, back = _TRIED[language]
    happened, remedy = REASONS[error.code][language]
    said = escape(REDACTOR.clean(error.said))
    return _PAGE.format(
        language=language,
        title=title,
        tried=tried.format(issuer=escape(issuer)),
        happened=happened.format(issuer=escape(issuer)),
        remedy=remedy.format(issuer=escape(issuer)),
        detail=f"<p class=soft>{_SAID[language]} {said}</p>" if said else "",
        root=root,
        page=escape(page),
        back=back,
    )
