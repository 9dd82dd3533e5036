// The deltas, one row each. Only the rows in sight are on the page; the one that is selected is shown whole below them.

const height = 22; // pixels, as in style.css
const tallest = 8e6; // browsers have a greatest height for an element; beyond it rows share pixels
const shared = 40; // an event is abbreviated if it begins like the one before it for as many characters

export class Rows {
  constructor(element, whole, number) {
    this.element = element;
    this.whole = whole;
    this.name = `delta-${number}`;
    this.inner = element.querySelector(".rows");
    this.entries = [];
    this.follow = true;
    element.addEventListener("scroll", () => {
      this.follow = element.scrollTop + element.clientHeight >= element.scrollHeight - height;
      this.draw();
    }, { passive: true });
    element.addEventListener("click", (event) => {
      const row = event.target.closest(".step");
      if (row) this.select(Number(row.dataset.entry));
    });
    element.addEventListener("keydown", (event) => {
      const page = Math.floor(element.clientHeight / height);
      const at = this.selected ?? -1;
      const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: this.entries.length - 1 }[event.key];
      if (to === undefined || this.entries.length === 0) return;
      event.preventDefault();
      this.select(Math.max(0, Math.min(to, this.entries.length - 1)), true);
    });
  }

  clear() {
    this.entries = [];
    this.follow = true;
    this.before = "";
    this.selected = null;
    this.whole.hidden = true;
    this.element.removeAttribute("aria-activedescendant");
    this.element.scrollLeft = 0;
    this.draw();
  }

  // add takes a step; with wire the rows are what the interface sends for it, else the deltas of the library.
  add(step, wire) {
    const at = `${step.at}${step.held ? `, ${step.held} held` : ""}`;
    const from = this.entries.length;
    if (wire) {
      for (const event of (step.wire ?? "").split("\n\n")) if (event) this.entries.push({ at: "", ...this.brief(event), whole: event });
      if (step.left_out) this.entries.push({ at: "", text: "The events from here on are left out: there are too many. Choose larger pieces.", whole: "" });
    } else {
      for (const d of step.deltas ?? []) {
        const text = d.name ?? d.text;
        this.entries.push({ at: "", name: d.kind, text: text === undefined ? "" : JSON.stringify(text), whole: JSON.stringify(d) });
      }
    }
    if (this.entries.length === from) this.entries.push({ at, text: "—", whole: "" });
    else this.entries[from].at = at;
  }

  // brief leaves out what an event has in common with the one before it.
  brief(event) {
    const [, name, data] = /^(?:event: (.*)\n)?data: (.*)$/.exec(event) ?? [null, undefined, event];
    let n = 0;
    while (n < data.length && data[n] === this.before[n]) n++;
    this.before = data;
    n = Math.max(data.lastIndexOf(",", n), data.lastIndexOf("{", n), 0);
    return { name, cut: n > shared, text: n > shared ? data.slice(n + 1) : data };
  }

  select(at, scroll = false) {
    this.selected = at;
    const { whole } = this.entries[at];
    this.whole.hidden = whole === "";
    this.whole.textContent = whole;
    const top = (at * this.total()) / this.entries.length;
    if (scroll) {
      if (top < this.element.scrollTop) this.element.scrollTop = top;
      else if (top + height > this.element.scrollTop + this.element.clientHeight) this.element.scrollTop = top + height - this.element.clientHeight;
    }
    this.follow = false;
    this.element.setAttribute("aria-activedescendant", `${this.name}-${at}`);
    this.draw();
  }

  total() {
    return Math.min(this.entries.length * height, tallest);
  }

  draw() {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => {
      this.scheduled = false;
      const total = this.total();
      this.inner.style.height = total + "px";
      if (this.follow) this.element.scrollTop = total;
      const first = Math.max(Math.floor((this.element.scrollTop / Math.max(total, 1)) * this.entries.length) - 2, 0);
      const shown = Math.ceil(this.element.clientHeight / height) + 4;
      const top = (first * total) / Math.max(this.entries.length, 1);
      this.inner.replaceChildren(...this.entries.slice(first, first + shown).map((entry, i) => this.row(entry, first + i, top + i * height)));
    });
  }

  row(entry, number, top) {
    const row = document.createElement("div");
    row.className = "step";
    row.style.top = top + "px";
    row.id = `${this.name}-${number}`;
    row.dataset.entry = String(number);
    row.setAttribute("role", "option");
    row.setAttribute("aria-selected", String(number === this.selected));
    row.setAttribute("aria-setsize", String(this.entries.length));
    row.setAttribute("aria-posinset", String(number + 1));
    const part = (tag, text) => {
      const element = document.createElement(tag);
      element.textContent = text;
      row.append(element);
    };
    part("b", entry.at);
    if (entry.name) part("em", entry.name);
    if (entry.cut) part("i", "…");
    row.append(entry.text);
    return row;
  }
}
