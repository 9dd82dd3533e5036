package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMain lets the test binary be the parlance command, for tests that need another process.
func TestMain(m *testing.M) {
	if os.Getenv("PARLANCE_MAIN") != "" {
		os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// outcome is what a command line wrote and its exit status.
type outcome struct {
	out, complaints string
	status          int
}

func run(t *testing.T, in string, arguments ...string) outcome {
	t.Helper()
	var out, complaints bytes.Buffer
	status := Main(arguments, strings.NewReader(in), &out, &complaints)
	return outcome{out.String(), complaints.String(), status}
}

// good runs a command line that must succeed, and gives what it wrote.
func good(t *testing.T, in string, arguments ...string) string {
	t.Helper()
	o := run(t, in, arguments...)
	if o.status != 0 || o.complaints != "" {
		t.Fatalf("parlance %q: status %d\n%s", arguments, o.status, o.complaints)
	}
	return o.out
}

func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("expected %q in\n%s", part, text)
		}
	}
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

const hermesCall = "Let me see.\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Genève\", \"days\": 3}}\n</tool_call>"

func TestMistakesInTheCommandLine(t *testing.T) {
	answer := file(t, "answer.txt", hermesCall)
	empty := file(t, "empty.json", "{}")
	for _, test := range []struct {
		arguments string
		status    int
		says      string
	}{
		{"parse", 2, "expected --tool-call-parser or --reasoning-parser, found neither"},
		{"parse --tool-call-parser hermess", 1, "parlance: invalid tool call parser: hermess (did you mean hermes"},
		{"parse --reasoning-parser qwen4", 1, "parlance: invalid reasoning parser: qwen4 (did you mean qwen3"},
		{"parse --tool-call-parser zzzzzz", 1, "(parlance formats lists the names)"},
		{"parse --tool-call-parser hermes --chunk many", 2, `expected a number of characters, or seed:K with a whole number K, found "many"`},
		{"parse --tool-call-parser hermes --finish-reason tired", 2, `expected stop or length, found "tired"`},
		{"parse --tool-call-parser hermes --white-space some", 2, `expected trim or exact, found "some"`},
		{"parse --tool-call-parser hermes --held-limit 3x", 2, `expected a number of bytes, such as 4096, 4KiB or 16MiB, found "3x"`},
		{"parse --tool-call-parser hermes --argument-limit 0", 2, "expected a number of bytes"},
		{"parse --tool-call-parser hermes --chat-template-kwargs [1]", 2, "--chat-template-kwargs: expected an object, found an array"},
		{"parse --tool-call-parser hermes --tool-choice {}", 2, "--tool-choice: tool_choice.function.name: expected the name of a function"},
		{"parse --tool-call-parser hermes --json --deltas", 2, "expected --deltas alone, or --json and --trace, found both"},
		{"parse --tool-call-parser hermes --colour", 2, "unknown flag: --colour"},
		{"parse --tool-call-parser hermes a b", 2, `expected FILE alone, found "b" behind it`},
		{"parse --tool-call-parser hermes /nowhere/x", 1, "/nowhere/x: no such file"},
		{"parse --tool-call-parser hermes .", 1, ".: expected a file, found a folder"},
		{"parse --tool-call-parser hermes --tools /nowhere/x", 1, "--tools: open /nowhere/x: no such file"},
		{"parse --tool-call-parser hermes --prompt @/nowhere/x", 1, "--prompt: open /nowhere/x: no such file"},
		{"parse --tool-call-parser hermes --tools " + answer, 1, "answer.txt: tools: expected an array of tools"},
		{"parse --tool-call-parser hermes --response-template " + answer, 1, "Invalid response_template metadata: expected a JSON object, found text that is no JSON"},
		{"prase", 2, `unknown command "prase"`},
		{"help prase", 2, `unknown command "prase"`},
		{"check", 2, "expected PATH..., found nothing"},
		{"check /nowhere", 1, "/nowhere: no such file"},
		{"check --splits -1 .", 2, "--splits: expected a number from 0, found -1"},
		{"formats hermse", 1, `there is no format or parser "hermse" (did you mean hermes`},
		{"bench", 2, "expected FILE, found nothing"},
		{"bench " + answer, 1, "answer.txt: workloads: expected JSON"},
		{"batch -o /nowhere/x", 1, "/nowhere/x: no such file"},
		{"lint hermse", 1, `expected a file, a folder or the name of a format, found "hermse", which is none (did you mean hermes`},
		{"lint zzzzzz", 1, `found "zzzzzz", which is none (parlance formats lists the formats)`},
		{"parse --tool-call-parser hf", 1, "(--tokenizer or --response-template gives it)"},
		{"parse --tool-call-parser hermes --include-reasoning=maybe", 2, `--include-reasoning: expected true or false, found "maybe"`},
		{"serve --port x", 2, `--port: expected a whole number, found "x"`},
		{"serve --engine-timeout 5", 2, `--engine-timeout: expected a time with its unit, such as 500ms, 30s or 10m, found "5"`},
		{"prompt --chat-template hermes " + answer, 1, "answer.txt: expected a request for chat completions: expected JSON"},
		{"prompt --chat-template hermes " + empty, 1, "empty.json: messages: expected an array of messages, found nothing"},
		{"prompt --chat-template hermes --tools " + empty + " ../../samples/request.json", 1, "empty.json: tools: expected an array, found an object"},
		{"render --tool-call-parser hermes " + empty, 1, "empty.json: expected a message with content, reasoning or tool_calls, found none of them"},
		{"constrain", 2, "expected --tool-call-parser or --reasoning-parser, found neither"},
		{"constrain --tool-call-parser hermes --response-format " + answer, 1, "answer.txt: response_format: expected JSON"},
		{"detect", 2, "or a sample of output on the standard input, found nothing"},
		{"version now", 2, `expected no argument, found "now"`},
	} {
		o := run(t, "", strings.Fields(test.arguments)...)
		if o.status != test.status || o.out != "" || !strings.HasPrefix(o.complaints, "parlance: ") || !strings.Contains(o.complaints, test.says) {
			t.Errorf("parlance %s\nexpected status %d and %q\nfound status %d and %q, and on the output %q", test.arguments, test.status, test.says, o.status, o.complaints, o.out)
		}
	}
}

