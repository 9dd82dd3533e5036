package cli

import (
	"bytes"
	"strings"
	"testing"
)

func TestDemo(t *testing.T) {
	var out, complaints bytes.Buffer
	if status := Main([]string{"demo", "--port", "0"}, strings.NewReader(""), &out, &complaints); status != 0 || complaints.Len() > 0 {
		t.Fatalf("expected status 0, found %d: %s", status, complaints.String())
	}
	for _, want := range []string{
		"<think>", "<tool_call>", // what the model wrote
		"(finish_reason tool_calls)", "1. get_weather", `"city": "Paris"`, // whole
		`reasoning  "`, "tool call  get_weather", `arguments  "`, "finish     tool_calls", "reasoning_tokens", // streamed
		"curl -N http://127.0.0.1:", `OpenAI(base_url="http://127.0.0.1:`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("expected %q in the output:\n%s", want, out.String())
		}
	}
}

func TestServeSaysWhatIsWrongBeforeItListens(t *testing.T) {
	for _, test := range []struct {
		arguments []string
		status    int
		says      string
	}{
		{[]string{"serve", "--bogus"}, 2, "parlance: unknown flag: --bogus"},
		{[]string{"serve", "--tool-strict-level", "much"}, 2, "choose from auto, function, parameter"},
		{[]string{"serve", "--default-chat-template-kwargs", "{"}, 2, "expected a JSON object"},
		{[]string{"serve", "--enable-auto-tool-choice"}, 1, "TypeError: --enable-auto-tool-choice requires --tool-call-parser\n"},
		{[]string{"serve", "--tool-call-parser", "nobody"}, 1, "KeyError: invalid tool call parser: nobody (chose from { apertus, "},
		{[]string{"serve", "--reasoning-parser", "nobody"}, 1, "KeyError: invalid reasoning parser: nobody (chose from { "},
	} {
		var out, complaints bytes.Buffer
		if status := Main(test.arguments, strings.NewReader(""), &out, &complaints); status != test.status || !strings.Contains(complaints.String(), test.says) {
			t.Errorf("%v: expected status %d and %q, found %d: %s", test.arguments, test.status, test.says, status, complaints.String())
		}
	}
}
