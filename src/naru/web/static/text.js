// Every word a person reads, in English and Korean; a test holds both complete and none unused.
const words = {
  // pages
  servers: ["Servers", "서버"],
  tools: ["Tools", "도구"],
  play: ["Playground", "놀이터"],
  runs: ["Runs", "실행 기록"],
  inspect: ["Dialects", "방언"],
  models: ["Models", "모델"],
  approvals: ["Approvals", "승인"],
  clients: ["Connect a client", "클라이언트 연결"],
  keys: ["Keys", "키"],
  // the frame
  skip: ["Skip to content", "본문으로 건너뛰기"],
  language: ["한국어", "English"],
  theme: ["Theme", "테마"],
  themeSystem: ["System", "시스템"],
  themeLight: ["Light", "밝게"],
  themeDark: ["Dark", "어둡게"],
  login: ["Sign in with a key", "키로 로그인"],
  loginHint: ["This hub asks for a key. Make one with: naru keys create", "이 허브는 키가 필요합니다. 만들기: naru keys create"],
  key: ["API key", "API 키"],
  signIn: ["Sign in", "로그인"],
  signOut: ["Sign out", "로그아웃"],
  openHub: ["No key is asked for on this machine", "이 컴퓨터에서는 키를 묻지 않습니다"],
  again: ["Try again", "다시 시도"],
  offline: ["The hub does not answer. Is naru serve running?", "허브가 응답하지 않습니다. naru serve가 실행 중인가요?"],
  // everywhere
  search: ["Search", "찾기"],
  save: ["Save", "저장"],
  cancel: ["Cancel", "취소"],
  copy: ["Copy", "복사"],
  copied: ["Copied.", "복사했습니다."],
  saved: ["Saved.", "저장했습니다."],
  all: ["All", "전체"],
  more: ["Show more", "더 보기"],
  shownOf: ["{shown} of {total}", "{total}개 중 {shown}개"],
  nothingFound: ["Nothing matches.", "일치하는 것이 없습니다."],
  name: ["Name", "이름"],
  description: ["Description", "설명"],
  status: ["Status", "상태"],
  yes: ["yes", "예"],
  no: ["no", "아니오"],
  badJson: ["This is not JSON: ", "JSON이 아닙니다: "],
  // servers
  serversLead: ["The MCP servers whose tools Naru carries to models and clients.", "나루가 모델과 클라이언트에 도구를 나르는 MCP 서버들입니다."],
  noServers: ["No server is registered yet.", "아직 등록된 서버가 없습니다."],
  noServersHint: ["Add one here, take over those of other products with naru import, or look at the example with naru serve --demo.", "여기에서 추가하거나, naru import로 다른 제품의 서버를 가져오거나, naru serve --demo로 예제를 보세요."],
  add: ["Add a server", "서버 추가"],
  edit: ["Edit", "편집"],
  editOf: ["Edit {name}", "{name} 편집"],
  connect: ["Connect", "연결"],
  disconnect: ["Disconnect", "연결 끊기"],
  remove: ["Remove", "삭제"],
  removeSure: ["Remove {name}? Its entry and its approvals are forgotten.", "{name} 서버를 삭제할까요? 항목과 승인이 지워집니다."],
  toolsOf: ["{count} tools", "도구 {count}개"],
  oneTool: ["1 tool", "도구 1개"],
  refresh: ["List tools again", "도구 다시 읽기"],
  why: ["What is wrong and what to do", "무엇이 문제이고 어떻게 하면 되나"],
  since: ["since {time}", "{time}부터"],
  nextRetry: ["next try in {seconds} s", "{seconds}초 뒤 다시 시도"],
  log: ["Last lines of stderr", "stderr 마지막 줄"],
  launch: ["What is started", "시작하는 명령"],
  definition: ["Definition", "정의"],
  noToolsYet: ["It offers no tools.", "제공하는 도구가 없습니다."],
  CONNECTED: ["Connected", "연결됨"],
  CONNECTING: ["Connecting", "연결 중"],
  PENDING: ["Not connected yet", "연결 전"],
  FAILED: ["Failed", "실패"],
  DISCONNECTED: ["Disconnected", "끊김"],
  DISABLED: ["Switched off", "꺼짐"],
  NEEDS_AUTH: ["Needs sign-in", "로그인 필요"],
  DEGRADED: ["Unsteady", "불안정"],
  transport: ["Transport", "연결 방식"],
  url: ["URL", "주소"],
  headers: ["Headers", "헤더"],
  headersHint: ["One a line: Name: value. ${VARIABLE} is read from Naru's environment.", "한 줄에 하나씩 이름: 값. ${VARIABLE}은 나루의 환경 변수에서 읽습니다."],
  command: ["Program", "프로그램"],
  args: ["Arguments", "인자"],
  argsHint: ["One a line.", "한 줄에 하나씩."],
  env: ["Environment", "환경 변수"],
  envHint: ["One a line: NAME=value.", "한 줄에 하나씩 이름=값."],
  auto: ["Connect at start", "시작할 때 연결"],
  nameHint: ["Letters, digits, dot, dash, underscore", "영문자, 숫자, 점, 붙임표, 밑줄"],
  byForm: ["Fill in a form", "양식에 입력"],
  byPaste: ["Paste mcpServers JSON", "mcpServers JSON 붙여넣기"],
  pasteHint: ["As other products write it: mcpServers, servers, or one entry by name.", "다른 제품이 쓰는 그대로: mcpServers, servers, 또는 이름이 붙은 항목."],
  pasteFound: ["Found: {names}", "찾은 서버: {names}"],
  pasteNone: ["No server is in it. Write {\"mcpServers\": {\"name\": {\"url\": \"…\"}}}.", "서버가 없습니다. {\"mcpServers\": {\"이름\": {\"url\": \"…\"}}} 꼴로 쓰세요."],
  addedSome: ["Added {names}.", "{names} 추가했습니다."],
  badLine: ["Not understood: {line}", "알 수 없는 줄: {line}"],
  // approvals
  approvalsLead: ["Tools that changed, or came later, since they were approved. They are not offered until you approve them.", "승인한 뒤에 바뀌었거나 새로 생긴 도구입니다. 승인할 때까지 제공하지 않습니다."],
  noApprovals: ["Nothing waits for approval.", "승인을 기다리는 것이 없습니다."],
  approve: ["Approve", "승인"],
  approveAll: ["Approve all", "모두 승인"],
  approved: ["Approved: {name}", "승인함: {name}"],
  withheld: ["Withheld tools", "보류된 도구"],
  pending: ["came later", "새로 생김"],
  changed: ["changed", "바뀜"],
  // tools
  toolsLead: ["Everything that can be called now, under the names that models see.", "지금 부를 수 있는 모든 도구를 모델이 보는 이름으로 보여 줍니다."],
  noTools: ["No tool is offered.", "제공하는 도구가 없습니다."],
  noToolsHint: ["Connect a server that has some.", "도구가 있는 서버를 연결하세요."],
  run: ["Run", "실행"],
  result: ["Result", "결과"],
  failedTool: ["The tool failed", "도구가 실패했습니다"],
  noArguments: ["It takes no arguments.", "인자가 없습니다."],
  fromTerminal: ["From a terminal", "터미널에서"],
  copyTerminal: ["naru tool run takes arguments as JSON or key=value.", "naru tool run은 JSON이나 key=value 인자를 받습니다."],
  destructive: ["may change things", "변경할 수 있음"],
  readOnly: ["only reads", "읽기만 함"],
  // playground
  playLead: ["Ask, and see every step: what the model was shown, what it wrote, what was called.", "물어보고 모든 단계를 보세요. 모델이 본 것, 쓴 것, 부른 것."],
  model: ["Model", "모델"],
  withTools: ["Tools of", "쓸 도구"],
  allServers: ["all servers", "모든 서버"],
  withoutTools: ["none", "없음"],
  question: ["Question", "질문"],
  ask: ["Ask", "묻기"],
  askHint: ["Ctrl+Enter asks", "Ctrl+Enter로 묻기"],
  stop: ["Stop", "멈춤"],
  fresh: ["New conversation", "새 대화"],
  steps: ["Steps", "단계"],
  round: ["Round {number}", "라운드 {number}"],
  lastTurn: ["last turn, without tools", "마지막 차례, 도구 없이"],
  offered: ["Tools shown to the model", "모델에 보여 준 도구"],
  prompt: ["Prompt", "프롬프트"],
  wrote: ["What the model wrote", "모델이 쓴 글"],
  repairs: ["Repairs", "고친 곳"],
  call: ["Call", "호출"],
  notRun: ["not run", "실행 안 함"],
  ended: ["ended: {reason}", "끝난 이유: {reason}"],
  tokens: ["{prompt} + {completion} tokens", "토큰 {prompt} + {completion}"],
  seconds: ["{seconds} s", "{seconds}초"],
  stopped: ["Stopped.", "멈췄습니다."],
  modelTime: ["model", "모델"],
  answered: ["answered", "답함"],
  max_iterations: ["too many rounds", "라운드 초과"],
  max_calls: ["too many calls", "호출 초과"],
  wall_time: ["out of time", "시간 초과"],
  token_budget: ["out of tokens", "토큰 초과"],
  repeated_call: ["the same call again", "같은 호출 반복"],
  no_progress: ["no progress", "진전 없음"],
  no_tools: ["no tools", "도구 없음"],
  model_failed: ["the model failed", "모델 실패"],
  cancelled: ["cancelled", "취소됨"],
  failed: ["failed", "실패"],
  client_calls: ["handed to the client", "클라이언트에 넘김"],
  // runs
  runsLead: ["What was asked of the models, with every step. The newest thousand are kept.", "모델에 물은 것과 모든 단계입니다. 최근 천 개를 보관합니다."],
  noRuns: ["No run is kept yet.", "아직 기록이 없습니다."],
  noRunsHint: ["Ask something in the playground, or with naru chat.", "놀이터나 naru chat에서 물어보세요."],
  anyEnd: ["any end", "모든 결과"],
  endedHow: ["Ended", "결과"],
  replay: ["Replay", "다시 돌리기"],
  replayWith: ["Replay with", "다시 돌릴 모델"],
  asRecorded: ["what the model wrote then", "그때 모델이 쓴 글"],
  export: ["Export", "내보내기"],
  same: ["The replay came to the same.", "다시 돌린 결과가 같습니다."],
  differs: ["The replay differs", "다시 돌린 결과가 다릅니다"],
  before: ["before", "이전"],
  after: ["after", "이후"],
  answer: ["Answer", "답"],
  // dialects
  inspectLead: ["Paste what a model wrote: every piece is read as text, thought, call or marker, whatever its dialect.", "모델이 쓴 글을 붙여 넣으면 방언이 무엇이든 본문, 생각, 호출, 표시로 나누어 읽습니다."],
  raw: ["What the model wrote", "모델이 쓴 글"],
  offeredTools: ["Tools it was offered (OpenAI JSON)", "보여 준 도구(OpenAI JSON)"],
  modelName: ["Model's name, a hint", "모델 이름(참고용)"],
  read: ["Read", "읽기"],
  leaked: ["A client without Naru would show this text as the answer:", "나루가 없는 클라이언트는 이 글을 그대로 답으로 보여 줍니다:"],
  calls: ["Calls", "호출"],
  content: ["Text for the person", "사람에게 보일 글"],
  reasoning: ["Thought", "생각"],
  dropped: ["Markers", "표시"],
  noCalls: ["No call was found.", "호출이 없습니다."],
  nothingLeft: ["Nothing is left of it.", "남은 글이 없습니다."],
  // models
  modelsLead: ["How each model is asked for tools. naru probe MODEL measures one and keeps what works best.", "모델마다 도구를 쓰게 하는 방법입니다. naru probe 모델이름으로 재고 가장 나은 방법을 저장합니다."],
  family: ["Family", "계열"],
  strategy: ["Strategy", "전략"],
  native: ["Own tool calls", "자체 도구 호출"],
  guided: ["Guided by", "유도 방식"],
  dialect: ["Dialect", "방언"],
  helped: ["Helped as small", "작은 모델 도움"],
  budgetTools: ["Tools at once", "한 번에 보일 도구"],
  context: ["Context", "문맥 크기"],
  parallel: ["Several calls", "동시 호출"],
  measure: ["Measure it", "재기"],
  noModels: ["The endpoint lists no model.", "모델이 없습니다."],
  noModelsHint: ["Is it running? See: naru doctor", "실행 중인가요? naru doctor로 확인하세요."],
  noLimit: ["no limit", "제한 없음"],
  // clients
  clientsLead: ["Lines that work as they are, from this machine.", "이 컴퓨터에서 그대로 쓸 수 있는 줄입니다."],
  openaiClients: ["Any OpenAI client", "OpenAI 클라이언트"],
  openaiHint: ["With +tools after the model's name Naru runs the tools and gives the answer.", "모델 이름 뒤에 +tools를 붙이면 나루가 도구를 실행하고 답을 줍니다."],
  mcpClients: ["Any MCP client", "MCP 클라이언트"],
  mcpHint: ["Claude Desktop, Cursor, VS Code, Codex and others: naru connect NAME --write puts it into their settings.", "Claude Desktop, Cursor, VS Code, Codex 등: naru connect 이름 --write로 설정에 넣습니다."],
  terminal: ["A terminal", "터미널"],
  baseUrl: ["Base URL", "기본 주소"],
  keyNeeded: ["This hub asks for a key: put it where NARU_API_KEY stands.", "이 허브는 키가 필요합니다. NARU_API_KEY 자리에 넣으세요."],
  // keys
  keysLead: ["Who may do what. The first key switches sign-in on, also on this machine.", "누가 무엇을 할 수 있는지. 첫 키를 만들면 이 컴퓨터에서도 로그인이 필요합니다."],
  noKeys: ["There are no keys: nobody is asked for one on this machine.", "키가 없습니다. 이 컴퓨터에서는 키를 묻지 않습니다."],
  role: ["Role", "역할"],
  owner: ["Owner", "주인"],
  expires: ["Expires", "만료"],
  never: ["never", "없음"],
  lastUsed: ["Last used", "마지막 사용"],
  days: ["Days until it expires", "만료까지 일수"],
  daysHint: ["Empty: never", "비우면 만료 없음"],
  create: ["Make a key", "키 만들기"],
  revoke: ["Revoke", "폐기"],
  revokeSure: ["Revoke the key of {owner}? Whoever uses it is refused at once.", "{owner}의 키를 폐기할까요? 쓰던 사람은 바로 거부됩니다."],
  shownOnce: ["This key is shown only now:", "이 키는 지금만 보입니다:"],
  firstKey: ["Make the first key? From then on everyone, you too, needs one here.", "첫 키를 만들까요? 그때부터 누구나 키가 필요합니다."],
  roles: ["What a role may do", "역할이 할 수 있는 일"],
  readMay: ["look at servers, tools and its own runs", "서버, 도구, 자신의 실행 기록 보기"],
  userMay: ["call tools and models", "도구와 모델 부르기"],
  operatorMay: ["connect servers, approve tools, see all runs", "서버 연결, 도구 승인, 모든 기록 보기"],
  adminMay: ["register servers, make keys", "서버 등록, 키 만들기"],
  you: ["you", "나"],
};

