// What an MCP client of the TypeScript SDK (1.x or 2.x) sees through Naru; prints a JSON object for each cell.
//   node typescript_client.mjs NODE_MODULES SDK CELLS
//     SDK: 1 or 2; CELLS: JSON, a list of [face, address]; face: sse, http or stdio
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import path from "node:path";

const [modules, sdk, cells] = process.argv.slice(2);
const require = createRequire(path.join(modules, "x.js"));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);

async function parts() {
  if (sdk === "1") {
    const base = "@modelcontextprotocol/sdk/";
    const types = await load(base + "types.js");
    return {
      Client: (await load(base + "client/index.js")).Client,
      Http: (await load(base + "client/streamableHttp.js")).StreamableHTTPClientTransport,
      Sse: (await load(base + "client/sse.js")).SSEClientTransport,
      Stdio: (await load(base + "client/stdio.js")).StdioClientTransport,
      elicit: types.ElicitRequestSchema,
      changed: types.ToolListChangedNotificationSchema,
      call: (client, params, options) => client.callTool(params, undefined, options),
    };
  }
  const client = await load("@modelcontextprotocol/client");
  const stdio = await load("@modelcontextprotocol/client/stdio");
  return {
    Client: client.Client,
    Http: client.StreamableHTTPClientTransport,
    Sse: client.SSEClientTransport,
    Stdio: stdio.StdioClientTransport,
    elicit: "elicitation/create",
    changed: "notifications/tools/list_changed",
    call: (made, params, options) => made.callTool(params, options),
  };
}

const { Client, Http, Sse, Stdio, elicit, changed, call } = await parts();

async function run(face, address, seen) {
  const client = new Client({ name: "matrix", version: "1" }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(elicit, async () => {
    seen.elicited = true;
    return { action: "accept", content: { username: "ada", email: "a@b.c" } };
  });
  client.setNotificationHandler(changed, async () => {
    seen.changed = true;
  });
  const command = face === "stdio" ? JSON.parse(address) : [];
  const transport =
    face === "stdio"
      ? new Stdio({ command: command[0], args: command.slice(1), stderr: "inherit" })
      : new (face === "sse" ? Sse : Http)(new URL(address));
  await client.connect(transport);
  seen.tools = (await client.listTools()).tools.length;
  seen.text = (await call(client, { name: "test_simple_text", arguments: {} })).content[0].text;
  await call(client, { name: "test_tool_with_progress", arguments: {} }, { onprogress: (p) => seen.progress.push(p.progress) });
  seen.answer = (await call(client, { name: "test_elicitation", arguments: { message: "who?" } })).content[0].text;
  await call(client, { name: "test_trigger_tool_change", arguments: {} });
  for (let i = 0; i < 250 && !seen.changed; i++) await new Promise((done) => setTimeout(done, 20));
  seen.version = client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion ?? "";
  await client.close();
}

for (const [face, address] of JSON.parse(cells)) {
  const seen = { sdk, progress: [], changed: false, elicited: false };
  let timer;
  const limit = new Promise((_, fail) => (timer = setTimeout(() => fail(new Error("no end within 60 s")), 60000)));
  await Promise.race([run(face, address, seen), limit]).catch((error) => (seen.error = String(error)));
  clearTimeout(timer);
  console.log(JSON.stringify(seen));
}
process.exit(0);
