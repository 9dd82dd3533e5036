// The Anthropic TypeScript client on the Messages interface, in front of a real engine: whole, MessageStream with what it
// accumulates, forced calls.
//
// Usage: node messages.mjs URL MODEL
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import Anthropic from "@anthropic-ai/sdk";

const [url, model] = process.argv.slice(2);
const client = new Anthropic({ baseURL: url, apiKey: "none", maxRetries: 0, timeout: 600_000 });
let failures = 0;
let done = 0;

function check(name, found, want) {
  done++;
  try {
    assert.deepEqual(found, want);
  } catch (error) {
    failures++;
    console.log(`messages, TypeScript: ${name}: ${error.message}`);
  }
}

const cities = ["Paris", "Oslo", "Rome"];
const input_schema = {
  type: "object",
  properties: { city: { type: "string", enum: cities }, days: { type: "integer", minimum: 1, maximum: 9 } },
  required: ["city", "days"],
  additionalProperties: false,
};
const tools = [{ name: "get_weather", description: "The weather in a city", input_schema }];
const fits = (input) => Object.keys(input).sort().join() === "city,days" && cities.includes(input.city) && Number.isInteger(input.days) && input.days >= 1 && input.days <= 9;
const blocks = (message) => message.content.map((b) => (b.type === "text" ? ["text", b.text] : [b.type, b.name, b.input]));

for (const [name, text, max_tokens, more, reasons] of [
  ["text", "Count from one to five, in words.", 16, { system: "Answer briefly." }, ["end_turn", "max_tokens"]],
  ["cut", "Count from one to five, in words.", 3, {}, ["max_tokens"]],
  ["any", "How is the weather in Paris?", 60, { tools, tool_choice: { type: "any", disable_parallel_tool_use: true } }, ["tool_use"]],
  ["tool", "How is the weather in Paris?", 60, { tools, tool_choice: { type: "tool", name: "get_weather", disable_parallel_tool_use: true } }, ["tool_use"]],
]) {
  const body = { model, max_tokens, messages: [{ role: "user", content: text }], ...more };
  const options = { body: { ...body, temperature: 0 } };
  const whole = await client.messages.create(body, options);
  const stream = client.messages.stream(body, { body: { ...options.body, stream: true } });
  const told = [];
  let said = "";
  let json = "";
  stream.on("contentBlock", (block) => told.push(block.type));
  stream.on("text", (delta) => (said += delta));
  stream.on("inputJson", (delta) => (json += delta));
  const final = await stream.finalMessage();
  check(`${name}, whole as streamed`, [blocks(final), final.stop_reason], [blocks(whole), whole.stop_reason]);
  check(`${name}, blocks told when they are done`, told, final.content.map((b) => b.type));
  check(`${name}, text`, said, final.content.map((b) => b.text ?? "").join(""));
  for (const one of [whole, final]) {
    check(`${name}, stop reason ${one.stop_reason}`, reasons.includes(one.stop_reason), true);
    check(`${name}, usage`, one.usage.input_tokens > 0 && one.usage.output_tokens > 0 && one.usage.output_tokens <= max_tokens, true);
    if (!more.tools) continue;
    const calls = one.content.filter((b) => b.type === "tool_use");
    check(`${name}, calls`, calls.map((b) => [b.name, b.id !== ""]), [["get_weather", true]]);
    check(`${name}, input ${JSON.stringify(calls)}`, calls.every((b) => fits(b.input)), true);
  }
  if (more.tools) check(`${name}, deltas`, JSON.parse(json), final.content.at(-1).input);
}

const version = JSON.parse(readFileSync("node_modules/@anthropic-ai/sdk/package.json")).version;
console.log("messages, TypeScript:", failures ? `${failures} of ${done} checks failed` : `all ${done} checks hold`, "with @anthropic-ai/sdk", version);
process.exit(failures ? 1 : 0);
