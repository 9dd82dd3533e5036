// The Vercel AI SDK in front of a real engine, on every interface: streamText is made to call a tool in its first step, runs
// it, and goes on until the model calls no more.
//
// Usage: node loops.mjs URL MODEL
import { readFileSync } from "node:fs";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const [url, name] = process.argv.slice(2);
globalThis.AI_SDK_LOG_WARNINGS = false;
let failures = 0;
let done = 0;
let sent = 0;

function check(what, holds, found) {
  done++;
  if (holds) return;
  failures++;
  console.log(`loops, AI SDK: ${what}: ${JSON.stringify(found)}`);
}

const counting = (...request) => {
  sent++;
  return fetch(...request);
};
const settings = { baseURL: url + "/v1", apiKey: "none", fetch: counting };
const interfaces = {
  chat: createOpenAICompatible({ name: "parlance", includeUsage: true, ...settings })(name),
  responses: createOpenAI(settings).responses(name),
  messages: createAnthropic(settings)(name),
};
const providerOptions = { parlance: { parallel_tool_calls: false }, openai: { parallelToolCalls: false }, anthropic: { disableParallelToolUse: true } };
const steps = 6;

for (const [at, model] of Object.entries(interfaces)) {
  sent = 0;
  const ran = [];
  const errors = [];
  const get_weather = tool({
    description: "The weather in a city, for some days",
    inputSchema: z.object({ city: z.enum(["Paris", "Oslo", "Rome"]), days: z.number().int().min(1).max(9) }).strict(),
    execute: (input) => {
      ran.push(input);
      return `Sunny in ${input.city} for ${input.days} days.`;
    },
  });
  const result = streamText({
    model,
    providerOptions,
    tools: { get_weather },
    prepareStep: ({ stepNumber }) => ({ toolChoice: stepNumber === 0 ? "required" : "auto" }),
    stopWhen: stepCountIs(steps),
    system: "Answer briefly.",
    prompt: "How is the weather in Paris for the next two days?",
    maxOutputTokens: 60,
    temperature: 0,
    maxRetries: 0,
    onError: ({ error }) => errors.push(error),
  });
  const kinds = new Set();
  let text = "";
  for await (const part of result.fullStream) {
    kinds.add(part.type);
    if (part.type === "text-delta") text += part.text;
    if (part.type === "error" || part.type === "tool-error") errors.push(part.error);
  }
  check(`${at}, errors`, errors.length === 0, errors.map(String));
  if (errors.length) continue;
  const taken = await result.steps;
  const calls = taken.flatMap((step) => step.toolCalls);
  check(`${at}, the first step calls`, taken[0].finishReason === "tool-calls" && taken[0].toolCalls.length === 1, taken[0].finishReason);
  check(`${at}, the last step says something`, ["stop", "length"].includes(taken.at(-1).finishReason) && taken.at(-1).text !== "" && taken.at(-1).toolCalls.length === 0, [taken.at(-1).finishReason, taken.at(-1).text]);
  check(`${at}, it comes to its end`, taken.length < steps && sent === taken.length, [taken.length, sent]);
  check(`${at}, calls`, calls.every((call) => call.toolName === "get_weather" && !call.invalid && call.toolCallId !== ""), calls);
  check(`${at}, every call was run`, ran.length === calls.length && ran.length === sent - 1, [ran, sent]);
  check(`${at}, text`, text === taken.map((step) => step.text).join(""), text);
  check(`${at}, events`, ["tool-input-start", "tool-input-delta", "tool-input-end", "tool-call", "tool-result", "text-start", "text-end", "finish"].every((kind) => kinds.has(kind)), [...kinds]);
  check(`${at}, usage`, taken.every((step) => step.usage.inputTokens > 0 && step.usage.outputTokens > 0), taken.map((step) => step.usage));
}

const version = JSON.parse(readFileSync("node_modules/ai/package.json")).version;
console.log("loops, AI SDK:", failures ? `${failures} of ${done} checks failed` : `all ${done} checks hold`, "with ai", version);
process.exit(failures ? 1 : 0);
