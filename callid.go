package parlance

import (
	"strconv"
	"strings"

	"github.com/parlance-llm/parlance/internal/grammar"
)

// ToolFormat tells of the format of the tool half. It answers false if the parser has none.
func (p *Parser) ToolFormat() (FormatInfo, bool) { return p.halfInfo(p.toolHalf) }

// ReasoningFormat tells of the format of the reasoning half. It answers false if the parser has none.
func (p *Parser) ReasoningFormat() (FormatInfo, bool) { return p.halfInfo(p.reasoningHalf) }

func (p *Parser) halfInfo(half *grammar.Definition) (FormatInfo, bool) {
	if half == nil {
		return FormatInfo{}, false
	}
	return infoOf(p.library, half), true
}

// CallID writes the id that a model of the tool half's format would write for a call: the id pattern of its definition,
// filled with the name of the function and the number of the call, from 0. It answers false where the format writes no
// ids, or ids that nothing follows from.
func (p *Parser) CallID(name string, number int) (id string, ok bool) {
	if p.toolHalf == nil || name == "" || number < 0 {
		return "", false
	}
	var pattern grammar.Expression
	for _, rule := range p.toolHalf.Rules {
		grammar.Walk(rule.Body, func(e grammar.Expression) bool {
			if capture, is := e.(*grammar.Capture); is && capture.Name == "id" && pattern == nil {
				pattern = capture.Shape
			}
			return true
		})
	}
	if pattern == nil {
		return "", false
	}
	var out strings.Builder
	whole := true
	grammar.Walk(pattern, func(e grammar.Expression) bool {
		switch e := e.(type) {
		case *grammar.Literal:
			out.WriteString(e.Text)
		case *grammar.Capture:
			switch e.Name {
			case "name":
				out.WriteString(name)
			case "index":
				out.WriteString(strconv.Itoa(number))
			default:
				whole = false
			}
			return false
		case *grammar.Choice:
			whole = whole && len(e.Alternatives) == 1
		case *grammar.Sequence, *grammar.Optional:
		default:
			whole = false
			return false
		}
		return true
	})
	return out.String(), whole && out.Len() > 0
}
