package server_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// warnings posts a request and gives the warnings of the answer: its header, its trailer and the comments of a stream.
func warnings(t *testing.T, url, body string) (header, trailer []string, text string) {
	t.Helper()
	answer, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%d %s %v", answer.StatusCode, data, err)
	}
	return answer.Header.Values("X-Parlance-Warning"), answer.Trailer.Values("X-Parlance-Warning"), string(data)
}

// TestW45: an answer in another format than the chosen one is no silent failure: header or trailer, comment, counter.
func TestW45(t *testing.T) {
	url := serve(t, append(hermesServer, "--replay", says(t, "<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</function>\n</tool_call>"))...)
	request := `{"model":"m","messages":[{"role":"user","content":"Hi"}],"tools":[` + weather + `]`
	header, _, _ := warnings(t, url, request+`}`)
	if len(header) != 1 || !strings.Contains(header[0], "--tool-call-parser qwen3_coder") {
		t.Errorf("header: %q", header)
	}
	header, trailer, text := warnings(t, url, request+`,"stream":true}`)
	if len(header) != 0 || len(trailer) != 1 || !strings.Contains(text, ": warning: the answer holds calls in the format qwen3_coder") {
		t.Errorf("header %q, trailer %q: %s", header, trailer, text)
	}
	_, data := fetch(t, "GET", url+"/metrics")
	if !strings.Contains(string(data), `parlance_mismatch_total{alarm="other_format",format="qwen3_coder",model_name="m"} 2`) {
		t.Errorf("no count of two in the metrics")
	}
}

// TestRightParserNoWarning: an answer in the chosen format warns of nothing.
func TestRightParserNoWarning(t *testing.T) {
	url := serve(t, append(hermesServer, "--replay", says(t, `Sure. <tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>`))...)
	header, trailer, text := warnings(t, url, `{"model":"m","messages":[{"role":"user","content":"Hi"}],"tools":[`+weather+`],"stream":true}`)
	if len(header)+len(trailer) > 0 || strings.Contains(text, "warning") {
		t.Errorf("header %q, trailer %q: %s", header, trailer, text)
	}
}

// TestTemplateThatIgnoresTools: the prompt names no tool, and the answer says so.
func TestTemplateThatIgnoresTools(t *testing.T) {
	template := filepath.Join(t.TempDir(), "t.jinja")
	if err := os.WriteFile(template, []byte(`{% for m in messages %}{{ m.role }}: {{ m.content }}{% endfor %}`), 0o600); err != nil {
		t.Fatal(err)
	}
	url := serve(t, append(hermesServer, "--chat-template", template, "--replay", says(t, "Hi."))...)
	header, _, _ := warnings(t, url, `{"model":"m","messages":[{"role":"user","content":"Hi"}],"tools":[`+weather+`]}`)
	if len(header) != 1 || !strings.Contains(header[0], "does not show tools") {
		t.Errorf("%q", header)
	}
}

// TestPromptText: a request may ask for the prompt that was made of it, whole and streamed.
func TestPromptText(t *testing.T) {
	url := serve(t, append(hermesServer, "--replay", says(t, "Hi."))...)
	for _, stream := range []string{"false", "true"} {
		_, _, text := warnings(t, url, `{"model":"m","messages":[{"role":"user","content":"Good day"}],"return_prompt_text":true,"stream":`+stream+`}`)
		if !strings.Contains(text, `"prompt_text":"user: Good day\nassistant: "`) {
			t.Errorf("stream %s: no prompt in %s", stream, text)
		}
		_, _, text = warnings(t, url, `{"model":"m","messages":[{"role":"user","content":"Good day"}],"stream":`+stream+`}`)
		if !strings.Contains(text, `"prompt_text":null`) {
			t.Errorf("stream %s: a prompt that nobody asked for in %s", stream, text)
		}
	}
}

// TestNothingToWarnOf: an answer that looks like a call is one only where a tool of its name may be called, and a client that
// writes the prompt itself reads the raw text.
func TestNothingToWarnOf(t *testing.T) {
	url := serve(t, append(hermesServer, "--replay", says(t, "<think>\nHm.\n</think>\n"+`{"name": "get_weather", "parameters": {"city": "Oslo"}}`))...)
	for _, more := range []string{``, `,"tools":[{"type":"function","function":{"name":"search"}}]`, `,"tools":[` + weather + `],"tool_choice":"none"`} {
		if header, _, _ := warnings(t, url, `{"model":"m","messages":[{"role":"user","content":"Hi search"}]`+more+`}`); strings.Contains(strings.Join(header, "\n"), "calls") {
			t.Errorf("%s: %q", more, header)
		}
	}
	if header, _, _ := warnings(t, url, `{"model":"m","messages":[{"role":"user","content":"Hi"}],"tools":[`+weather+`]}`); !strings.Contains(strings.Join(header, "\n"), "--tool-call-parser llama3_json") {
		t.Errorf("%q", header)
	}
	answer, err := http.Post(url+"/v1/completions", "application/json", strings.NewReader(`{"model":"m","prompt":"Hi","max_tokens":100}`))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if warned := answer.Header.Values("X-Parlance-Warning"); answer.StatusCode != http.StatusOK || len(warned) > 0 {
		t.Errorf("status %d, %q", answer.StatusCode, warned)
	}
}
