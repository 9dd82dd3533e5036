// The openai Node client against a server: every scenario whole, and by the accumulating helper.
//
// Usage: node chat.mjs URL FOLDER (the folder of scenarios.json and tools.json)
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import OpenAI from "openai";
import { LengthFinishReasonError } from "openai/core/error";

const [url, folder] = process.argv.slice(2);
const client = new OpenAI({ baseURL: url + "/v1", apiKey: "none", maxRetries: 0 });
const tools = JSON.parse(readFileSync(folder + "/tools.json"));
let failures = 0;

const readArguments = (text, cut) => (cut ? text : JSON.parse(text));

function ofMessage(choice, cut) {
  for (const call of choice.message.tool_calls ?? []) assert(call.id && call.type === "function");
  return {
    reasoning: choice.message.reasoning ?? "",
    content: choice.message.content ?? "",
    calls: (choice.message.tool_calls ?? []).map((c) => [c.function.name, readArguments(c.function.arguments, cut)]),
    finish: choice.finish_reason,
  };
}

function check(name, found, want) {
  try {
    assert.deepEqual(found, want);
  } catch (error) {
    failures++;
    console.log(`node: ${name}: ${error.message}`);
  }
}

for (const scenario of JSON.parse(readFileSync(folder + "/scenarios.json"))) {
  const { name, cut = false, choices = 1 } = scenario;
  const body = { model: "scripted", messages: [{ role: "user", content: scenario.ask }], ...scenario.body, ...scenario.extra };
  if (scenario.tools) body.tools = tools;
  const want = Array(choices).fill(scenario.want);

  const whole = await client.chat.completions.create(body);
  check(name + ", whole", whole.choices.map((c) => ofMessage(c, cut)), want);

  const stream = client.chat.completions.stream({ ...body, stream_options: { include_usage: true } });
  let thought = "";
  let calls = 0;
  stream.on("chunk", (chunk) => {
    if (chunk.choices[0]?.index === 0) thought += chunk.choices[0].delta.reasoning ?? "";
  });
  stream.on("tool_calls.function.arguments.done", () => calls++);
  try {
    const final = await stream.finalChatCompletion();
    check(name + ", helper", final.choices.map((c) => ({ ...ofMessage(c, cut), reasoning: scenario.want.reasoning })), want);
    check(name + ", usage", final.usage.completion_tokens, whole.usage.completion_tokens);
    check(name + ", calls told when they are done", calls, scenario.want.calls.length * choices);
    check(name + ", not cut", cut, false);
  } catch (error) {
    if (!(error instanceof LengthFinishReasonError)) throw error;
    check(name + ", helper", cut, true);
  }
  if (!cut) check(name + ", reasoning", thought, scenario.want.reasoning);
}

for (const [fields, status, param] of [
  [{ tools: [] }, 400, "tools"],
  [{ model: "nobody" }, 404, "model"],
]) {
  for (const stream of [false, true]) {
    const error = await client.chat.completions.create({ model: "scripted", messages: [], stream, ...fields }).catch((e) => e);
    check(JSON.stringify(fields), [error.status, error.param], [status, param]);
  }
}

const version = JSON.parse(readFileSync("node_modules/openai/package.json")).version;
console.log("node:", failures ? "failed" : "all as expected", "with openai", version);
process.exit(failures ? 1 : 0);
