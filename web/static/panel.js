// A panel shows one reading: the text coloured by fate, the trays, the deltas, the format. Long texts are put on the page
// in small portions; places count UTF-16 units, as the server sends them.
import { read, pause, constraint, tokens } from "./reader.js";
import { Rows } from "./rows.js";
import { Fates } from "./fates.js";
import { Tray } from "./tray.js";

const portion = 16000; // characters put on the page at once
const mostLike = 6; // names that explain a text as well and are listed
const budget = 8; // milliseconds of work before the browser gets its turn

export class Panel {
  static offers = { formats: [], surfaces: [], dialects: [], tokens: "none" };

  constructor(section, number) {
    this.section = section;
    section.append(document.getElementById("panel").content.cloneNode(true));
    const part = (name) => section.querySelector("." + name);
    this.part = part;
    this.fates = new Fates(part("fates"), part("why"), number);
    if (number === 0) part("fates").id = "fates";
    this.rows = new Rows(part("deltas"), part("event"), number);
    this.trays = { reasoning: new Tray(part("tray.reasoning")), content: new Tray(part("tray.content")) };
    this.calls = part("tray.calls");
    this.number = number;
    for (const surface of Panel.offers.surfaces) part("surface").append(new Option(surface.title, surface.name));
    for (const dialect of Panel.offers.dialects) part("dialect").append(new Option(dialect.title, dialect.name));
    if (Panel.offers.tokens !== "none") part("marking").append(new Option(Panel.offers.tokens === "all" ? "the tokens" : "the special tokens", "tokens"));
    part("surface").addEventListener("change", () => this.asked && this.again());
    part("dialect").addEventListener("change", () => this.constrain());
    part("about").addEventListener("toggle", () => this.constrain());
    part("marking").addEventListener("change", () => this.mark());
  }

  // again reads the same once more.
  again() {
    this.read(this.asked, 0).catch((error) => error.name === "AbortError" || (this.part("verdict").textContent = error.message));
  }

  // choose gives the panel parsers of its own, for comparing.
  choose(tool, reasoning, changed) {
    this.part("second").hidden = false;
    for (const [own, from] of [[this.part("second .tool"), tool], [this.part("second .reasoning"), reasoning]]) {
      for (const option of from.options) own.append(new Option(option.text, option.value));
      own.value = from.value;
      own.addEventListener("change", changed);
    }
    this.own = () => ({ tool_parser: this.part("second .tool").value, reasoning_parser: this.part("second .reasoning").value });
  }

  stop() {
    this.abort?.abort();
    this.asked = null;
  }

  remove() {
    this.abort?.abort();
    this.fates.clear();
    this.section.remove();
  }

  clear() {
    this.fates.clear();
    this.rows.clear();
    this.trays.reasoning.clear();
    this.trays.content.clear();
    this.calls.replaceChildren();
    this.cards = [];
    this.part("alarms").replaceChildren();
    this.part("verdict").textContent = "";
  }

  // read asks and shows; speed is characters a second, or 0 for all at once.
  async read(question, speed) {
    this.abort?.abort();
    const abort = (this.abort = new AbortController());
    this.clear();
    this.asked = question;
    const asked = { ...question, ...(this.own?.() ?? {}), surface: this.part("surface").value };
    this.reading = asked;
    const steps = [];
    this.pieces = [];
    let began = 0;
    for await (const line of read(asked, abort.signal)) {
      abort.signal.throwIfAborted();
      if (line.summary) {
        this.summary = line.summary;
        this.section.parentElement.hidden = false;
        this.about(line.summary);
        this.constrain();
        await this.fates.show(asked.text, line.summary.spans, abort.signal);
        if (speed > 0) this.fates.progress(0, 0);
        began = performance.now();
      }
      if (line.steps) {
        if (speed > 0) steps.push(...line.steps);
        else await this.take(line.steps, abort.signal);
      }
      if (line.alarms) this.alarms(line.alarms);
    }
    for (let i = 0; i < steps.length; ) {
      await new Promise(requestAnimationFrame);
      abort.signal.throwIfAborted();
      const until = ((performance.now() - began) * speed) / 1000;
      const from = i;
      while (i < steps.length && steps[i].at <= until) i++;
      if (i > from) {
        await this.take(steps.slice(from, i), abort.signal);
        const last = steps[i - 1];
        this.fates.progress(last.at, last.held ?? 0);
      }
    }
    this.fates.finish();
    this.verdict();
    await this.mark();
  }

  // mark underlines the pieces, or the tokens.
  async mark() {
    const kind = this.part("marking").value;
    const counted = this.part("counted");
    counted.textContent = "";
    this.fates.mark([]);
    if (!kind || !this.reading) return;
    const { text } = this.reading;
    try {
      const ends = kind === "pieces" ? this.pieces.map((at) => [at]) : await tokens(text);
      if (text !== this.reading.text) return;
      this.fates.mark(ends);
      const known = ends.filter(([, id]) => id >= 0).length;
      counted.textContent = kind === "pieces" ? `${ends.length} pieces` : `${known} ${Panel.offers.tokens === "all" ? "tokens" : "special tokens"}`;
    } catch (error) {
      counted.textContent = error.message;
    }
  }

