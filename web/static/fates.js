// The text coloured by what became of it. While a text streams, what is held and what has not been read are shown by
// highlights, which cost no change of the page.
import { pause } from "./reader.js";

const budget = 8;
const most = 2000; // characters a block, about
const longest = 500; // characters a node

export class Fates {
  constructor(element, why, number) {
    this.element = element;
    this.why = why;
    this.suffix = number ? `-${number}` : "";
    this.spans = [];
    this.nodes = []; // text nodes with where they begin
    this.blocks = []; // the blocks that they are in, with where those begin
    this.ends = []; // of what is underlined: pairs of a place and, for tokens, the id
    element.addEventListener("scroll", () => this.underline(), { passive: true });
    element.addEventListener("pointerover", (event) => this.point(event.target.closest("span")));
    element.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowRight" && event.key !== "ArrowLeft") return;
      event.preventDefault();
      const all = [...element.querySelectorAll("span")];
      const at = all.indexOf(this.pointed);
      const next = all[event.key === "ArrowRight" ? Math.min(at + 1, all.length - 1) : Math.max(at - 1, 0)];
      this.point(next);
      next?.scrollIntoView({ block: "nearest" });
    });
  }

  clear() {
    this.element.replaceChildren();
    this.nodes = [];
    this.blocks = [];
    this.pointed = null;
    this.finish();
    this.mark([]);
  }

  point(span) {
    if (!span || span === this.pointed || !span.dataset.span) return;
    this.pointed?.classList.remove("pointed");
    this.pointed = span;
    span.classList.add("pointed");
    const s = this.spans[Number(span.dataset.span)];
    const marker = s.marker ? `${JSON.stringify(s.marker)}${s.rules?.length ? `, in the rule ${s.rules.join(", ")}` : ""} — ` : "";
    const call = s.call >= 0 ? ` (call ${s.call + 1}${s.malformed ? ", malformed" : ""})` : "";
    this.why.textContent = `${s.start}–${s.end}: ${marker}${s.says}${call}${this.tokensOf(s)}`;
  }

  // tokensOf tells the ids of the tokens in a stretch, if tokens are underlined.
  tokensOf(span) {
    const ids = [];
    for (let i = this.first(span.start + 1); i < this.ends.length && (i === 0 || this.ends[i - 1][0] < span.end); i++) {
      if (!(this.ends[i][1] >= 0)) continue;
      if (ids.length === 12) {
        ids.push("…");
        break;
      }
      ids.push(this.ends[i][1]);
    }
    return ids.length ? `; token ${ids.join(", ")}` : "";
  }

  // first is the number of the first end at a place or behind it.
  first(place) {
    let low = 0, high = this.ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.ends[middle][0] < place) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // mark underlines stretches, alternately in two ways, given where they end.
  mark(ends) {
    this.ends = ends;
    this.underline();
  }

  // underline does so where the text is in sight; the rest has no need of it.
  underline() {
    if (!globalThis.CSS?.highlights || this.underlining) return;
    if (this.ends.length === 0 || this.nodes.length === 0) {
      for (const name of ["odd", "even"]) CSS.highlights.delete(name + this.suffix);
      return;
    }
    this.underlining = true;
    requestAnimationFrame(() => {
      this.underlining = false;
      const { top, bottom } = this.element.getBoundingClientRect();
      const seen = (i) => {
        const box = this.blocks[i].block.getBoundingClientRect();
        return box.bottom >= top && box.top <= bottom;
      };
      let from = 0;
      while (from < this.blocks.length - 1 && !seen(from)) from++;
      let to = from + 1;
      while (to < this.blocks.length && seen(to)) to++;
      // Of these blocks, which may be long lines, the part that is in sight.
      const limit = to < this.blocks.length ? this.blocks[to].at : Infinity;
      let begin = -1, end = 0;
      const whole = document.createRange();
      for (let i = this.nodeAt(this.blocks[from]?.at ?? 0); i < this.nodes.length && this.nodes[i].at < limit; i++) {
        whole.selectNode(this.nodes[i].node);
        const box = whole.getBoundingClientRect();
        if (box.bottom < top || box.top > bottom) continue;
        if (begin < 0) begin = this.nodes[i].at;
        end = this.nodes[i].at + this.nodes[i].node.length;
      }
      const ranges = [[], []];
      for (let i = this.first(begin + 1); begin >= 0 && i < this.ends.length; i++) {
        const begins = i > 0 ? this.ends[i - 1][0] : 0;
        if (begins >= end) break;
        if (this.ends[i][1] !== -1) ranges[i % 2].push(this.range(begins, this.ends[i][0]));
      }
      ["odd", "even"].forEach((name, i) => CSS.highlights.set(name + this.suffix, new Highlight(...ranges[i])));
    });
  }

  async show(text, spans, signal) {
    this.spans = spans;
    let block = null, length = 0, start = performance.now();
    for (let i = 0; i < spans.length; i++) {
      const span = spans[i];
      for (let at = span.start; at < span.end; ) {
        if (!block || length >= most) {
          block = document.createElement("div");
          block.className = "block";
          this.element.append(block);
          this.blocks.push({ at, block });
          length = 0;
        }
        let end = span.end;
        if (end - at > most - length) {
          const line = text.indexOf("\n", at + most - length);
          end = Math.min(line >= 0 ? line + 1 : at + 4 * most, span.end, at + 4 * most);
        }
        const element = document.createElement("span");
        element.className = span.became + (span.malformed ? " malformed" : "");
        element.dataset.span = String(i);
        // Short nodes, for what browsers do to underline a part of one grows with its length.
        for (let from = at, to; from < end; from = to) {
          to = Math.min(from + longest, end);
          if (to < end && (text.charCodeAt(to) & 0xfc00) === 0xdc00) to++; // not between the halves of a character
          const node = new Text(text.slice(from, to));
          element.append(node);
          this.nodes.push({ at: from, node });
        }
        block.append(element);
        length += end - at;
        if (length >= most && text[end - 1] !== "\n" && end < text.length) length = most - 1; // goes on in the same line
        if (length >= 4 * most) length = most;
        at = end;
        if (performance.now() - start > budget) {
          await pause();
          signal.throwIfAborted();
          start = performance.now();
        }
      }
    }
  }

  // range is the range from one place of the text to another. It does not follow changes of the page, so costs them nothing.
  range(from, to) {
    const [startContainer, startOffset] = this.place(from);
    const [endContainer, endOffset] = this.place(to);
    return new StaticRange({ startContainer, startOffset, endContainer, endOffset });
  }

  // nodeAt is the number of the node that a place is in.
  nodeAt(at) {
    let low = 0, high = this.nodes.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.nodes[middle].at <= at) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  place(at) {
    const { at: begin, node } = this.nodes[this.nodeAt(at)];
    return [node, Math.min(at - begin, node.length)];
  }

  // progress shows how far the text has been read, and how much of that is held.
  progress(at, held) {
    if (!globalThis.CSS?.highlights || this.nodes.length === 0) return;
    const last = this.nodes.at(-1);
    const end = last.at + last.node.length;
    CSS.highlights.set("waiting" + this.suffix, new Highlight(this.range(Math.min(at, end), end)));
    if (held > 0) CSS.highlights.set("held" + this.suffix, new Highlight(this.range(Math.max(at - held, 0), at)));
    else CSS.highlights.delete("held" + this.suffix);
  }

  finish() {
    globalThis.CSS?.highlights?.delete("waiting" + this.suffix);
    globalThis.CSS?.highlights?.delete("held" + this.suffix);
  }
}
