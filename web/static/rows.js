// The deltas, one row a piece. Only the rows in sight are on the page.

const height = 22; // pixels, as in style.css

export class Rows {
  constructor(element) {
    this.element = element;
    this.inner = element.querySelector(".rows");
    this.steps = [];
    this.follow = true;
    element.addEventListener("scroll", () => {
      this.follow = element.scrollTop + element.clientHeight >= element.scrollHeight - height;
      this.draw();
    }, { passive: true });
  }

  clear() {
    this.steps = [];
    this.inner.replaceChildren();
    this.inner.style.height = "0";
    this.follow = true;
  }

  add(step) {
    this.steps.push(step);
  }

  draw() {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => {
      this.scheduled = false;
      // Browsers have a greatest height for an element; beyond it rows share pixels.
      const total = Math.min(this.steps.length * height, 8e6);
      this.inner.style.height = total + "px";
      if (this.follow) this.element.scrollTop = total;
      const first = Math.max(Math.floor((this.element.scrollTop / Math.max(total, 1)) * this.steps.length) - 2, 0);
      const shown = Math.ceil(this.element.clientHeight / height) + 4;
      const top = (first * total) / Math.max(this.steps.length, 1);
      this.inner.replaceChildren(...this.steps.slice(first, first + shown).map((step, i) => this.row(step, top + i * height)));
    });
  }

  row(step, top) {
    const row = document.createElement("div");
    row.className = "step";
    row.style.top = top + "px";
    const at = document.createElement("b");
    at.textContent = `${step.at}${step.held ? `, ${step.held} held` : ""}`;
    row.append(at);
    const deltas = step.deltas ?? [];
    row.append(deltas.map((d) => {
      const text = d.name ?? d.text;
      return text === undefined ? d.kind : `${d.kind} ${JSON.stringify(text)}`;
    }).join("  ") || "—");
    return row;
  }
}
