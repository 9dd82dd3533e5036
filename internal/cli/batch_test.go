package cli

import (
	"bytes"
	"encoding/json/v2"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestBatchInOrder(t *testing.T) {
	var in, want strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&in, `{"id":%d,"text":"<tool_call>{\"name\":\"f\",\"arguments\":{\"n\":%d}}</tool_call>%s","tool_parser":"hermes","stream":%t,"chunk":%d,"extra":[1]}`+"\n",
			i, i, strings.Repeat("x", i%97*50), i%2 == 0, i%4)
		text := strings.Repeat("x", i%97*50)
		segments := `[{"type":"tool_call","index":0}]`
		if text != "" {
			segments = `[{"type":"tool_call","index":0},{"type":"content","text":"` + text + `"}]`
		}
		fmt.Fprintf(&want, `{"id":%d,"reasoning":"","content":"%s","tool_calls":[{"id":"","name":"f","arguments":"{\"n\":%d}"}],"segments":%s,"malformed":false}`+"\n", i, text, i, segments)
	}
	if got := good(t, in.String(), "batch"); got != want.String() {
		t.Errorf("expected\n%.500s\nfound\n%.500s", want.String(), got)
	}
	if got := good(t, in.String(), "batch", file(t, "in.jsonl", "")); got != "" {
		t.Errorf("an empty file gave %q", got)
	}
}

func TestBatchKeys(t *testing.T) {
	for line, want := range map[string]string{
		`{"id":"a","text":"x</think>y","reasoning_parser":"qwen3","tool_parser":null}`:                                                 `{"id":"a","reasoning":"x","content":"y",`,
		`{"id":"a","text":"x</think>y","reasoning_parser":"qwen3","include_reasoning":false}`:                                          `{"id":"a","reasoning":"","content":"y",`,
		`{"id":[1, 2],"text":"x","reasoning_parser":"qwen3","chat_template_kwargs":{"enable_thinking":false}}`:                         `{"id":[1,2],"reasoning":"","content":"x",`,
		`{"text":"x","reasoning_parser":"qwen3","prompt":"<think></think>"}`:                                                           `{"id":null,"reasoning":"","content":"x",`,
		`{"id":1.0,"text":"{\"n\":1}","tool_parser":"hermes","tool_choice":{"type":"function","function":{"name":"g"}}}`:               `{"id":1.0,"reasoning":"","content":"","tool_calls":[{"id":"","name":"g","arguments":"{\"n\":1}"}]`,
		`{"id":1,"text":"<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":1","tool_parser":"hermes","finish_reason":"length"}`:          `"arguments":"{\"a\":1"`,
		`{"id":1,"text":"<tool_call>{\"name\":\"f\",\"arguments\":{a}}</tool_call>","tool_parser":"hermes","stream":true}`:             `"arguments":"{a}"}],"segments":[{"type":"tool_call","index":0}],"malformed":true}`,
		`{"id":1,"text":"a\ud800b","tool_parser":"hermes","stream":true,"chunk":{"seed":3}}`:                                           `"content":"a` + "\ufffd" + `b"`,
		`{"id":1,"id":2,"text":"a","tool_parser":"hermes","stream":null,"chunk":null,"tools":null,"finish_reason":null,"prompt":null}`: `{"id":2,`,
	} {
		contains(t, good(t, line+"\n", "batch"), want)
	}
	contains(t, good(t, `{"text":" x ","tool_parser":"hermes"}`, "batch", "--white-space", "exact"), `"content":" x "`)
}

