// openai, @anthropic-ai/sdk, ollama and the Vercel AI SDK's providers, unchanged. `… URL`: prints a JSON line per client.
import Anthropic from "@anthropic-ai/sdk";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { stepCountIs, streamText, tool } from "ai";
import { Ollama } from "ollama";
import OpenAI from "openai";
import { z } from "zod";

const url = process.argv[2];
const asked = { text: "Say good day.", own: "Use your own tool.", hub: "Use the hub's tool.", error: "Now please fail." };
const parameters = {
  type: "object",
  properties: { command: { type: "string" }, description: { type: "string" } },
  required: ["command"],
};
const run = ({ command }) => command.replace("echo ", "");
const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: "x", maxRetries: 0 });
const anthropic = new Anthropic({ baseURL: url, apiKey: "x", maxRetries: 0 });
const ollama = new Ollama({ host: url });

async function chat(model, question, own) {
  const messages = [{ role: "user", content: question }];
  const tools = own ? [{ type: "function", function: { name: "bash", description: "Run.", parameters } }] : undefined;
  for (;;) {
    const answer = await openai.chat.completions.stream({ model, messages, tools }).finalMessage();
    if (!answer.tool_calls?.length) return answer.content;
    messages.push(answer);
    for (const call of answer.tool_calls)
      messages.push({ role: "tool", tool_call_id: call.id, content: run(JSON.parse(call.function.arguments)) });
  }
}

async function responses(model, question, own) {
  const tools = own ? [{ type: "function", name: "bash", description: "Run.", parameters, strict: false }] : undefined;
  let input = question;
  let previous_response_id;
  for (;;) {
    const answer = await openai.responses.stream({ model, input, tools, previous_response_id }).finalResponse();
    const calls = answer.output.filter((item) => item.type === "function_call");
    if (!calls.length) return answer.output_text;
    previous_response_id = answer.id;
    input = calls.map((call) => ({
      type: "function_call_output",
      call_id: call.call_id,
      output: run(JSON.parse(call.arguments)),
    }));
  }
}

async function messages(model, question, own) {
  const turns = [{ role: "user", content: question }];
  const tools = own ? [{ name: "bash", description: "Run.", input_schema: parameters }] : undefined;
  for (;;) {
    const answer = await anthropic.messages.stream({ model, max_tokens: 999, messages: turns, tools }).finalMessage();
    const calls = answer.content.filter((block) => block.type === "tool_use");
    if (!calls.length) return answer.content.map((block) => block.text ?? "").join("");
    turns.push({ role: "assistant", content: answer.content });
    const results = calls.map((call) => ({ type: "tool_result", tool_use_id: call.id, content: run(call.input) }));
    turns.push({ role: "user", content: results });
  }
}

async function ollamas(model, question, own) {
  const turns = [{ role: "user", content: question }];
  const tools = own ? [{ type: "function", function: { name: "bash", description: "Run.", parameters } }] : undefined;
  for (;;) {
    const said = { role: "assistant", content: "", tool_calls: [] };
    for await (const part of await ollama.chat({ model, messages: turns, tools, stream: true })) {
      said.content += part.message.content;
      said.tool_calls.push(...(part.message.tool_calls ?? []));
    }
    if (!said.tool_calls.length) return said.content;
    turns.push(said);
    for (const call of said.tool_calls)
      turns.push({ role: "tool", tool_name: call.function.name, content: run(call.function.arguments) });
  }
}

function vercel(make) {
  return async (model, question, own) => {
    let fault;
    const bash = tool({
      description: "Run.",
      inputSchema: z.object({ command: z.string(), description: z.string().optional() }),
      execute: run,
    });
    const told = streamText({
      model: make(model),
      prompt: question,
      tools: own ? { bash } : undefined,
      stopWhen: stepCountIs(4),
      maxRetries: 0,
      onError: ({ error }) => (fault = error),
    });
    let text = "";
    for await (const piece of told.textStream) text += piece;
    if (fault) throw fault;
    return text;
  };
}

const clients = {
  "openai, chat": chat,
  "openai, Responses": responses,
  "@anthropic-ai/sdk": messages,
  ollama: ollamas,
  "AI SDK, openai": vercel(createOpenAI({ baseURL: `${url}/v1`, apiKey: "x" })),
  "AI SDK, anthropic": vercel(createAnthropic({ baseURL: `${url}/v1`, apiKey: "x" })),
  "AI SDK, openai-compatible": vercel(createOpenAICompatible({ name: "naru", baseURL: `${url}/v1`, apiKey: "x" })),
};
for (const [client, ask] of Object.entries(clients)) {
  const told = {};
  for (const [name, question] of Object.entries(asked)) {
    try {
      told[name] = await ask(name === "hub" ? "m+tools" : "m", question, name === "own");
    } catch (error) {
      told[name] = `${error?.message} ${error?.responseBody ?? ""}`;
    }
  }
  console.log(JSON.stringify([client, told]));
}

const conversation = await openai.conversations.create({ items: [{ role: "user", content: "I am Ada." }] });
let answer = await openai.responses.create({
  model: "m",
  input: "Say good day.",
  background: true,
  conversation: conversation.id,
});
const statuses = [answer.status];
while (["queued", "in_progress"].includes(answer.status)) {
  await new Promise((resolve) => setTimeout(resolve, 20));
  answer = await openai.responses.retrieve(answer.id);
}
const items = [];
for await (const item of openai.conversations.items.list(conversation.id, { order: "asc" })) items.push(item.role);
const gone = await openai.conversations.delete(conversation.id);
statuses.push(answer.status, gone.deleted);
console.log(JSON.stringify(["background", { statuses, items, text: answer.output_text }]));