const kept = (name) => { try { return localStorage.getItem(name); } catch { return null; } };
const keep = (name, value) => { try { localStorage.setItem(name, value); } catch { /* private window */ } };

let language = kept("language") ?? (navigator.language.startsWith("ko") ? "ko" : "en");
document.documentElement.lang = language;

// English lines that have a Korean form of their own: none of them may stand on a Korean page.
export const englishOnly = () => Object.values(words).filter(([english, korean]) => english !== korean).map(([english]) => english)
  .filter((english) => english !== "한국어" && !english.includes("{"));
export const has = (key) => Object.hasOwn(words, key);
export function t(key, values = {}) {
  const text = words[key]?.[language === "ko" ? 1 : 0] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => (Object.hasOwn(values, name) ? values[name] : whole));
}
export const when = (ms) => new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" }).format(ms);

export function switchLanguage() {
  language = language === "ko" ? "en" : "ko";
  keep("language", language);
  document.documentElement.lang = language;
}

const themes = ["system", "light", "dark"];
let theme = themes.includes(kept("theme")) ? kept("theme") : "system";
const apply = () => {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
};
apply();
export const themeName = () => t({ system: "themeSystem", light: "themeLight", dark: "themeDark" }[theme]);
export function switchTheme() {
  theme = themes[(themes.indexOf(theme) + 1) % themes.length];
  keep("theme", theme);
  apply();
}
