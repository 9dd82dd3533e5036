package chattemplate

import (
	"fmt"
	"strconv"
	"strings"
)

// block is an open tag.
type block struct {
	kind string
	line int
	// weight is the length of the text inside, without that of blocks which are weighed themselves; weighed is where in
	// the output it is to be written, or -1.
	weight, weighed int
	// end is what is written when it is closed.
	end string
	// conditional: what is inside is not always run.
	conditional bool
}

func (w *writer) emit(s string) { w.out = append(w.out, s) }

// statement writes a tag of the library's. The plus signs keep it from trimming, which has been done.
func (w *writer) statement(s string) { w.emit("{%+ " + s + " +%}") }

func (w *writer) temporary() string {
	w.temporaries++
	return "__t" + strconv.Itoa(w.temporaries)
}

// open begins a block. One that is weighed has its weight written at the end of the output so far.
func (w *writer) open(kind string, line int, end string) *block {
	b := &block{kind: kind, line: line, weighed: -1, end: end}
	w.blocks = append(w.blocks, b)
	return b
}

// weigh leaves a place for the weight of a block.
func (w *writer) weigh(b *block) {
	b.weighed = len(w.out)
	w.emit("")
}

func (w *writer) conditionally(b *block) {
	b.conditional = true
	w.conditional++
}

// close ends the innermost block, which must be of a kind.
func (w *writer) close(kind string, line int) error {
	if len(w.blocks) == 0 {
		return &lineError{line, fmt.Sprintf("found end%s, but no tag is open", kind)}
	}
	b := w.blocks[len(w.blocks)-1]
	if b.kind != kind {
		return &lineError{line, fmt.Sprintf("expected end%s, for the tag of line %d, found end%s", b.kind, b.line, kind)}
	}
	w.blocks = w.blocks[:len(w.blocks)-1]
	if b.weighed >= 0 {
		w.out[b.weighed] = strconv.Itoa(b.weight)
	} else {
		w.weighText(b.weight)
	}
	if b.conditional {
		w.conditional--
	}
	w.emit(b.end)
	return nil
}

func (w *writer) weighText(n int) {
	if len(w.blocks) > 0 {
		w.blocks[len(w.blocks)-1].weight += n
	}
}

// innermost gives the innermost block if it is of one of some kinds.
func (w *writer) innermost(kinds ...string) *block {
	if len(w.blocks) > 0 {
		if b := w.blocks[len(w.blocks)-1]; contains(kinds, b.kind) {
			return b
		}
	}
	return nil
}

// write writes the parts of a template.
func (w *writer) write(parts []part) error {
	for i := range parts {
		if err := w.part(&parts[i]); err != nil {
			return err
		}
	}
	if len(w.blocks) > 0 {
		b := w.blocks[len(w.blocks)-1]
		return &lineError{b.line, fmt.Sprintf("expected end%s, found the end of the template", b.kind)}
	}
	return nil
}

func (w *writer) part(t *part) error {
	p := &parser{tokens: t.tokens, line: t.line}
	switch t.kind {
	case textPart:
		w.weighText(len(t.text))
		w.texts = append(w.texts, t.text)
		// Text that could be read as a tag, or with the tag behind it become one, is written as a string.
		if strings.Contains(t.text, "{{") || strings.Contains(t.text, "{%") || strings.Contains(t.text, "{#") || strings.HasSuffix(t.text, "{") {
			w.emit("{{" + literal(t.text) + "}}")
		} else {
			w.emit(t.text)
		}
		return nil
	}
	if w.traced {
		w.emit("{{ " + w.call("__line", strconv.Itoa(t.line)) + " }}")
	}
	if t.kind == outputPart {
		return w.output(p)
	}
	name, err := p.name()
	if err != nil {
		return err
	}
	if len(w.blocks) >= maxNesting {
		return &lineError{t.line, fmt.Sprintf("the tags nest deeper than %d levels", maxNesting)}
	}
	if write := statements[name]; write != nil {
		err = write(w, p)
	} else if kind, ok := strings.CutPrefix(name, "end"); ok && blockKinds[kind] {
		if kind == "block" && p.peek().kind == nameToken {
			p.next()
		}
		err = w.close(kind, t.line)
	} else {
		return &lineError{t.line, fmt.Sprintf("there is no tag %q", name)}
	}
	if err != nil {
		return err
	}
	return p.end()
}

var blockKinds = map[string]bool{"if": true, "for": true, "set": true, "macro": true, "call": true, "filter": true, "with": true, "generation": true, "block": true, "autoescape": true}

// statements write the tags, from behind their name.
var statements map[string]func(*writer, *parser) error

func init() {
	statements = map[string]func(*writer, *parser) error{
		"if": (*writer).ifTag, "elif": (*writer).elifTag, "else": (*writer).elseTag, "for": (*writer).forTag,
		"break": loopControl("break"), "continue": loopControl("continue"), "set": (*writer).setTag,
		"macro": (*writer).macroTag, "call": (*writer).callTag, "filter": (*writer).filterTag, "with": (*writer).withTag,
		"generation": (*writer).generationTag, "block": (*writer).blockTag, "autoescape": (*writer).autoescapeTag,
		"print": (*writer).output, "include": unavailable("include"), "import": unavailable("import"),
		"from": unavailable("from"), "extends": unavailable("extends"),
	}
}

