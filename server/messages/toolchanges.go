package messages

import (
	"slices"

	"github.com/parlance-llm/parlance/server/body"
	"github.com/parlance-llm/parlance/server/generate"
)

// change is a change of the tools in the middle of a conversation: one is added or removed by a system message, or a search
// has found one whose loading was deferred. What the model may call at the end is what counts, since the prompt is made anew
// with every request.
type change struct {
	at     *body.Object // the block, for complaints
	name   string
	tool   *generate.Tool // one that is defined here
	remove bool
	found  bool // a search has found it: if it is not declared, nobody minds
}

// systemBlocks gives the text of a system message inside the conversation, and keeps the changes of the tools in it. It
// tells whether there is text.
func (r *Request) systemBlocks(m *body.Object) (text string, there bool) {
	var texts []*body.Object
	for _, block := range blocksOf(m) {
		if block == nil {
			continue
		}
		kind := block.String("type")
		switch {
		case kind != nil && (*kind == "tool_addition" || *kind == "tool_removal"):
			r.readChange(block, *kind == "tool_removal")
		default:
			block.Choice("type", "text", "tool_addition", "tool_removal")
			texts = append(texts, block)
		}
	}
	return joined(texts), len(texts) > 0
}

func (r *Request) readChange(block *body.Object, remove bool) {
	if !block.Need("tool") {
		return
	}
	reference := block.Object("tool")
	if reference == nil || !reference.Need("type") {
		return
	}
	kinds := []string{"tool_reference", "tool_definition"}
	if remove {
		kinds = kinds[:1]
	}
	switch kind := reference.Choice("type", kinds...); {
	case kind == nil:
	case *kind == "tool_reference":
		r.changes = append(r.changes, change{at: reference, name: required(reference, "name"), remove: remove})
	case reference.Need("definition"):
		if definition := reference.Object("definition"); definition != nil {
			if tool, ok := readTool(definition); ok {
				r.changes = append(r.changes, change{at: definition, name: tool.Name, tool: &tool})
			}
		}
	}
}

// changeTools makes the changes, in their order.
func (r *Request) changeTools() {
	known := map[string]generate.Tool{}
	for _, tool := range r.Tools {
		known[tool.Name] = tool
	}
	for _, c := range r.changes {
		if c.tool != nil {
			known[c.name] = *c.tool
		}
		tool, declared := known[c.name]
		if !declared {
			if !c.found && c.name != "" {
				c.at.Complain("name", "expected the name of a tool that is declared")
			}
			continue
		}
		tool.DeferLoading = nil
		switch i := slices.IndexFunc(r.Tools, func(t generate.Tool) bool { return t.Name == c.name }); {
		case c.remove && i >= 0:
			r.Tools = slices.Delete(r.Tools, i, i+1)
		case c.remove, c.found && i < 0: // it is gone
		case i >= 0:
			r.Tools[i] = tool
		default:
			r.Tools = append(r.Tools, tool)
		}
	}
}
