// Why a server is not usable, in Korean: by the code of its failure, since the hub's own sentences are English and hold details.
import { isKorean, t } from "./text.js";

// What is wrong, and what to do; a test holds that every code of the hub has its line.
const korean = {
  bad_argument: ["실행할 수 없는 글자가 명령이나 인자에 있습니다.", "명령과 인자를 고치세요."],
  bad_config: ["설정이 올바르지 않습니다.", "서버 항목을 편집해 고치세요."],
  busy: ["서버가 바쁩니다.", "잠시 뒤에 다시 시도하세요."],
  closed: ["연결이 닫혔습니다.", "다시 연결하고, 로그에서 이유를 확인하세요."],
  command_not_found: ["프로그램을 찾을 수 없습니다.", "프로그램을 설치하거나 전체 경로를 적으세요."],
  cut: ["답하는 도중에 연결이 끊겼습니다.", "서버의 로그를 확인하세요."],
  cwd_not_found: ["작업 폴더가 없습니다.", "폴더를 만들거나 cwd를 고치세요."],
  dns: ["주소의 이름을 찾을 수 없습니다.", "URL을 확인하세요."],
  encoding: ["보낸 글자를 읽을 수 없습니다.", "서버가 UTF-8로 답하는지 확인하세요."],
  exited: ["프로그램이 끝났습니다.", "아래 로그에서 이유를 확인하거나 명령을 직접 실행해 보세요."],
  failing: ["호출이 잇따라 실패해 잠시 보내지 않습니다.", "서버의 로그를 확인하고, 잠시 뒤에 다시 시도하세요."],
  forbidden: ["서버가 이 자격을 받아들이지 않습니다.", "헤더의 Authorization이나 auth를 고친 뒤 다시 연결하세요."],
  internal: ["나루 안에서 잘못되었습니다.", "나루의 로그를 확인하세요."],
  killed: ["프로그램이 강제로 끝났습니다.", "아래 로그와 메모리 한도를 확인하세요."],
  no_token: ["인증 서버에서 토큰을 받지 못했습니다.", "인증 서버와 auth 설정을 확인하세요."],
  noise: ["표준 출력에 JSON-RPC가 아닌 글이 나옵니다.", "서버가 로그를 stderr로 쓰도록 고치세요."],
  not_connected: ["연결되어 있지 않습니다.", "연결하세요."],
  not_open: ["아직 열리지 않았습니다.", "다시 연결하세요."],
  not_started: ["프로그램을 시작할 수 없습니다.", "명령을 직접 실행해 이유를 확인하세요."],
  protocol: ["MCP 답이 아닌 것이 왔습니다.", "URL이 MCP 서버의 주소인지 확인하세요."],
  redirected: ["서버가 다른 주소로 보냅니다. 자격 정보가 새지 않도록 따라가지 않습니다.", "맞는 주소라면 그 주소를 항목에 적으세요."],
  refused: ["서버에 연결할 수 없습니다.", "서버를 시작하거나 URL을 확인하세요."],
  rpc_error: ["서버가 요청을 거절했습니다.", "서버의 로그를 확인하세요."],
  session_gone: ["서버가 이 세션을 잊었습니다.", "다시 연결하면 새로 시작합니다."],
  silent: ["서버가 대답하지 않습니다.", "서버가 멈추지 않았는지 확인하세요."],
  timeout: ["정해진 시간 안에 대답이 없습니다.", "MCP 서버가 맞는지, 무언가를 기다리고 있지 않은지 확인하세요."],
  tls: ["보안 연결(TLS)에 실패했습니다.", "URL을 확인하고, 자체 인증 기관이라면 caFile에 PEM 파일을 적으세요."],
  too_large: ["답이 너무 큽니다.", "한도를 올리거나 더 적게 요청하세요."],
  unauthorized: ["서버가 로그인을 요구합니다.", "헤더에 올바른 Authorization을, 또는 항목에 auth를 넣고 다시 연결하세요."],
  version: ["프로토콜 버전이 맞지 않습니다.", "서버나 나루를 새 버전으로 올리세요."],
};
const status = (code) => [`서버가 HTTP ${code.slice(5)}로 답했습니다.`, "URL과 서버의 로그를 확인하세요."];
const unknown = ["서버를 쓸 수 없습니다.", "아래 내용을 확인하세요."];

// A failure in the reader's language: what is wrong, what to do, and the hub's own words where those are not them.
export function told(code, message, remedy) {
  if (!isKorean() || !code) return { what: message, todo: remedy };
  const [what, todo] = Object.hasOwn(korean, code) ? korean[code] : code.startsWith("http_") ? status(code) : unknown;
  return { what, todo, original: message };
}

const simple = {
  PENDING: ["notYet", "notYetDo"], CONNECTING: ["isConnecting", "isConnectingDo"],
  DISCONNECTED: ["wasDisconnected", "wasDisconnectedDo"], DISABLED: ["isDisabled", "isDisabledDo"],
};

// What is said of a server that has no failure: by its state, in the reader's language.
export function stateTold(server) {
  const why = server.explanation;
  if (!isKorean()) return { what: why.summary, todo: why.remedy };
  const count = server.toolCount ?? server.tools.length;
  if (server.status === "CONNECTED") return { what: t("connectedWith", { count }), original: why.remedy };
  if (why.isUsable) return { what: t("rests", { count }) };
  const [is, todo] = simple[server.status] ?? [];
  return is ? { what: t(is), todo: why.remedy && t(todo) } : { what: why.summary, todo: why.remedy };
}