func (w *writer) output(p *parser) error {
	n, err := p.tuple(false, true)
	if err != nil {
		return err
	}
	written, err := w.expression(n)
	if err != nil {
		return err
	}
	if !isText(n) {
		written = w.call("__print", written)
	}
	w.emit("{{ " + written + " }}")
	return p.end()
}

// whole reads the one expression of a tag.
func (w *writer) whole(p *parser) (string, error) {
	n, err := p.tuple(false, false)
	if err != nil {
		return "", err
	}
	return w.expression(n)
}

func (w *writer) ifTag(p *parser) error {
	condition, err := w.whole(p)
	if err != nil {
		return err
	}
	w.statement("if " + condition)
	w.conditionally(w.open("if", p.line, "{%+ endif +%}"))
	return nil
}

func (w *writer) elifTag(p *parser) error {
	if b := w.innermost("if"); b == nil {
		return &lineError{p.line, "found elif, but the innermost tag is no if"}
	}
	condition, err := w.whole(p)
	w.statement("elif " + condition)
	return err
}

func (w *writer) elseTag(p *parser) error {
	if w.innermost("if", "for") == nil {
		return &lineError{p.line, "found else, but the innermost tag is no if or for"}
	}
	w.statement("else")
	return nil
}

func loopControl(name string) func(*writer, *parser) error {
	return func(w *writer, p *parser) error {
		for _, b := range w.blocks {
			if b.kind == "for" {
				w.statement(name)
				return nil
			}
		}
		return &lineError{p.line, "found " + name + ", but no loop is open"}
	}
}

// unavailable are tags that load other templates, of which there are none.
func unavailable(name string) func(*writer, *parser) error {
	return func(w *writer, p *parser) error {
		p.at = len(p.tokens)
		w.emit("{{ " + w.call("__refuse", literal("the tag "+name+" would load another template, and there is none")) + " }}")
		return nil
	}
}

func (w *writer) callTag(p *parser) error {
	var names []string
	if p.skip("(") {
		if err := p.list(")", func() error {
			name, err := p.name()
			w.assigned[name] = true
			names = append(names, identifier(name))
			return err
		}); err != nil {
			return err
		}
	}
	n, err := p.expression()
	if err != nil {
		return err
	}
	if n.kind != callNode {
		return &lineError{p.line, "expected a call"}
	}
	call, err := w.expression(n)
	w.statement("call(" + strings.Join(names, ", ") + ") " + call)
	w.open("call", p.line, "{%+ endcall +%}")
	return err
}

// filterTag filters what a block prints.
func (w *writer) filterTag(p *parser) error {
	name := w.temporary()
	written, err := w.filterChain(p, name)
	w.statement("set " + name)
	w.open("filter", p.line, "{%+ endset +%}{{ "+written+" }}")
	return err
}

// filterChain reads filters with bars between them, of a value that is written already.
func (w *writer) filterChain(p *parser, value string) (string, error) {
	for {
		n, err := p.filter(p.node(nameNode, ""))
		if err != nil {
			return "", err
		}
		if value, err = w.filtered(n, value); err != nil || !p.skip("|") {
			return value, err
		}
	}
}

// scope writes a block whose assignments stay inside, as a macro that is called at once.
func (w *writer) scope(kind string, line int, names, values []string) {
	macro := w.temporary()
	w.statement("macro " + macro + "(" + strings.Join(names, ", ") + ")")
	w.open(kind, line, "{%+ endmacro +%}{{ "+macro+"("+strings.Join(values, ", ")+") }}")
}

func (w *writer) withTag(p *parser) error {
	var names, values []string
	for p.peek().kind != endToken {
		if len(names) > 0 {
			if err := p.expect(","); err != nil {
				return err
			}
		}
		name, err := p.name()
		if err != nil {
			return err
		}
		if err := p.expect("="); err != nil {
			return err
		}
		value, err := w.read(p)
		if err != nil {
			return err
		}
		w.assigned[name] = true
		names, values = append(names, identifier(name)), append(values, value)
	}
	w.scope("with", p.line, names, values)
	return nil
}

// generationTag marks what the model writes, which only training needs to know.
func (w *writer) generationTag(p *parser) error {
	w.scope("generation", p.line, nil, nil)
	return nil
}

// blockTag: a block that nothing overrides is what is inside.
func (w *writer) blockTag(p *parser) error {
	if _, err := p.name(); err != nil {
		return err
	}
	for p.skip("scoped") || p.skip("required") {
	}
	w.open("block", p.line, "")
	return nil
}

func (w *writer) autoescapeTag(p *parser) error {
	if !p.skip("false") && !p.skip("False") {
		return p.errorf("expected false, since escaping for HTML is not supported, found %s", p.peek())
	}
	w.open("autoescape", p.line, "")
	return nil
}
