package constrain

import (
	"encoding/json/jsontext"
	"strings"

	"github.com/parlance-llm/parlance/server/generate"
)

// jsonGuard reads a forced call as plain JSON and tells whether the engine has made the model write any: engines that do
// not know the field in which a schema is sent pass over it, and the model is free. It does not judge the schema itself,
// whose members may come in any order and layout.
type jsonGuard struct {
	begin byte // what the JSON begins with
	text  strings.Builder
}

// jsonGuards makes the guards of a request: named tells a call of one function, whose object of arguments is the answer,
// from a list of calls.
func jsonGuards(named bool) func() generate.Guard {
	begin := byte('[')
	if named {
		begin = '{'
	}
	return func() generate.Guard { return &jsonGuard{begin: begin} }
}

func (g *jsonGuard) Write(text string) bool {
	g.text.WriteString(text)
	begun := strings.TrimLeft(g.text.String(), " \t\r\n")
	return begun == "" || begun[0] == g.begin
}

func (g *jsonGuard) Whole() bool { return jsontext.Value(g.text.String()).IsValid() }
