package machine

import (
	"github.com/parlance-llm/parlance/internal/program"
)

// echoLimit is how long a block may be to be recognised when it is written a second time.
const echoLimit = 64 << 10

// echo is a block that may be written a second time: what was recorded of it, without its white space, and how much of
// that has come again.
type echo struct {
	recording bool
	text      []byte
	at        int
}

func (m *Machine) stopEcho() {}

// inEcho reads text as long as it repeats the recorded block, white space aside.
func (m *Machine) inEcho(n *program.Node, piece []byte, i int) int {
	return i
}
