// The page: the form, the panels, the link. What a panel shows is in panel.js; how it asks the server, in reader.js.
import { Panel } from "./panel.js";
import { loadFormats, loadSamples } from "./reader.js";
import { fromLink, toLink } from "./link.js";

const field = (id) => document.getElementById(id);
const status = field("status");
const panels = [];

function say(text, bad = false) {
  status.textContent = text;
  status.classList.toggle("bad", bad);
}

// written turns \n and \t in the prompt's one line into what they stand for.
const written = (text) => text.replaceAll("\\n", "\n").replaceAll("\\t", "\t");

function question() {
  const chunk = field("chunk").value;
  const tools = field("tools").value.trim();
  let parsed = null;
  if (tools) {
    try {
      parsed = JSON.parse(tools);
    } catch (error) {
      throw new Error(`The tools are no JSON: ${error.message}`);
    }
  }
  return {
    text: field("text").value,
    tool_parser: field("tool").value,
    reasoning_parser: field("reasoning").value,
    finish_reason: field("finish").value,
    prompt: written(field("prompt").value),
    tools: parsed,
    tool_choice: field("choice").value,
    exact: field("exact").checked,
    validated: field("validated").checked,
    chunk: chunk === "random" ? 12 : Number(chunk),
    seed: chunk === "random" ? Math.max(1, Number(field("seed").value)) : 0,
  };
}

const hint = "Choose a sample, or paste what a model wrote.";

// blank shows nothing but a word of what to do, or of what is wrong.
function blank(text, bad = false) {
  for (const panel of panels) panel.stop();
  field("panels").hidden = true;
  say(text, bad);
}

async function run(live) {
  if (!field("text").value) {
    blank(hint);
    return;
  }
  let asked;
  try {
    asked = question();
  } catch (error) {
    say(error.message, true);
    return;
  }
  say("Reading …");
  try {
    await Promise.all(panels.map((panel) => panel.read(asked, live ? Number(field("speed").value) : 0)));
    say("");
  } catch (error) {
    if (error.name !== "AbortError") blank(error.message, true);
  }
}

function fill(select, names) {
  for (const name of names) select.append(new Option(name));
}

function compare(on) {
  field("compare").setAttribute("aria-pressed", String(on));
  field("panels").classList.toggle("two", on);
  if (on && panels.length === 1) {
    const section = document.createElement("section");
    section.className = "panel";
    section.id = "panel-1";
    section.setAttribute("aria-label", "Reading by the second format");
    field("panels").append(section);
    const second = new Panel(section, 1);
    second.choose(field("tool"), field("reasoning"), () => run(false));
    panels.push(second);
  } else if (!on && panels.length === 2) {
    panels.pop().remove();
  }
}

// seeded shows the seed where the pieces are random.
function seeded() {
  field("seeded").hidden = field("chunk").value !== "random";
}

const saved = ["tool", "reasoning", "finish", "prompt", "tools", "choice", "chunk", "seed", "text"];
const checks = ["exact", "validated"];
const views = ["surface", "dialect", "marking"]; // of each panel

async function restore() {
  const state = await fromLink(location.hash);
  if (!state) {
    if (location.hash.startsWith("#v1.")) say("The link is damaged: a part of it is missing.", true);
    return false;
  }
  for (const id of saved) field(id).value = typeof state[id] === "string" ? state[id] : field(id).tagName === "SELECT" ? field(id).value : "";
  for (const id of checks) field(id).checked = state[id] === true;
  seeded();
  const shown = Array.isArray(state.panels) ? state.panels : [{}];
  compare(shown.length > 1);
  panels.forEach((panel, i) => {
    for (const [name, value] of Object.entries(shown[i] ?? {})) {
      const select = [...views, "second .tool", "second .reasoning"].includes(name) ? panel.part(name) : null;
      if (select && [...select.options].some((option) => option.value === value)) select.value = value;
    }
  });
  return true;
}

async function copyLink() {
  const state = {};
  for (const id of saved) if (field(id).value) state[id] = field(id).value;
  for (const id of checks) if (field(id).checked) state[id] = true;
  for (const id of ["tool", "reasoning"]) state[id] = field(id).value; // "" is none
  state.panels = panels.map((panel, i) => Object.fromEntries([...views, ...(i ? ["second .tool", "second .reasoning"] : [])].map((name) => [name, panel.part(name).value])));
  restored = await toLink(state);
  location.hash = restored;
  try {
    await navigator.clipboard.writeText(location.href);
    say("The link is in the clipboard.");
  } catch {
    say("The link is in the address bar.");
  }
}

let restored = ""; // the fragment that the page already shows

field("question").addEventListener("submit", (event) => {
  event.preventDefault();
  run(false);
});
field("stream").addEventListener("click", () => run(true));
field("compare").addEventListener("click", () => {
  compare(panels.length === 1);
  run(false);
});
field("link").addEventListener("click", copyLink);
for (const id of ["tool", "reasoning", "finish", "chunk", "seed", "choice", "exact", "validated"]) {
  field(id).addEventListener("change", () => field("text").value && run(false));
}
field("chunk").addEventListener("change", seeded);
let typed = 0;
field("text").addEventListener("input", () => {
  field("sample").value = "";
  clearTimeout(typed);
  typed = setTimeout(() => run(false), 400);
});
const darkNow = () => (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
field("theme").setAttribute("aria-pressed", String(darkNow()));
field("theme").addEventListener("click", () => {
  document.documentElement.dataset.theme = darkNow() ? "light" : "dark";
  field("theme").setAttribute("aria-pressed", String(darkNow()));
});
window.addEventListener("hashchange", async () => location.hash !== restored && (await restore()) && run(false));

try {
  const formats = await loadFormats();
  fill(field("tool"), formats.tool_names);
  fill(field("reasoning"), formats.reasoning_names);
  Panel.offers = formats;
  panels.push(new Panel(field("panel-0"), 0));
  const samples = await loadSamples();
  // A title begins with the name of the model, which has a group.
  const groups = new Map();
  samples.forEach((sample, i) => {
    const model = sample.title.split(": ")[0];
    if (!groups.has(model)) {
      const group = document.createElement("optgroup");
      group.label = model;
      groups.set(model, group);
      field("sample").append(group);
    }
    groups.get(model).append(new Option(sample.title, String(i)));
  });
  field("sample").addEventListener("change", () => {
    const sample = samples[Number(field("sample").value)];
    if (field("sample").value === "" || !sample) return;
    field("text").value = sample.text;
    field("tool").value = sample.tool_parser ?? "";
    field("reasoning").value = sample.reasoning_parser ?? "";
    field("prompt").value = (sample.prompt ?? "").replaceAll("\n", "\\n");
    field("tools").value = sample.tools ? JSON.stringify(sample.tools, null, 1) : "";
    run(true);
  });
  if (await restore()) run(false);
  else if (!status.textContent) say(hint);
} catch (error) {
  say(`The server does not answer: ${error.message}`, true);
}
document.documentElement.dataset.ready = "yes";
