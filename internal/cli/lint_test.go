package cli

import (
	"path/filepath"
	"testing"
)

func TestLint(t *testing.T) {
	contains(t, good(t, "", "lint", "hermes"), "── hermes ", "nothing odd\n", `"<tool_call>"  up to 10 bytes, then until the name in a JSON object follows`)
	contains(t, good(t, "", "lint", "--json", "xlam"), `"faults":[]`, `{"file":"formats/xlam.yaml"`, `"waits":[{"where":["content`)
	contains(t, good(t, "", "lint", "--held=false", "../../formats"), "── qwen3_coder ", "── deepseek_v41 ")

	base := file(t, "base.yaml", "format: base\ngrammar: |\n  call = \"<c>\" @name ~ @arguments:json \"</c>\" .\n")
	over := file(t, "over.yaml", "format: over\nextends: base\ntool: [over]\ngrammar: |\n  output = { @content | call } .\n  frame = \"<f>\" @content \"</f>\" .\n")
	contains(t, good(t, "", "lint", base, over), "── base ", "── over ", "odd "+over+":6:3: the rule frame is not reached")
	o := run(t, "", "lint", over, base)
	if o.status != 1 {
		t.Errorf("status %d", o.status)
	}
	contains(t, o.out, "fault "+over+":2:10: extends: there is no format base", "── base ")

	twice := file(t, "twice.yaml", "format: twice\nreasoning: [twice]\ntool: [twice]\ngrammar: |\n  thought = \"<a>\" @reasoning \"</a>\" .\n  frame = \"<a>\" @content \"</a>\" .\n")
	o = run(t, "", "lint", twice)
	contains(t, o.out, "fault "+twice+":5:19: ambiguous: the same text can be read as reasoning of the thought in line 5 and as content of the frame in line 6")
	mine := file(t, "mine.yaml", "format: mine\nextends: hermes\ntool: [hermes]\nreasoning: [qwen3]\n")
	contains(t, good(t, "", "lint", mine), "odd "+mine+":1:1: the tool parser hermes is built in: taking its name needs --override-parsers", "the reasoning parser qwen3 is built in")
	o = run(t, "", "lint", filepath.Join("nowhere", "x.yaml"))
	contains(t, o.complaints, "no such file")
	o = run(t, "", "lint", "parser.py")
	contains(t, o.complaints, "a Python plug-in")
}
