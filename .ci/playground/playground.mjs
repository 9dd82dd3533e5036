// Drives the playground in a real browser: node playground.mjs URL [FOLDER for screenshots]. Every step says what it saw;
// the first that is wrong ends it. CHROMIUM is the browser.
import assert from "node:assert/strict";
import { chromium } from "playwright-core";

const [url, shots] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const troubles = [];
const asked = new Set();

async function open(address, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && troubles.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => troubles.push(`error: ${error.message}`));
  page.on("request", (request) => asked.add(new URL(request.url()).origin));
  page.setDefaultTimeout(20000);
  await page.goto(address);
  await page.waitForSelector("html[data-ready=yes]");
  return page;
}

const page = await open(`${url}/playground/`);
const text = (selector, on = page) => on.locator(selector).innerText();
const done = (on = page) => on.waitForFunction(() => [...document.querySelectorAll(".verdict")].every((v) => v.textContent));
const forget = () => page.evaluate(() => document.querySelectorAll(".verdict").forEach((v) => { v.textContent = ""; }));
const trays = async (panel = "#panel-0", on = page) => ({
  reasoning: await on.locator(`${panel} .tray.reasoning`).textContent(),
  content: await on.locator(`${panel} .tray.content`).textContent(),
  calls: (await on.locator(`${panel} .tray.calls`).textContent()).replace(/chatcmpl-tool-\w+/g, "ID"),
});
const shot = async (name, on = page) => shots && on.screenshot({ path: `${shots}/${name}.png` });
const step = (what) => console.log(`ok ${what}`);
// change does something after which the page reads again, and waits for the reading.
async function change(what) {
  await forget();
  await what();
  await done();
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
}

const tools = [{ type: "function", function: { name: "get_weather", parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } } }];
const one = '<think>\nThe user asks for the weather.\n</think>\n\nI look it up.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Zürich 😀"}}\n</tool_call>';

// Before there is a text, and when it is gone, there is only a word of what to do.
assert.equal(await page.locator("#panels").isVisible(), false);
assert.match(await text("#status"), /sample/);
assert.equal(await page.locator("#seed").isVisible(), false, "a seed, and no random pieces");
await change(() => page.locator("#text").fill(one));
assert.equal(await page.locator("#panels").isVisible(), true);
await page.locator("#text").fill("");
await page.locator("#panels").waitFor({ state: "hidden" });
const damaged = await open(`${url}/playground/#v1.abc`);
assert.match(await text("#status", damaged), /damaged/);
await damaged.close();
step("no text, a damaged link");

// Paste: the format is detected, and the trays fill.
await page.locator("#text").focus();
await page.evaluate((pasted) => document.execCommand("insertText", false, pasted), one);
await done();
let seen = await trays();
assert.equal(seen.reasoning.trim(), "The user asks for the weather.");
assert.equal(seen.content.trim(), "I look it up.");
assert.match(seen.calls, /get_weather.*"Zürich 😀"/s);
assert.match(await text(".evidence"), /--tool-call-parser hermes/);
step("paste");

// Formats by name, tools, and the chunking, which changes nothing.
await page.locator("#question details summary").click();
await page.locator("#tools").fill(JSON.stringify(tools));
await change(() => page.selectOption("#tool", "hermes"));
await change(() => page.selectOption("#reasoning", "qwen3"));
const whole = await trays();
for (const chunk of ["0", "1", "3", "7", "64", "random"]) {
  await change(() => page.selectOption("#chunk", chunk));
  assert.deepEqual(await trays(), whole, `pieces of ${chunk}`);
}
await change(() => page.selectOption("#chunk", "4"));
step("chunking");

// Another format leaves the call in the content, and raises the alarm.
await change(() => page.selectOption("#tool", "mistral"));
assert.match((await trays()).content, /<tool_call>/);
await page.locator(".alarms li").first().waitFor();
assert.match(await text(".alarms"), /hermes/);
await shot("alarm");
await change(() => page.selectOption("#tool", "hermes"));
assert.equal(await page.locator(".alarms li").count(), 0);
step("switch of the format, and its alarm");