func TestBrokenToolsNameToolAndField(t *testing.T) {
	for text, says := range map[string]string{
		`[{"type": "function", "function": {"name": "a"}}, {"type": "function", "function": {"name": "b", "parameters": 3}}]`: "tools[1] (b): function.parameters: expected a JSON schema, found 3",
		`[{"type": "function"}]`:                          "tools[0]: function: expected an object, found nothing",
		`[{"type": "function", "function": {"name": 7}}]`: "tools[0]: function.name: expected a name, found 7",
	} {
		tools := file(t, "tools.json", text)
		o := run(t, "x", "parse", "--tool-call-parser", "hermes", "--tools", tools)
		if o.status != 1 || !strings.HasSuffix(o.complaints, "tools.json: "+says+"\n") {
			t.Errorf("%s\nexpected %q\nfound %d %q", text, says, o.status, o.complaints)
		}
	}
}

func TestCompletionKnowsTheNames(t *testing.T) {
	contains(t, good(t, "", "completion", "bash"), "parlance")
	for arguments, names := range map[string][]string{
		"parse --tool-call-parser ":    {"\nqwen3_coder\n", "\nkimi_k2\n"},
		"parse --reasoning-parser ":    {"\ndeepseek_r1\n", "\nqwen3\n"},
		"parse --white-space ":         {"trim\nexact\n"},
		"parse --tool-choice ":         {"auto\nnone\nrequired\n"},
		"parse --finish-reason ":       {"stop\nlength\n"},
		"formats ":                     {"\nqwen3_xml\n", "\ndeepseek_r1\n", "\nmistral_v7\n"},
		"parse --tool-call-parser her": {"hermes\n"},
	} {
		o := run(t, "", append([]string{"__complete"}, strings.Split(arguments, " ")...)...)
		contains(t, "\n"+o.out, names...)
	}
}

func TestVersion(t *testing.T) {
	contains(t, good(t, "", "version"), "parlance ", " go1.")
	if flag, command := good(t, "", "--version"), good(t, "", "version"); flag != command {
		t.Errorf("--version prints %q, version %q", flag, command)
	}
}

func TestSize(t *testing.T) {
	for text, want := range map[string]size{"1": 1, "4096": 4096, "4KiB": 4096, "16MiB": 16 << 20, "64kB": 64000, "1 GiB": 1 << 30, "10B": 10} {
		var s size
		if err := s.Set(text); err != nil || s != want {
			t.Errorf("%s: %d, %v", text, s, err)
		}
	}
	for _, text := range []string{"", "0", "-4", "KiB", "4kib", "4 KB", "1e3", "99999999999GiB", "9223372036854775807kB"} {
		if s := size(0); s.Set(text) == nil {
			t.Errorf("%q was accepted as %d", text, s)
		}
	}
	if s := size(4 << 10); s.String() != "4KiB" {
		t.Error(s.String())
	}
}

func TestVisible(t *testing.T) {
	if got := visible("a\x1b[31mé\r\n\tb\xff\u0085\ufffd"); got != "a\\x1b[31mé\\x0d\n\tb\\xff\\x85\ufffd" {
		t.Errorf("%q", got)
	}
}
