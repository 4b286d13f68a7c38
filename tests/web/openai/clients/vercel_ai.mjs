// The Vercel AI SDK over @ai-sdk/openai-compatible. `… BASE_URL MODEL…`: prints one JSON line per model and mode.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const [url, ...models] = process.argv.slice(2);
const provider = createOpenAICompatible({ name: "naru", baseURL: url, apiKey: "none" });

for (const model of models) {
  for (const stream of [false, true]) {
    const calls = [];
    const options = {
      model: provider(model),
      prompt: "Weather in Seoul?",
      stopWhen: stepCountIs(4),
      maxRetries: 0,
      tools: {
        get_weather: tool({
          description: "Current weather of a city.",
          inputSchema: z.object({ city: z.string() }),
          execute: async (input) => {
            calls.push(["get_weather", input]);
            return "sunny";
          },
        }),
      },
    };
    const result = stream ? streamText(options) : await generateText(options);
    const text = await result.text;
    const steps = await result.steps;
    const reasons = steps.map((step) => step.finishReason.replace("tool-calls", "tool_calls"));
    console.log(JSON.stringify([model, stream, calls, text, reasons]));
  }
}