// Stream: the trays fill bit by bit.
await page.selectOption("#speed", "200");
await forget();
await page.locator("#stream").click();
await page.waitForFunction(() => { const n = document.querySelector(".tray.reasoning").textContent.length; return n > 3 && n < 25; }, null, { polling: 20 });
assert.equal(await page.locator(".call").count(), 0);
await shot("stream");
await done();
assert.deepEqual(await trays(), whole);
step("stream");

// What each interface sends.
for (const [surface, expected] of [["chat", /"tool_calls":\[\{"id"/], ["responses", /response\.function_call_arguments\.delta/], ["messages", /input_json_delta/], ["", /tool_call\s*"get_weather"/]]) {
  await change(() => page.selectOption("#panel-0 .surface", surface));
  await page.locator(".deltas").focus();
  await page.keyboard.press("Home");
  let all = "";
  const count = Number(await page.locator(".deltas .step").first().getAttribute("aria-setsize"));
  for (let i = 0; i < count; i++) {
    all += (await page.locator(`#delta-0-${i}`).innerText()) + "\n";
    if (surface && i === count - 2) await shot(`wire-${surface}`);
    await page.keyboard.press("ArrowDown");
  }
  assert.match(all, expected, surface);
}
step("deltas on each interface, by keyboard");

// The constraint, in each dialect.
for (const [dialect, expected] of [["gbnf", /root ::=/], ["lark", /start:/], ["ebnf", /root ::=/], ["structural_tag", /"structural_tag"/]]) {
  await page.selectOption(".dialect", dialect);
  await page.waitForFunction((source) => new RegExp(source).test(document.querySelector(".constraint").textContent), expected.source);
}
await change(() => page.selectOption("#tool", ""));
await page.waitForFunction(() => /no tool parser/.test(document.querySelector(".notes").textContent));
await change(() => page.selectOption("#tool", "hermes"));
step("constraint");

// The pieces are underlined.
await page.selectOption(".marking", "pieces");
await page.waitForFunction(() => CSS.highlights.get("odd")?.size > 10 && CSS.highlights.get("even")?.size > 10);
assert.match(await text(".counted"), /^\d+ pieces$/);
step("pieces");

// Compare.
await change(() => page.locator("#compare").click());
await change(() => page.selectOption("#panel-1 .tool", "mistral"));
assert.deepEqual(await trays(), whole);
assert.match((await trays("#panel-1")).content, /<tool_call>/);
await shot("compare");
step("compare");

// The link opens the same elsewhere.
await page.locator("#link").click();
await page.waitForFunction(() => location.hash.startsWith("#v1."));
const linked = await open(page.url());
await done(linked);
assert.deepEqual(await trays("#panel-0", linked), whole);
assert.deepEqual(await trays("#panel-1", linked), await trays("#panel-1"));
// Its keys go the way that the eye goes, and the first leads past the form.
const order = [];
for (let i = 0; i < 7; i++) {
  await linked.keyboard.press("Tab");
  order.push(await linked.evaluate(() => document.activeElement.id || document.activeElement.className));
}
assert.deepEqual(order, ["skip", "docs", "theme", "sample", "tool", "reasoning", "finish"]);
await linked.close();
await change(() => page.locator("#compare").click());
step("link");

// The keyboard: from the top to the text, and through it.
await page.locator(".fates").focus();
const told = [];
for (let i = 0; i < 6; i++) {
  await page.keyboard.press("ArrowRight");
  told.push(await text(".why"));
}
assert.match(told[0], /"<think>", in the rule thought/);
assert.equal(new Set(told).size, 6);
await page.keyboard.press("ArrowLeft");
assert.equal(await text(".why"), told[4]);
step("keyboard");

// Everything that takes input has a name.
const nameless = await page.evaluate(() => [...document.querySelectorAll("input, select, textarea, button, [tabindex='0']")]
  .filter((e) => !(e.labels?.length || e.getAttribute("aria-label") || e.textContent.trim() || e.closest("[aria-label]")))
  .map((e) => e.outerHTML.slice(0, 80)));
assert.deepEqual(nameless, []);
step("names");

// Contrast of every kind of text, light and dark (WCAG AA: 4.5).
const contrast = (on) => on.evaluate(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = (c) => {
    const [r, g, b] = c.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const back = (e) => {
    for (; e; e = e.parentElement) {
      const colour = rgb(getComputedStyle(e).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255, 255];
  };
  const out = {};
  for (const e of document.querySelectorAll("h1, h1 span, header p, header a, label, button, .verdict, .legend li, .fates span, .why, .tray div, .call strong, .step b, .step em, .step, .evidence p, .grammar, .notes, footer p")) {
    if (!e.getClientRects().length) continue;
    const [a, b] = [light(rgb(getComputedStyle(e).color)), light(back(e))].sort((x, y) => y - x);
    const name = `${e.tagName.toLowerCase()}.${e.className}`;
    out[name] = Math.min(out[name] ?? 99, Number(((a + 0.05) / (b + 0.05)).toFixed(2)));
  }
  return out;
});
async function readable(theme, on) {
  const values = Object.entries(await contrast(on)).sort((a, b) => a[1] - b[1]);
  assert.ok(values.length > 15, `${values.length} kinds of text`);
  assert.ok(values[0][1] >= 4.5, `contrast, ${theme}: ${JSON.stringify(values.slice(0, 5))}`);
  step(`contrast, ${theme}: at least ${values[0][1]} (${values[0][0]})`);
}
await readable("light", page);
const light = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
await shot("light");
await page.locator("#theme").click();
assert.equal(await page.locator("#theme").getAttribute("aria-pressed"), "true");
assert.notEqual(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), light);
await readable("dark", page);
await shot("dark");
const night = await open(`${url}/playground/`, { colorScheme: "dark", reducedMotion: "reduce", viewport: { width: 400, height: 800 } });
assert.notEqual(await night.evaluate(() => getComputedStyle(document.body).backgroundColor), light);
assert.equal(await night.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, "a narrow page scrolls sideways");
await shot("narrow", night);
await night.close();
step("dark mode, narrow page");

// 200 kB of text: the page never stands still.
const big = `<think>${"A thought that is long. ".repeat(400)}</think>${"Words of the answer, line after line.\n".repeat(2500)}<tool_call>\n{"name": "write_file", "arguments": {"text": "${"some content of a file ".repeat(4300)}"}}\n</tool_call>`;
assert.ok(big.length > 200000);
await page.evaluate(() => {
  window.longest = 0;
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.longest = Math.max(window.longest, entry.duration); }).observe({ type: "longtask" });
});
const most = 400; // milliseconds; a task of a fast machine is a tenth of it
async function smooth(what, act) {
  await page.waitForTimeout(300);
  await page.evaluate(() => { window.longest = 0; });
  const began = Date.now();
  await change(act);
  const took = Date.now() - began;
  await page.waitForTimeout(100);
  const longest = await page.evaluate(() => window.longest);
  console.log(`   ${what}: ${took} ms, longest main-thread task ${longest < 50 ? "under 50" : Math.round(longest)} ms`);
  assert.ok(longest <= most, `${what}: a task of ${longest} ms`);
  assert.match((await trays()).calls, /write_file/);
}
await page.selectOption(".marking", "");
await smooth("200 kB pasted", () => page.evaluate((value) => { const t = document.querySelector("#text"); t.value = value; t.dispatchEvent(new Event("input")); }, big));
for (const chunk of ["0", "4", "1"]) await smooth(`pieces of ${chunk === "0" ? "everything" : chunk}`, () => page.selectOption("#chunk", chunk));
await smooth("the events of Chat Completions", () => page.selectOption(".surface", "chat"));
await smooth("the events of Responses", () => page.selectOption(".surface", "responses"));
await page.selectOption(".surface", "");
await done();
await smooth("with the pieces underlined", async () => {
  await page.selectOption(".marking", "pieces");
  await page.locator("#read").click();
});
await page.selectOption("#speed", "4000");
await page.evaluate(() => { window.longest = 0; });
await page.locator("#stream").click();
await page.waitForTimeout(3000);
const longest = await page.evaluate(() => window.longest);
console.log(`   streamed for 3 s: longest main-thread task ${longest < 50 ? "under 50" : Math.round(longest)} ms`);
assert.ok(longest <= most, `streamed: a task of ${longest} ms`);
await shot("big");
step("200 kB");

assert.deepEqual(troubles, []);
assert.deepEqual([...asked], [new URL(url).origin]);
step("no errors in the console, no other host asked");
await browser.close();
