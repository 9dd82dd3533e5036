// A tray is a growing text, put on the page in blocks that the browser may leave undrawn while they are out of sight.

const most = 4000; // characters a block, unless there is no line break

export class Tray {
  constructor(element) {
    this.element = element;
    this.pending = [];
  }

  clear() {
    this.pending = [];
    this.block = null;
    this.element.replaceChildren();
  }

  add(text) {
    this.pending.push(text);
  }

  // flush puts what was added on the page, at most so many characters at once; it tells whether there is more.
  flush(limit = Infinity) {
    if (this.pending.length === 0) return false;
    const all = this.pending.join("");
    let text = all.slice(0, limit);
    this.pending = all.length > limit ? [all.slice(limit)] : [];
    while (text) {
      if (!this.block || this.block.length >= most) {
        const element = document.createElement("div");
        element.className = "block";
        this.block = { node: element.appendChild(new Text()), length: 0 };
        this.element.append(element);
      }
      const room = Math.max(most - this.block.length, 1);
      let n = text.length;
      if (n > room) {
        const line = text.indexOf("\n", room);
        n = line >= 0 && line < room + most ? line + 1 : room;
      }
      this.block.node.appendData(text.slice(0, n));
      this.block.length += n;
      text = text.slice(n);
    }
    return this.pending.length > 0;
  }
}
