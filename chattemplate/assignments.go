package chattemplate

import (
	"strconv"
	"strings"
)

// target is what is assigned to: a name, an attribute of a namespace, or several targets.
type target struct {
	name, attribute string
	several         []target
}

// targets reads what stands before in or the equals sign.
func (p *parser) targets(ends ...string) (t target, err error) {
	comma := false
	for {
		if next := p.peek(); next.kind == endToken || next.is(")") || next.is("=") || next.kind == nameToken && contains(ends, next.text) {
			break
		}
		var one target
		if p.skip("(") {
			if one, err = p.targets(); err == nil {
				err = p.expect(")")
			}
		} else if one.name, err = p.name(); err == nil && p.skip(".") {
			one.attribute, err = p.name()
		}
		if err != nil {
			return t, err
		}
		t.several = append(t.several, one)
		if !p.skip(",") {
			break
		}
		comma = true
	}
	switch {
	case len(t.several) == 0:
		return t, p.errorf("expected a name, found %s", p.peek())
	case len(t.several) == 1 && !comma:
		return t.several[0], nil
	}
	return t, nil
}

// names gives the names of a target of several, if all are names.
func (t target) names() (names []string, ok bool) {
	for _, one := range t.several {
		if one.name == "" || one.attribute != "" {
			return nil, false
		}
		names = append(names, identifier(one.name))
	}
	return names, true
}

// note notes what a target assigns.
func (w *writer) note(t target) {
	if t.attribute == "" && t.name != "" {
		w.assigned[t.name] = true
	}
	for _, one := range t.several {
		w.note(one)
	}
}

// assign writes the assignment of a value that is written already.
func (w *writer) assign(t target, value string) {
	switch {
	case t.attribute != "":
		namespace := identifier(t.name)
		w.variables[t.name] = true
		w.statement("set " + namespace + "." + t.attribute + " = " + w.call("__assign", namespace, value))
		return
	case t.name != "":
		w.statement("set " + identifier(t.name) + " = " + value)
		return
	}
	value = w.call("__unpack", value, strconv.Itoa(len(t.several)))
	if names, ok := t.names(); ok && len(names) > 1 {
		w.statement("set " + strings.Join(names, ", ") + " = " + value)
		return
	}
	temporary := w.temporary()
	w.statement("set " + temporary + " = " + value)
	for i, one := range t.several {
		w.assign(one, temporary+"["+strconv.Itoa(i)+"]")
	}
}

func (w *writer) setTag(p *parser) error {
	t, err := p.targets()
	if err != nil {
		return err
	}
	w.note(t)
	if p.skip("=") {
		n, err := p.tuple(false, true)
		if err != nil {
			return err
		}
		value, err := w.expression(n)
		w.content.held[t.name] = append(w.content.held[t.name], n)
		if n.kind == callNode && n.children[0].kind == nameNode && n.children[0].text == "namespace" {
			w.sure[t.name] = true
		}
		w.assign(t, value)
		return err
	}
	// The value is what the block prints, after the filters.
	if t.several != nil {
		return p.errorf("expected =, found %s", p.peek())
	}
	name := identifier(t.name)
	if t.attribute != "" {
		name = w.temporary()
	}
	value := name
	if p.skip("|") {
		if value, err = w.filterChain(p, name); err != nil {
			return err
		}
	}
	w.statement("set " + name)
	b := w.open("set", p.line, "{%+ endset +%}")
	if value != name || t.attribute != "" {
		at := len(w.out)
		w.assign(t, value)
		b.end += strings.Join(w.out[at:], "")
		w.out = w.out[:at]
	}
	return nil
}

func (w *writer) forTag(p *parser) error {
	t, err := p.targets("in")
	if err != nil {
		return err
	}
	w.note(t)
	for _, one := range append(t.several, t) {
		w.sure[one.name] = true
	}
	if err := p.expect("in"); err != nil {
		return err
	}
	n, err := p.tuple(false, false, "if", "recursive")
	if err != nil {
		return err
	}
	w.content.loops = append(w.content.loops, n)
	items, err := w.expression(n)
	if err != nil {
		return err
	}
	condition := ""
	if p.skip("if") {
		if condition, err = w.read(p); err != nil {
			return err
		}
		condition = " if " + condition
	}
	if p.skip("recursive") {
		condition += " recursive"
	}
	names, simple := t.names()
	variables, inside := "", ""
	switch {
	case t.name != "" && t.attribute == "":
		variables = identifier(t.name)
		w.functions["__each"] = true
		items = "__each(" + items
	case simple && len(names) == 2:
		variables = names[0] + ", " + names[1]
		w.functions["__pairs"] = true
		items = "__pairs(" + items
	case strings.HasPrefix(condition, " if"):
		return p.errorf("a condition in a loop over more than two names is not supported")
	default:
		variables = w.temporary()
		w.functions["__each"] = true
		items = "__each(" + items
		at := len(w.out)
		w.assign(t, variables)
		inside = strings.Join(w.out[at:], "")
		w.out = w.out[:at]
	}
	w.emit("{%+ for " + variables + " in " + items + ", ")
	b := w.open("for", p.line, "{%+ endfor +%}")
	w.weigh(b)
	w.emit(")" + condition + " +%}" + inside)
	return nil
}

func (w *writer) macroTag(p *parser) error {
	name, err := p.name()
	if err != nil {
		return err
	}
	w.assigned[name] = true
	if err := p.expect("("); err != nil {
		return err
	}
	var parameters []string
	if err := p.list(")", func() error {
		parameter, err := p.name()
		if err != nil {
			return err
		}
		w.assigned[parameter] = true
		w.content.parameters[name] = append(w.content.parameters[name], parameter)
		written := identifier(parameter)
		if p.skip("=") {
			value, err := w.read(p)
			if err != nil {
				return err
			}
			written += "=" + value
		}
		parameters = append(parameters, written)
		return nil
	}); err != nil {
		return err
	}
	w.statement("macro " + identifier(name) + "(" + strings.Join(parameters, ", ") + ")")
	w.functions["__enter"] = true
	w.emit("{{ __enter(")
	b := w.open("macro", p.line, "{{ "+w.call("__leave")+" }}{%+ endmacro +%}")
	w.weigh(b)
	w.emit(") }}")
	return nil
}
