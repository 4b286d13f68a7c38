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
  elsewhere: ["이 프로그램은 모든 허브를 위해 다른 허브에서 한 번만 실행되는데, 그 허브와 이야기할 수 없었습니다.", "곧 다른 허브가 이어받습니다."],
  held: ["이 프로그램은 모든 허브를 위해 한 번만 실행되는데, 실행하는 허브를 찾지 못했습니다.", "다시 시도하세요. 허브들의 hub.replica_address로 서로 닿을 수 있어야 합니다."],
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
  unauthorized: ["서버가 로그인을 요구합니다.", "로그인하거나, 헤더에 올바른 Authorization을, 또는 항목에 auth를 넣고 다시 연결하세요."],
  insufficient_scope: ["서버가 더 많은 권한을 요구합니다.", "다시 로그인하면 그 권한도 요청합니다."],
  sign_in_refused: ["서버의 로그인 안내를 믿을 수 없거나 로그인이 거부되었습니다.", "메시지가 이유를 알려 줍니다."],
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

// What an API refusal's code means; a test holds that every code of the reference has its line.
const refusals = {
  bad_body: "보낸 내용을 읽을 수 없습니다. 메시지가 가리키는 곳을 고치세요.",
  bad_host: "이 이름으로는 열지 않습니다. server.allowed_hosts에 이름을 더하세요.",
  bad_origin: "다른 사이트의 페이지가 불렀습니다. server.allowed_origins에 더하세요.",
  body_too_large: "내용이 너무 큽니다. 줄이거나 server.max_body_bytes를 올리세요.",
  collection_missing: "문서 모음이 없습니다. naru data index로 채우세요.",
  config_error: "설정이 잘못되었습니다. naru validate가 모두 보여 줍니다.",
  conflict: "이름이 이미 있거나 그사이 바뀌었습니다. 다시 읽고 되풀이하세요.",
  connection_failed: "서버에 연결하지 못했습니다. naru servers explain으로 이유를 보세요.",
  database_unavailable: "데이터베이스에 닿을 수 없습니다. 시작하면 저절로 다시 연결합니다.",
  dependency_failed: "도구에 필요한 것을 마련하지 못했습니다.",
  embedder_mismatch: "다른 임베딩 모델로 만든 모음입니다. 다시 색인하세요.",
  embedding_failed: "임베딩에 실패했습니다. 주소와 모델 이름을 확인하세요.",
  forbidden: "허용되지 않습니다. 관리자에게 묻거나 승인 또는 설정을 바꾸세요.",
  headers_too_large: "헤더가 너무 큽니다.",
  internal_error: "나루 안에서 잘못되었습니다. 로그를 확인하세요.",
  invalid_arguments: "인자가 도구의 형식에 맞지 않습니다.",
  invalid_request: "요청이 잘못되었습니다.",
  key_in_url: "주소에 키가 있습니다. 헤더로 보내고 새 키를 만드세요.",
  method_not_allowed: "이 주소에서는 할 수 없는 방법입니다.",
  model_error: "모델이 답하지 못했습니다.",
  naru_error: "할 수 없었습니다.",
  no_key: "키가 필요합니다.",
  not_connected: "서버에 연결되어 있지 않습니다.",
  not_found: "없는 이름입니다.",
  precondition_failed: "그사이 바뀌었습니다. 다시 읽고 되풀이하세요.",
  query_failed: "질의가 실패했습니다.",
  rpc_error: "서버가 거절했습니다.",
  server_busy: "서버가 바쁩니다. 잠시 뒤에 다시 하세요.",
  several_credentials: "키를 하나만 보내세요.",
  statement_refused: "읽기만 하는 SELECT 하나만 됩니다.",
  stopping: "나루가 멈추는 중입니다.",
  store_error: "저장하지 못했습니다. 디스크나 파일을 확인하세요.",
  store_unavailable: "저장소의 데이터베이스에 닿을 수 없습니다.",
  too_many_requests: "너무 자주 요청했습니다. 잠시 기다리세요.",
  tool_error: "도구가 실패했습니다.",
  tool_timeout: "도구가 제때 답하지 않았습니다. 실행되었을 수도 있습니다.",
  unknown_tool: "그런 도구가 없습니다.",
  unsafe_database: "읽기만 하는 역할이 필요합니다.",
  unserialisable_result: "결과를 전할 수 없는 형식입니다.",
  unsupported_part: "이 모델이 받지 않는 그림, 소리, 파일이 있습니다.",
  unusable_body: "쓸 수 없는 항목이 있습니다.",
  upstream_error: "상대 서버가 실패했습니다.",
  user_error: "요청을 할 수 없습니다.",
  variable_not_set: "환경 변수가 없습니다.",
  vector_store_failed: "벡터 저장소가 실패했습니다.",
  wrong_content_type: "JSON으로 보내야 합니다.",
  wrong_key: "키가 맞지 않습니다.",
};
export const refusal = (code) => (Object.hasOwn(refusals, code) ? refusals[code] : undefined);

const simple = {
  PENDING: ["notYet", "notYetDo"], CONNECTING: ["isConnecting", "isConnectingDo"],
  DISCONNECTED: ["wasDisconnected", "wasDisconnectedDo"], DISABLED: ["isDisabled", "isDisabledDo"],
};

// What is said of a server that has no failure: by its state, in the reader's language.
export function stateTold(server) {
  const why = server.explanation;
  const count = server.toolCount ?? server.tools.length; // what is offered to whoever looks, not all that it has
  if (server.status === "CONNECTED") return { what: t("connectedWith", { count }) };
  if (!isKorean()) return { what: why.summary, todo: why.remedy };
  if (why.isUsable) return { what: t("rests", { count }) };
  const [is, todo] = simple[server.status] ?? [];
  return is ? { what: t(is), todo: why.remedy && t(todo) } : { what: why.summary, todo: why.remedy };
}
