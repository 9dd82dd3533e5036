// The Vercel AI SDK on every interface: streamText lets a model read a file, edit it and report, in steps.
//
// Usage: node loops.mjs URL
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const [url] = process.argv.slice(2);
globalThis.AI_SDK_LOG_WARNINGS = false;
let failures = 0;
let sent = 0;
const counting = (...request) => {
  sent++;
  return fetch(...request);
};

const settings = { baseURL: url + "/v1", apiKey: "none", fetch: counting };
const interfaces = {
  chat: createOpenAICompatible({ name: "parlance", includeUsage: true, ...settings })("scripted"),
  responses: createOpenAI(settings).responses("scripted"),
  "responses, not stored": createOpenAI(settings).responses("scripted"),
  messages: createAnthropic(settings)("scripted"),
};

for (const [name, model] of Object.entries(interfaces)) {
  const folder = mkdtempSync(join(tmpdir(), "loops-"));
  writeFileSync(join(folder, "greet.txt"), "hello wrold\n");
  sent = 0;
  const tools = {
    read_file: tool({ description: "Reads a file", inputSchema: z.object({ path: z.string() }), execute: ({ path }) => readFileSync(join(folder, path), "utf8") }),
    edit_file: tool({
      description: "Puts one text in the place of another",
      inputSchema: z.object({ path: z.string(), old_string: z.string(), new_string: z.string() }),
      execute: ({ path, old_string, new_string }) => {
        writeFileSync(join(folder, path), readFileSync(join(folder, path), "utf8").replace(old_string, new_string));
        return `${path} was edited`;
      },
    }),
  };
  const errors = [];
  const providerOptions = name.endsWith("not stored") ? { openai: { store: false, include: ["reasoning.encrypted_content"] } } : undefined;
  const result = streamText({ model, tools, providerOptions, system: "You mend files.", prompt: "Fix the typo in greet.txt", stopWhen: stepCountIs(5), maxRetries: 0, onError: ({ error }) => errors.push(error) });
  const kinds = new Set();
  for await (const part of result.fullStream) {
    kinds.add(part.type);
    if (part.type === "error") errors.push(part.error);
    if (part.type === "tool-error") errors.push(part.error);
  }
  const steps = errors.length ? [] : await result.steps;
  const found = JSON.stringify({
    text: steps.at(-1)?.text,
    finish: steps.map((step) => step.finishReason),
    calls: steps.flatMap((step) => step.toolCalls.map((call) => call.toolName)),
    thought: steps.map((step) => (step.reasoningText ?? "") !== ""),
    tokens: steps.every((step) => step.usage.outputTokens > 0),
    file: readFileSync(join(folder, "greet.txt"), "utf8"),
    sent,
  });
  rmSync(folder, { recursive: true });
  const want = JSON.stringify({
    text: "The file now says hello world.",
    finish: ["tool-calls", "tool-calls", "stop"],
    calls: ["read_file", "edit_file"],
    // Its provider for the Responses interface shows summaries of reasoning, and no reasoning.
    thought: Array(3).fill(!name.startsWith("responses")),
    tokens: true,
    file: "hello world\n",
    sent: 3,
  });
  if (errors.length || found !== want) {
    failures++;
    console.log(`loops, AI SDK, ${name}: expected ${want}, found ${found}`, ...errors);
  }
}

const version = JSON.parse(readFileSync("node_modules/ai/package.json")).version;
console.log("loops, AI SDK:", failures ? "failed" : `${Object.keys(interfaces).length} runs as expected`, "with ai", version);
process.exit(failures ? 1 : 0);
