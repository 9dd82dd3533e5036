package constraint

import (
	"bufio"
	"bytes"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/parlance-llm/parlance"
)

// engineURL is the address of llama.cpp's server, which .ci/engine/with-engine.sh starts.
func engineURL(t *testing.T) string {
	url := os.Getenv("PARLANCE_LLAMACPP_URL")
	if url == "" {
		t.Skip("PARLANCE_LLAMACPP_URL names no engine; .ci/engine/with-engine.sh starts one")
	}
	return url
}

// completion is a request to llama.cpp, and the parts of its answer that matter here.
type completion struct {
	Prompt      string  `json:"prompt"`
	Predict     int     `json:"n_predict"`
	Temperature float64 `json:"temperature"`
	Seed        int     `json:"seed"`
	Grammar     string  `json:"grammar"`
	Stream      bool    `json:"stream"`
}

type answer struct {
	Content  string `json:"content"`
	Stop     bool   `json:"stop"`
	StopType string `json:"stop_type"`
}

// client opens a connection for every request: the server closes idle ones after a few seconds.
var client = &http.Client{Timeout: 10 * time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}

// complete asks for a completion and answers the whole text, and why it ended.
func complete(url string, c completion) (text, stopped string, err error) {
	body, err := json.Marshal(c)
	if err != nil {
		return "", "", err
	}
	response, err := client.Post(url+"/completion", "application/json", bytes.NewReader(body))
	if err != nil {
		return "", "", err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		complaint, _ := io.ReadAll(response.Body)
		return "", "", fmt.Errorf("%s: %s", response.Status, complaint)
	}
	if !c.Stream {
		var a answer
		err := json.UnmarshalRead(response.Body, &a)
		return a.Content, a.StopType, err
	}
	var out strings.Builder
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var a answer
		if err := json.Unmarshal([]byte(data), &a); err != nil {
			return "", "", err
		}
		out.WriteString(a.Content)
		if a.Stop {
			return out.String(), a.StopType, nil
		}
	}
	return "", "", errors.Join(lines.Err(), errors.New("the stream ended without its last event"))
}

// llama.cpp takes every GBNF that is written: for all formats and choices, and for ugly schemas.
func TestRealGBNFCompiles(t *testing.T) {
	url := engineURL(t)
	data, err := os.ReadFile("testdata/tools.json")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	compile := func(name string, data []byte, mode string) {
		tools, err := ParseTools(data)
		if err != nil {
			t.Fatal(err)
		}
		c, err := New(lookup(t, name, ""), Request{Tools: tools, ToolChoice: parlance.ToolChoice{Mode: mode}, StrictLevel: LevelParameter})
		var wrong *Error
		if errors.As(err, &wrong) && wrong.Tool != "" {
			return
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		if _, _, err := complete(url, completion{Prompt: "Go.", Predict: 1, Grammar: c.GBNF().Text}); err != nil {
			t.Errorf("%s %s: %v\n%s", name, mode, err, data)
		}
		count++
	}
	names := toolNames(t)
	for _, name := range names {
		for _, mode := range []string{"required", "auto"} {
			compile(name, data, mode)
		}
	}
	for i := 0; i < mostUgly; i += 3 {
		compile(names[i%len(names)], []byte(ugly(i)), "required")
	}
	t.Logf("%d grammars compiled", count)
}

const bounded = `[
	{"type":"function","function":{"name":"get_weather","strict":true,"description":"Weather of a city","parameters":{"type":"object","properties":{"city":{"type":"string","minLength":1,"maxLength":20},"days":{"type":"integer","minimum":1,"maximum":14},"unit":{"type":"string","enum":["celsius","fahrenheit"]}},"required":["city","days"]}}},
	{"type":"function","function":{"name":"set_alarm","strict":true,"description":"Sets an alarm","parameters":{"type":"object","properties":{"at":{"type":"string","pattern":"^([01][0-9]|2[0-3]):[0-5][0-9]$"},"repeat":{"type":"boolean"},"labels":{"type":"array","items":{"type":"string","enum":["work","home"]},"minItems":1,"maxItems":2}},"required":["at","repeat"]}}}]`

// The small model under a forced call writes well-formed calls of declared tools with arguments that satisfy the schema,
// ten times in each of five formats, half of them streamed.
func TestRealForcedCalls(t *testing.T) {
	url := engineURL(t)
	tools := parsed(t, bounded)
	declared, err := parlance.ParseTools([]byte(bounded))
	if err != nil {
		t.Fatal(err)
	}
	schemas := validators(t, []byte(bounded))
	good, all := 0, 0
	for _, name := range []string{"hermes", "qwen3_coder", "llama3_json", "pythonic", "glm47"} {
		p := lookup(t, name, "")
		c := constrained(t, name, "", Request{Tools: tools, ToolChoice: required, OneCall: true})
		for i := range 10 {
			all++
			question := []string{"What is the weather in Oslo for three days?", "Wake me at seven on work days."}[i%2]
			text, stopped, err := complete(url, completion{
				Prompt:  "<|im_start|>user\n" + question + "<|im_end|>\n<|im_start|>assistant\n",
				Predict: 300, Temperature: 0.8, Seed: i, Grammar: c.GBNF().Text, Stream: i%2 == 1,
			})
			if err != nil {
				t.Errorf("%s %d: %v", name, i, err)
				continue
			}
			m := p.Parse(text, parlance.Request{Tools: declared, ToolChoice: required}, parlance.FinishStop)
			switch {
			case stopped != "eos":
				t.Errorf("%s %d: stopped by %s: %q", name, i, stopped, text)
			case !c.Accepts(text):
				t.Errorf("%s %d: the acceptor refuses %q", name, i, text)
			case len(m.Calls) != 1 || m.Content != "":
				t.Errorf("%s %d: expected one call and nothing else, found %d and %q in %q", name, i, len(m.Calls), m.Content, text)
			case schemas[m.Calls[0].Name] == nil:
				t.Errorf("%s %d: a call of %q, which is not declared", name, i, m.Calls[0].Name)
			default:
				if err := schemas[m.Calls[0].Name].invalid(m.Calls[0].Arguments); err != nil {
					t.Errorf("%s %d: %s: %v", name, i, m.Calls[0].Arguments, err)
					continue
				}
				good++
			}
		}
		t.Logf("%s: %d of %d so far", name, good, all)
	}
	t.Logf("%d of %d", good, all)
}