func TestBatchBadLines(t *testing.T) {
	lines := []struct{ line, id, says string }{
		{`{"id":"ok","text":"fine","tool_parser":"hermes"}`, "", ""},
		{`{"id":"b","text":`, `"b"`, "expected JSON: it ends too early"},
		{`nonsense`, "null", "expected JSON: "},
		{`[1]`, "null", "expected an object, found an array"},
		{`{"id":"c","tool_parser":"hermes"}`, `"c"`, "text: expected a string, found nothing"},
		{`{"id":"d","text":3,"tool_parser":"hermes"}`, `"d"`, "text: expected a string, found a number"},
		{``, "", ""},
		{`{"id":"e","text":"x"}`, `"e"`, "expected the name of a tool parser or of a reasoning parser, found neither"},
		{`{"id":"f","text":"x","tool_parser":"hermess"}`, `"f"`, "invalid tool call parser: hermess (did you mean hermes"},
		{`{"id":"g","text":"x","tool_parser":"hermes","tools":[{"type":"function"}]}`, `"g"`, "tools[0]: function: expected an object, found nothing"},
		{`{"id":"h","text":"x","tool_parser":"hermes","chunk":-1}`, `"h"`, `chunk: expected a number of characters or {"seed": K}, found -1`},
		{`{"id":"i","text":"x","tool_parser":"hermes","finish_reason":"tired"}`, `"i"`, `finish_reason: expected stop or length, found "tired"`},
		{`{"id":"j","text":"x","tool_parser":"hermes","tool_choice":"maybe"}`, `"j"`, `tool_choice: expected auto, none, required or a function, found "maybe"`},
		{`{"id":"k","text":"x","tool_parser":"hermes","response_template":{}}`, `"k"`, "response_template: no `response_template` metadata in the tokenizer configuration"},
		{`{"id":"ok","text":"fine","tool_parser":"hermes"}`, "", ""},
	}
	var in strings.Builder
	for _, line := range lines {
		in.WriteString(line.line + "\n")
	}
	o := run(t, in.String(), "batch")
	if o.status != 1 {
		t.Errorf("expected status 1, found %d", o.status)
	}
	contains(t, o.complaints, "parlance: 12 of 14 lines could not be read\n")
	results := strings.Split(strings.TrimSuffix(o.out, "\n"), "\n")
	for i, line := range lines {
		if line.line == "" {
			continue
		}
		result := results[0]
		results = results[1:]
		if line.says == "" {
			contains(t, result, `{"id":"ok","reasoning":"","content":"fine"`)
			continue
		}
		contains(t, o.complaints, fmt.Sprintf("parlance: line %d: ", i+1)+line.says)
		var failure struct{ Error string }
		if err := json.Unmarshal([]byte(result), &failure, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(result, `{"id":`+line.id+`,"error":`) || !strings.HasPrefix(failure.Error, fmt.Sprintf("line %d: %s", i+1, line.says)) {
			t.Errorf("%s\nexpected id %s and line %d: %s\nfound %s", line.line, line.id, i+1, line.says, result)
		}
	}
	if len(results) != 0 {
		t.Errorf("results too many: %q", results)
	}
}

func TestBatchLongLines(t *testing.T) {
	long := strings.Repeat("word <tool ", 500_000)
	var in bytes.Buffer
	for i := range 6 {
		fmt.Fprintf(&in, `{"id":%d,"text":%q,"tool_parser":"hermes","stream":true,"chunk":4096}`+"\n", i, long)
	}
	results := strings.Split(good(t, in.String(), "batch"), "\n")
	if len(results) != 7 {
		t.Fatalf("expected 6 results, found %d", len(results)-1)
	}
	for i, result := range results[:6] {
		if !strings.HasPrefix(result, fmt.Sprintf(`{"id":%d,"reasoning":"","content":"word <tool word`, i)) || len(result) < len(long) {
			t.Errorf("result %d: %.200s", i, result)
		}
	}
}

// manyLines writes a file of n lines, some of them bad.
func manyLines(t *testing.T, n int) string {
	var in strings.Builder
	for i := range n {
		if i%1000 == 999 {
			fmt.Fprintf(&in, `{"id":"line %d"}`+"\n\n", i)
			continue
		}
		fmt.Fprintf(&in, `{"id":"line %d","text":"<tool_call>{\"name\":\"f\",\"arguments\":{\"n\":%d}}</tool_call> after","tool_parser":"hermes","stream":true,"chunk":1}`+"\n", i, i)
	}
	return file(t, "in.jsonl", in.String())
}

// TestBatchGoesOn kills a run in the middle and starts it again, until it is through.
func TestBatchGoesOn(t *testing.T) {
	in := manyLines(t, 20_000)
	want := run(t, "", "batch", in)
	if want.status != 1 || strings.Count(want.out, "\n") != 20_000 {
		t.Fatalf("status %d, %s", want.status, want.complaints)
	}
	out := filepath.Join(t.TempDir(), "out.jsonl")
	kills := 0
	for size := int64(1); size < int64(len(want.out)); size += int64(len(want.out)) / 4 {
		command := exec.Command(os.Args[0], "batch", "--output", out, in)
		command.Env = append(os.Environ(), "PARLANCE_MAIN=1")
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() { command.Wait(); close(ended) }()
		for running := true; running; {
			select {
			case <-ended:
				running = false
			case <-time.After(time.Millisecond):
				if info, err := os.Stat(out); err == nil && info.Size() >= size {
					command.Process.Kill()
					kills++
					<-ended
					running = false
				}
			}
		}
	}
	last := run(t, "", "batch", "--output", out, in)
	if last.status != 1 || !strings.Contains(last.complaints, "20 of 20000 lines could not be read") {
		t.Errorf("status %d, %s", last.status, last.complaints)
	}
	got, err := os.ReadFile(out)
	if err != nil || string(got) != want.out {
		t.Errorf("the results of the broken runs differ: %d bytes instead of %d, %v", len(got), len(want.out), err)
	}
	t.Logf("%d kills", kills)
}

// TestBatchGoesOnAnywhere cuts the results at every place.
func TestBatchGoesOnAnywhere(t *testing.T) {
	in := file(t, "in.jsonl", `{"id":1,"text":"one","tool_parser":"hermes"}`+"\n\n"+`{"id":2}`+"\n"+`{"text":"three","tool_parser":"hermes"}`)
	want := run(t, "", "batch", in)
	out := filepath.Join(t.TempDir(), "out.jsonl")
	for cut := range len(want.out) + 1 {
		if err := os.WriteFile(out, []byte(want.out[:cut]), 0o666); err != nil {
			t.Fatal(err)
		}
		o := run(t, "", "batch", "-o", out, in)
		got, _ := os.ReadFile(out)
		if o.status != 1 || string(got) != want.out {
			t.Fatalf("cut at %d: status %d, %s\n%s", cut, o.status, o.complaints, got)
		}
	}
	// What a machine without power may leave behind.
	for _, tail := range []string{strings.Repeat("\x00", 100), strings.Repeat("\x00", 100) + "\n", `{"id":1,` + "\n"} {
		first := want.out[:strings.Index(want.out, "\n")+1]
		if err := os.WriteFile(out, []byte(first+tail), 0o666); err != nil {
			t.Fatal(err)
		}
		o := run(t, "", "batch", "-o", out, in)
		if got, _ := os.ReadFile(out); o.status != 1 || string(got) != want.out {
			t.Errorf("%q: status %d, %s\n%s", tail, o.status, o.complaints, got)
		}
	}
}

func TestBatchRefusesResultsOfAnotherInput(t *testing.T) {
	in := file(t, "in.jsonl", `{"id":1,"text":"one","tool_parser":"hermes"}`+"\n")
	for text, says := range map[string]string{
		`{"id":2,"segments":[]}` + "\n":                                   "result 1 has the id 2, but line 1 of ",
		`{"id":1,"segments":[]}` + "\n" + `{"id":2,"segments":[]}` + "\n": "it holds more results than ",
		// A file of inputs is none of results, even where it is that of this input.
		`{"id":1,"text":"one","tool_parser":"hermes"}` + "\n{}\n": "expected a result on line 1, found something else: it has neither segments nor an error",
		"notes\nof mine\n": "expected a result on line 1, found something else",
	} {
		out := file(t, "out.jsonl", text)
		o := run(t, "", "batch", "-o", out, in)
		if o.status != 1 || !strings.Contains(o.complaints, says) {
			t.Errorf("%q: status %d, %s", text, o.status, o.complaints)
		}
		if got, _ := os.ReadFile(out); string(got) != text {
			t.Errorf("the file was changed: %q became %q", text, got)
		}
	}
}
