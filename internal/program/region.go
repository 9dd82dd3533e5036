package program

import "github.com/parlance-llm/parlance/internal/grammar"

// region is one use of a role.
type region struct {
	role   grammar.Role
	rule   string
	parent int
	entry  int // the first step of the region
	exit   int // the step behind the region
	// texts are the steps of the region's own text captures.
	texts []int
	// closers are the first literals of its closing markers.
	closers []int
	// made: the call's arguments are, or may be, written in tags or with delimiters.
	made bool
	// list: the calls of the block are elements of a bracketed list.
	list bool
	half *half
}

// outside is the number of no region.
const outside = -1

// call gives the call a step stands in, or outside.
func (c *compiler) call(step int) int { return c.around(c.graph.steps[step].region, grammar.Call) }

// around gives the nearest region of a role at or above a region, or outside.
func (c *compiler) around(region int, role grammar.Role) int { return c.graph.around(region, role) }

func (g *graph) around(region int, role grammar.Role) int {
	for r := region; r != outside; r = g.regions[r].parent {
		if g.regions[r].role == role {
			return r
		}
	}
	return outside
}

// inside tells whether a region is, or lies in, another.
func (c *compiler) inside(region, other int) bool {
	for r := region; r != outside; r = c.graph.regions[r].parent {
		if r == other {
			return true
		}
	}
	return false
}

// roleOf gives the role of a region; what stands in none is output.
func (c *compiler) roleOf(region int) grammar.Role {
	if region == outside {
		return grammar.Output
	}
	return c.graph.regions[region].role
}