  // constrain shows the constraint of a forced call in the chosen dialect, or why there is none.
  async constrain() {
    if (!this.summary || !this.reading || !this.part("about").open) return;
    const { tools, prompt } = this.reading;
    const question = { tools, prompt, tool_parser: this.summary.tool_parser, reasoning_parser: this.summary.reasoning_parser, dialect: this.part("dialect").value };
    const asked = JSON.stringify(question);
    if (asked === this.constrained) return;
    this.constrained = asked;
    let text = "", notes = "";
    try {
      const made = await constraint(question);
      text = made.text;
      notes = made.none ? `None: ${made.none}.` : made.notes.join(" ");
    } catch (error) {
      notes = error.message;
    }
    if (asked !== this.constrained) return;
    this.part("constraint").textContent = text;
    this.part("constraint").hidden = text === "";
    this.part("notes").textContent = notes;
  }

  async take(steps, signal) {
    let start = performance.now();
    for (const step of steps) {
      this.rows.add(step, this.reading.surface !== "");
      if (step.at > (this.pieces.at(-1) ?? 0)) this.pieces.push(step.at);
      for (const delta of step.deltas ?? []) this.delta(delta);
      if (performance.now() - start > budget) {
        await pause();
        signal.throwIfAborted();
        start = performance.now();
      }
    }
    for (const tray of [this.trays.reasoning, this.trays.content, ...this.cards.map((card) => card.arguments)]) {
      while (tray.flush(portion)) {
        await pause();
        signal.throwIfAborted();
      }
    }
    this.rows.draw();
  }

  delta(delta) {
    switch (delta.kind) {
      case "content":
      case "reasoning":
        this.trays[delta.kind].add(delta.text ?? "");
        break;
      case "tool_call": {
        const card = document.createElement("div");
        card.className = "call";
        const name = document.createElement("strong");
        name.textContent = delta.name;
        card.append(name, delta.id ? ` ${delta.id} ` : " ");
        const body = document.createElement("div");
        card.append(body);
        this.calls.append(card);
        this.cards[delta.call ?? 0] = { card, arguments: new Tray(body) };
        break;
      }
      case "arguments":
        this.cards[delta.call ?? 0]?.arguments.add(delta.text ?? "");
        break;
      case "tool_call_end":
        if (delta.malformed || delta.cut) {
          const note = document.createElement("em");
          note.textContent = delta.malformed ? "malformed: the arguments could not be read" : "cut off";
          this.cards[delta.call ?? 0]?.card.append(note);
        }
    }
  }

  about(summary) {
    const format = (names, name) => Panel.offers.formats.find((f) => name && f[names].includes(name));
    const chosen = [...new Set([format("tool_names", summary.tool_parser), format("reasoning_names", summary.reasoning_parser)])].filter(Boolean);
    this.part("grammar").textContent = chosen.map((f) => `# ${f.name}: ${f.title}${f.extends ? ` (extends ${f.extends})` : ""}\n${f.grammar}`).join("\n\n");
    const evidence = this.part("evidence");
    evidence.replaceChildren();
    const line = document.createElement("p");
    const read = [summary.tool_parser && `--tool-call-parser ${summary.tool_parser}`, summary.reasoning_parser && `--reasoning-parser ${summary.reasoning_parser}`].filter(Boolean).join(" ");
    line.textContent = `Read by ${read}`;
    if (!summary.flags) line.textContent += ".";
    else line.textContent += summary.flags === read ? ", which the text looks like." : `. The text looks like ${summary.flags}.`;
    evidence.append(line);
    for (const guess of (summary.detected.tools ?? []).slice(0, 1).concat((summary.detected.reasoning ?? []).slice(0, 1))) {
      const item = document.createElement("p");
      const like = guess.like ?? [];
      const more = like.length > mostLike + 1 ? ` and ${like.length - mostLike} more` : "";
      item.textContent = `${guess.name}${guess.sure ? ", for sure" : ""}: ${guess.evidence.map((e) => e.says).join("; ")}`;
      if (like.length) item.textContent += ` (as good: ${(more ? like.slice(0, mostLike) : like).join(", ")}${more})`;
      if (more) item.title = like.join(", ");
      evidence.append(item);
    }
  }

  alarms(alarms) {
    for (const alarm of alarms) {
      const item = document.createElement("li");
      item.textContent = alarm.says;
      this.part("alarms").append(item);
    }
  }

  verdict() {
    const m = this.summary.message;
    const calls = m.tool_calls.length;
    this.part("verdict").textContent = `${m.reasoning.length} characters of reasoning, ${m.content.length} of content, ` +
      `${calls} tool ${calls === 1 ? "call" : "calls"}${m.malformed ? ", malformed" : ""}.`;
  }
}
