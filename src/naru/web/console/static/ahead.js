// Asks for what the first view shows while the app's own files are still on their way; api.js hands the answers out, once each.
const page = location.hash.slice(2) || "overview";
const rows = page === "overview" ? ["/api/overview?range=hour"]
  : ["servers", "tools"].includes(page) ? [`/api/console/${page}?offset=0&limit=20`] : [];
let language = navigator.language;
try { language = localStorage.getItem("language") ?? language; } catch { /* private window */ }
globalThis.ahead = new Map(["/api/session", ...rows].map((path) => {
  const answer = fetch(`.${path}`, { headers: { Accept: "application/json", "Accept-Language": language.startsWith("ko") ? "ko" : "en" } });
  answer.catch(() => {}); // said where it is awaited
  return [path, answer];
}));
if (rows.length) import(`./${page}.js`).catch(() => {}); // app.js imports it again, and says what is wrong
