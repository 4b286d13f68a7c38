// The `openai` package of npm, unchanged. `… BASE_URL MODEL…`: prints one JSON line per model and mode.
import OpenAI from "openai";

const [url, ...models] = process.argv.slice(2);
const client = new OpenAI({ baseURL: url, apiKey: "none", maxRetries: 0, timeout: 20_000 });
const tool = {
  type: "function",
  function: {
    name: "get_weather",
    description: "Current weather of a city.",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};

async function ask(model, messages, stream) {
  const body = { model, messages, tools: [tool] };
  if (!stream) return (await client.chat.completions.create(body)).choices[0];
  return (await client.chat.completions.stream(body).finalChatCompletion()).choices[0];
}

for (const model of models) {
  for (const stream of [false, true]) {
    const messages = [{ role: "user", content: "Weather in Seoul?" }];
    const first = await ask(model, messages, stream);
    const calls = first.message.tool_calls.map((call) => [call.function.name, JSON.parse(call.function.arguments)]);
    messages.push(first.message);
    for (const call of first.message.tool_calls) {
      messages.push({ role: "tool", tool_call_id: call.id, content: "sunny" });
    }
    const answer = await ask(model, messages, stream);
    const reasons = [first.finish_reason, answer.finish_reason];
    console.log(JSON.stringify([model, stream, calls, answer.message.content, reasons]));
  }
}
