// Every word a person reads, in English and Korean.
const words = {
  servers: ["Servers", "서버"], tools: ["Tools", "도구"], play: ["Playground", "대화"], runs: ["Runs", "실행 기록"],
  inspect: ["Dialects", "방언"], models: ["Models", "모델"], keys: ["Keys", "키"], language: ["한국어", "English"],
  skip: ["Skip to content", "본문으로"], add: ["Add a server", "서버 추가"], connect: ["Connect", "연결"], disconnect: ["Disconnect", "연결 끊기"],
  edit: ["Edit", "편집"], remove: ["Remove", "삭제"], save: ["Save", "저장"], cancel: ["Cancel", "취소"], search: ["Search", "찾기"],
  none: ["Nothing here yet.", "아직 아무것도 없습니다."], noServers: ["No server is registered. Add one, or start with naru serve --demo.", "등록된 서버가 없습니다. 추가하거나 naru serve --demo로 시작하세요."],
  name: ["Name", "이름"], description: ["Description", "설명"], transport: ["Transport", "연결 방식"], url: ["URL", "주소"], headers: ["Headers (JSON)", "헤더(JSON)"],
  command: ["Command", "명령"], args: ["Arguments, one a line", "인자(한 줄에 하나)"], env: ["Environment (JSON)", "환경 변수(JSON)"], auto: ["Connect at start", "시작할 때 연결"],
  paste: ["Or paste mcpServers JSON", "또는 mcpServers JSON 붙여넣기"], why: ["What is wrong and what to do", "무엇이 문제이고 무엇을 하면 되나"], log: ["Last of stderr", "stderr 끝부분"],
  nextRetry: ["next retry in", "다음 시도까지"], seconds: ["s", "초"], since: ["since", "부터"], withheld: ["Withheld tools", "보류된 도구"], approve: ["Approve", "승인"], approveAll: ["Approve all", "모두 승인"],
  run: ["Run", "실행"], result: ["Result", "결과"], failed: ["The tool failed", "도구가 실패했습니다"], ask: ["Ask", "묻기"], stop: ["Stop", "멈춤"], question: ["Question", "질문"], model: ["Model", "모델"],
  withServers: ["Tools of", "쓸 도구"], answer: ["Answer", "답"], round: ["Round", "라운드"], last: ["last turn", "마지막 차례"], offered: ["offered", "보여 준 도구"], wrote: ["The model wrote", "모델이 쓴 글"],
  prompt: ["Prompt", "프롬프트"], call: ["Call", "호출"], notRun: ["not run", "실행 안 함"], reason: ["ended", "끝난 이유"], replay: ["Replay", "다시 돌리기"], export: ["Export", "내보내기"], same: ["The replay came to the same.", "다시 돌린 결과가 같습니다."],
  differs: ["The replay differs", "다시 돌린 결과가 다릅니다"], raw: ["Raw model text", "모델이 쓴 원문"], offeredTools: ["Offered tools (OpenAI JSON)", "보여 준 도구(OpenAI JSON)"], read: ["Read", "읽기"], content: ["Content", "본문"],
  reasoning: ["Reasoning", "생각"], calls: ["Calls", "호출"], repairs: ["Repairs", "고친 곳"], dropped: ["markers", "표시"], family: ["Family", "계열"], strategy: ["Strategy", "전략"], native: ["Native tools", "도구 기능"], context: ["Context", "문맥 크기"],
  small: ["Helped", "도움 받음"], guided: ["Guided", "유도"], dialect: ["Dialect", "방언"], role: ["Role", "역할"], owner: ["Owner", "주인"], create: ["Create a key", "키 만들기"], revoke: ["Revoke", "취소"], shownOnce: ["Shown only once:", "한 번만 보입니다:"],
  login: ["Sign in with a key", "키로 로그인"], key: ["API key", "API 키"], signIn: ["Sign in", "로그인"], usable: ["usable", "사용 가능"], tool: ["Tool", "도구"], allServers: ["all servers", "모든 서버"], noTools: ["no tools", "도구 없이"],
  time: ["Time", "시각"], refresh: ["Refresh", "새로 고침"], probeHint: ["naru probe MODEL measures a model and keeps the best strategy.", "naru probe 모델이름: 모델을 재어 가장 나은 전략을 저장합니다."], saved: ["Saved.", "저장했습니다."], sure: ["Remove this server?", "이 서버를 삭제할까요?"],
  badJson: ["This is not JSON: ", "JSON이 아닙니다: "], took: ["took", "걸림"], status: ["Status", "상태"], definition: ["Definition", "정의"],
};
let language = localStorage.getItem("language") ?? (navigator.language.startsWith("ko") ? "ko" : "en");
document.documentElement.lang = language;
export const t = (key) => words[key]?.[language === "ko" ? 1 : 0] ?? key;
export const when = (ms) => new Intl.DateTimeFormat(language, { dateStyle: "short", timeStyle: "medium" }).format(ms);
export function switchLanguage() {
  language = language === "ko" ? "en" : "ko";
  localStorage.setItem("language", language);
  document.documentElement.lang = language;
}
