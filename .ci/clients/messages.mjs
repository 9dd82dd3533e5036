// The Anthropic TypeScript client on the Messages interface: whole, and by MessageStream with what it accumulates.
//
// Usage: node messages.mjs URL
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import Anthropic from "@anthropic-ai/sdk";

const [url] = process.argv.slice(2);
const client = new Anthropic({ baseURL: url, apiKey: "none", maxRetries: 0 });
let failures = 0;

function check(name, found, want) {
  try {
    assert.deepEqual(found, want);
  } catch (error) {
    failures++;
    console.log(`messages, TypeScript: ${name}: ${error.message}`);
  }
}

const blocks = (message) =>
  message.content.map((b) => {
    if (b.type === "thinking") return assert(b.signature) ?? ["thinks", b.thinking];
    if (b.type === "text") return ["says", b.text];
    return assert(b.id) ?? ["calls", b.name, b.input];
  });

const schema = { type: "object", properties: { city: { type: "string" }, days: { type: "integer" } }, required: ["city", "days"] };
const tools = [{ name: "get_weather", description: "The weather in a city", input_schema: schema }];
const weather = (city, days) => ["calls", "get_weather", { city, days }];
const both = [["thinks", "Two."], ["says", "Both at once."]];

for (const [ask, more, want, reason] of [
  ["think it over", {}, [["thinks", "Easy enough."], ["says", "Hello, world."]], "end_turn"],
  ["stop there", { stop_sequences: [" three"] }, [["thinks", "Count."], ["says", "one two"]], "stop_sequence"],
  ["one call", { tools }, [["thinks", "One city."], weather('São Paulo "SP"', 3)], "tool_use"],
  ["two calls", { tools }, [...both, weather("Paris", 1), weather("Oslo", 2)], "tool_use"],
  ["two calls", { tools, tool_choice: { type: "any", disable_parallel_tool_use: true } }, [...both, weather("Paris", 1)], "tool_use"],
  ["say nothing", {}, [["says", ""]], "end_turn"],
]) {
  const name = `${ask} ${Object.keys(more)}`;
  const body = { model: "scripted", max_tokens: 1000, messages: [{ role: "user", content: ask }], ...more };
  const whole = await client.messages.create(body);
  check(name, [blocks(whole), whole.stop_reason], [want, reason]);

  const stream = client.messages.stream(body);
  const told = [];
  let text = "";
  let thought = "";
  stream.on("contentBlock", (block) => told.push(block.type));
  stream.on("text", (delta) => (text += delta));
  stream.on("thinking", (delta) => (thought += delta));
  const final = await stream.finalMessage();
  check(`${name}, accumulated`, [blocks(final), final.stop_reason, final.stop_sequence], [want, reason, whole.stop_sequence]);
  check(`${name}, blocks told when they are done`, told, final.content.map((b) => b.type));
  const of = (kind) => want.filter(([k]) => k === kind).map(([, said]) => said).join("");
  check(`${name}, texts`, [text, thought], [of("says"), of("thinks")]);
  check(`${name}, usage`, final.usage.output_tokens, whole.usage.output_tokens);
}

const cut = client.messages.stream({ model: "scripted", max_tokens: 1000, tools, messages: [{ role: "user", content: "cut it off" }] });
const message = await cut.finalMessage();
check("cut", [message.content[0].type, message.content[0].name, message.stop_reason], ["tool_use", "get_weather", "max_tokens"]);

const broken = await client.messages
  .stream({ model: "scripted", max_tokens: 10, messages: [{ role: "user", content: "break down" }] })
  .finalMessage()
  .catch((error) => error);
check("breaks down", broken instanceof Anthropic.APIError && broken.error?.error?.type, "api_error");
const refused = await client.messages.create({ model: "nobody", max_tokens: 10, messages: [{ role: "user", content: "a" }] }).catch((error) => error);
check("unknown model", [refused.status, refused.error?.error?.type], [404, "not_found_error"]);

const version = JSON.parse(readFileSync("node_modules/@anthropic-ai/sdk/package.json")).version;
console.log("messages, TypeScript:", failures ? "failed" : "all as expected", "with @anthropic-ai/sdk", version);
process.exit(failures ? 1 : 0);
