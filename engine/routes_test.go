package engine

import (
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"
)

func routes(t *testing.T, name string, o Options, routes map[string]http.HandlerFunc) (Engine, *fakeServer) {
	s := newFakeServer(t, routes)
	o.URL, o.RetryDelay = s.URL, time.Millisecond
	return mustOpen(t, name, o), s
}

const hi = `[{"role":"user","content":"hi"}]`

func TestRoutesOfVLLM(t *testing.T) {
	e, s := routes(t, "vllm", Options{APIKey: "secret", Header: http.Header{"X-Tenant": {"a"}}}, map[string]http.HandlerFunc{
		"/v1/models": func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer secret" || r.Header.Get("X-Tenant") != "a" {
				t.Errorf("headers %v", r.Header)
			}
			io.WriteString(w, `{"object":"list","data":[{"id":"a","object":"model","created":5,"owned_by":"vllm","root":"org/a","parent":null,"max_model_len":100},{"id":"adapter","parent":"a"}]}`)
		},
		"/tokenize":       answering(`{"count":2,"max_model_len":100,"tokens":[1,2],"token_strs":["x","y"]}`),
		"/detokenize":     answering(`{"prompt":"<s>hi"}`),
		"/tokenizer_info": answering(`{"chat_template":"{{ bos_token }}","bos_token":"<s>","eos_token":{"content":"</s>"}}`),
		"/health":         answering(""),
	})
	ctx := t.Context()
	models, err := e.Models(ctx)
	if want := []Model{{ID: "a", MaxTokens: 100, Root: "org/a", Created: 5, OwnedBy: "vllm"}, {ID: "adapter", Parent: "a"}}; err != nil || !reflect.DeepEqual(models, want) {
		t.Errorf("%+v, %v", models, err)
	}
	prompt, err := e.ApplyTemplate(ctx, &Conversation{Messages: jsontext.Value(hi), Tools: jsontext.Value(weatherTool), ChatTemplateKwargs: map[string]any{"a": 1.0}, ReasoningEffort: "high", Template: "x", NoGenerationPrompt: true})
	if want := (Prompt{Text: "<s>hi", Tokens: []int{1, 2}}); err != nil || !reflect.DeepEqual(prompt, want) {
		t.Errorf("%+v, %v", prompt, err)
	}
	sameJSON(t, "tokenize", s.body("/tokenize"), `{"model":"a","messages":`+hi+`,"tools":`+weatherTool+`,"chat_template_kwargs":{"a":1,"reasoning_effort":"high"},"chat_template":"x","add_generation_prompt":false}`)
	tokens, err := e.Tokenize(ctx, "adapter", "xy", true)
	if want := []Token{{1, "x"}, {2, "y"}}; err != nil || !reflect.DeepEqual(tokens, want) {
		t.Errorf("%+v, %v", tokens, err)
	}
	sameJSON(t, "tokenize", s.body("/tokenize"), `{"model":"adapter","prompt":"xy","add_special_tokens":true,"return_token_strs":true}`)
	if text, err := e.Detokenize(ctx, "", []int{1, 2}); err != nil || text != "<s>hi" {
		t.Errorf("%q, %v", text, err)
	}
	sameJSON(t, "detokenize", s.body("/detokenize"), `{"model":"a","tokens":[1,2],"skip_special_tokens":false}`)
	template, err := e.Template(ctx, "")
	if want := (Template{Source: "{{ bos_token }}", BOS: "<s>", EOS: "</s>"}); err != nil || template != want {
		t.Errorf("%+v, %v", template, err)
	}
	if err := e.Health(ctx); err != nil {
		t.Error(err)
	}
}

// A server that was started without a route says what to do; one that is not well is not.
func TestRoutesThatAreMissing(t *testing.T) {
	e, _ := routes(t, "vllm", Options{Retries: -1}, map[string]http.HandlerFunc{"/health": status(503, "", ""), "/v1/models": models})
	_, err := e.Template(t.Context(), "")
	if failed := wantError(t, err, Unsupported, false, "--enable-tokenizer-info-endpoint"); failed.HTTPStatus() != http.StatusNotImplemented {
		t.Errorf("status %d", failed.HTTPStatus())
	}
	wantError(t, e.Health(t.Context()), Overloaded, false, "503")
	for _, name := range []string{"openai-completions", "openai-chat"} {
		e, _ := routes(t, name, Options{Model: "m"}, nil)
		if err := e.Health(t.Context()); err != nil {
			t.Errorf("%s without a list of models: %v", name, err)
		}
		_, errs := e.ApplyTemplate(t.Context(), &Conversation{})
		_, noTemplate := e.Template(t.Context(), "")
		_, noTokens := e.Tokenize(t.Context(), "", "a", false)
		_, noText := e.Detokenize(t.Context(), "", nil)
		for _, err := range []error{errs, noTemplate, noTokens, noText} {
			if failed := wantError(t, err, Unsupported, false, ""); failed.HTTPStatus() != http.StatusNotImplemented {
				t.Errorf("status %d", failed.HTTPStatus())
			}
		}
	}
}

// llama.cpp takes a schema on the route of completions only in a field of its own.
func TestSchemaForLlamaCpp(t *testing.T) {
	for owner, want := range map[string]bool{"llamacpp": true, "vllm": false} {
		w := wireOf("openai-completions")
		e, s := routes(t, "openai-completions", Options{}, map[string]http.HandlerFunc{
			"/v1/models": answering(`{"data":[{"id":"m","owned_by":"` + owner + `"}]}`), w.path: answering(w.whole("a")),
		})
		stream, err := e.Generate(t.Context(), &Request{Prompt: Prompt{Text: "hi"}, Constraint: &Constraint{Dialect: JSONSchema, Text: `{"type":"object"}`}})
		if err != nil {
			t.Fatal(err)
		}
		stream.Close()
		var body map[string]jsontext.Value
		if err := json.Unmarshal([]byte(s.body(w.path)), &body); err != nil {
			t.Fatal(err)
		}
		if (body["json_schema"] != nil) != want || body["response_format"] == nil {
			t.Errorf("%s: found %s", owner, s.body(w.path))
		}
	}
}

func TestRoutesOfSGLang(t *testing.T) {
	e, s := routes(t, "sglang", Options{}, map[string]http.HandlerFunc{
		"/v1/models":  answering(`{"data":[{"id":"a","owned_by":"sglang","max_model_len":100}]}`),
		"/model_info": answering(`{"model_path":"org/a","reasoning_parser":"qwen3","tool_call_parser":null}`),
		"/tokenize":   answering(`{"tokens":[1,2],"count":2,"max_model_len":100}`),
		"/detokenize": answering(`{"text":"hi"}`),
		"/ready":      answering(""),
		"/generate":   answering(wireOf("sglang").whole("a")),
	})
	ctx := t.Context()
	models, err := e.Models(ctx)
	if want := []Model{{ID: "a", MaxTokens: 100, OwnedBy: "sglang", ReasoningParser: "qwen3"}}; err != nil || !reflect.DeepEqual(models, want) {
		t.Errorf("%+v, %v", models, err)
	}
	prompt, err := e.ApplyTemplate(ctx, &Conversation{Messages: jsontext.Value(hi), Tools: jsontext.Value(weatherTool), ContinueFinalMessage: true})
	if want := (Prompt{Text: "hi", Tokens: []int{1, 2}}); err != nil || !reflect.DeepEqual(prompt, want) {
		t.Errorf("%+v, %v", prompt, err)
	}
	sameJSON(t, "tokenize", s.body("/tokenize"), `{"model":"a","messages":`+hi+`,"tools":`+weatherTool+`,"tool_choice":"auto","continue_final_message":true,"add_generation_prompt":false}`)
	if err := e.Health(ctx); err != nil {
		t.Error(err)
	}
	// A text goes as tokens, without a BOS that nobody has asked for.
	stream, err := e.Generate(ctx, &Request{ID: "r", Prompt: Prompt{Text: "hi"}})
	if err != nil {
		t.Fatal(err)
	}
	stream.Close()
	sameJSON(t, "tokenize", s.body("/tokenize"), `{"model":"a","prompt":"hi","add_special_tokens":false}`)
	sameJSON(t, "generate", s.body("/generate"), `{"rid":"r","input_ids":[1,2],"stream":true,"sampling_params":{"max_new_tokens":98,"skip_special_tokens":false}}`)
}

func TestRoutesOfLlamaCpp(t *testing.T) {
	e, s := routes(t, "llamacpp", Options{}, map[string]http.HandlerFunc{
		"/v1/models":      answering(`{"models":[{"name":"a"}],"object":"list","data":[{"id":"a","owned_by":"llamacpp","created":5,"meta":{"n_ctx":2048}}]}`),
		"/props":          answering(`{"default_generation_settings":{"params":{"seed":4294967295},"n_ctx":2048},"chat_template":"{% for %}","chat_template_tool_use":"{% if %}","bos_token":"<s>","eos_token":"</s>"}`),
		"/apply-template": answering(`{"prompt":"<s>hi"}`),
		"/tokenize":       answering(`{"tokens":[{"id":1,"piece":"<s>"},{"id":2,"piece":[240,159]},{"id":3,"piece":[152,128]}]}`),
		"/detokenize":     answering(`{"content":"hi"}`),
		"/health":         answering(`{"status":"ok"}`),
		"/completion":     answering(wireOf("llamacpp").whole("a")),
	})
	ctx := t.Context()
	models, err := e.Models(ctx)
	if want := []Model{{ID: "a", MaxTokens: 2048, Created: 5, OwnedBy: "llamacpp"}}; err != nil || !reflect.DeepEqual(models, want) {
		t.Errorf("%+v, %v", models, err)
	}
	prompt, err := e.ApplyTemplate(ctx, &Conversation{Messages: jsontext.Value(hi), Tools: jsontext.Value(weatherTool), ReasoningEffort: "low"})
	if err != nil || prompt.Text != "<s>hi" {
		t.Errorf("%+v, %v", prompt, err)
	}
	sameJSON(t, "apply-template", s.body("/apply-template"), `{"messages":`+hi+`,"tools":`+weatherTool+`,"reasoning_effort":"low"}`)
	_, err = e.ApplyTemplate(ctx, &Conversation{Messages: jsontext.Value(`[{"role":"assistant","content":"so"}]`)})
	wantError(t, err, Unsupported, false, "last message")
	if _, err = e.ApplyTemplate(ctx, &Conversation{Messages: jsontext.Value(`[{"role":"assistant","content":"so"}]`), ContinueFinalMessage: true}); err != nil {
		t.Error(err)
	}
	_, err = e.ApplyTemplate(ctx, &Conversation{Template: "x"})
	wantError(t, err, Unsupported, false, "template")
	tokens, err := e.Tokenize(ctx, "", "<s>😀", false)
	if want := []Token{{1, "<s>"}, {2, "\xf0\x9f"}, {3, "\x98\x80"}}; err != nil || !reflect.DeepEqual(tokens, want) {
		t.Errorf("%+v, %v", tokens, err)
	}
	sameJSON(t, "tokenize", s.body("/tokenize"), `{"content":"<s>😀","add_special":false,"parse_special":true,"with_pieces":true}`)
	if text, err := e.Detokenize(ctx, "", []int{1}); err != nil || text != "hi" {
		t.Errorf("%q, %v", text, err)
	}
	template, err := e.Template(ctx, "")
	if want := (Template{Source: "{% for %}", ToolUse: "{% if %}", BOS: "<s>", EOS: "</s>"}); err != nil || template != want {
		t.Errorf("%+v, %v", template, err)
	}
	if err := e.Health(ctx); err != nil {
		t.Error(err)
	}
	stream, err := e.Generate(ctx, &Request{Prompt: Prompt{Text: "<s>😀"}})
	if err != nil {
		t.Fatal(err)
	}
	stream.Close()
	if body := s.body("/completion"); !strings.Contains(body, `"prompt":[1,2,3]`) {
		t.Error(body)
	}
}

func TestRoutesOfOllama(t *testing.T) {
	e, s := routes(t, "ollama", Options{Model: "b:latest"}, map[string]http.HandlerFunc{
		"/api/tags":    answering(`{"models":[{"name":"a:latest","model":"a:latest"},{"name":"b:latest","model":"b:latest"}]}`),
		"/api/version": answering(`{"version":"0.17.4"}`),
		"/api/show":    answering(`{"template":"{{ .Prompt }}"}`),
		"/api/chat":    answering(`{"model":"b","_debug_info":{"rendered_template":"rendered"}}`),
	})
	ctx := t.Context()
	models, err := e.Models(ctx)
	if err != nil || len(models) != 2 || models[0].ID != "b:latest" {
		t.Errorf("%+v, %v", models, err)
	}
	prompt, err := e.ApplyTemplate(ctx, &Conversation{Tools: jsontext.Value(weatherTool), ChatTemplateKwargs: map[string]any{"enable_thinking": false}, Messages: jsontext.Value(
		`[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},
		{"role":"assistant","content":null,"reasoning":"hm","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}},{"id":"c2","type":"function","function":{"name":"g","arguments":"[1"}}]},
		{"role":"tool","tool_call_id":"c1","content":"18"}]`)})
	if err != nil || prompt.Text != "rendered" {
		t.Errorf("%+v, %v", prompt, err)
	}
	sameJSON(t, "chat", s.body("/api/chat"), `{"model":"b:latest","stream":false,"_debug_render_only":true,"think":false,"tools":`+weatherTool+`,"messages":[{"role":"user","content":"ab"},
		{"role":"assistant","content":"","thinking":"hm","tool_calls":[{"function":{"name":"f","arguments":{"x":1}}},{"function":{"name":"g","arguments":{}}}]},
		{"role":"tool","content":"18","tool_name":"f"}]}`)
	_, err = e.Template(ctx, "")
	wantError(t, err, Unsupported, false, "not in Jinja")
	if err := e.Health(ctx); err != nil {
		t.Error(err)
	}
	_, err = e.ApplyTemplate(ctx, &Conversation{Messages: jsontext.Value(`[{"role":"user","content":5}]`)})
	if failed := wantError(t, err, Refused, false, "expected text or a list of parts"); failed.HTTPStatus() != http.StatusBadRequest {
		t.Errorf("status %d", failed.HTTPStatus())
	}
	old, _ := routes(t, "ollama", Options{Model: "b"}, map[string]http.HandlerFunc{"/api/chat": answering(`{"model":"b","message":{"content":"hello"}}`)})
	_, err = old.ApplyTemplate(ctx, &Conversation{Messages: jsontext.Value(hi)})
	wantError(t, err, Unsupported, false, "does not show rendered prompts")
}

func TestRoutesTimeOutAndBreak(t *testing.T) {
	e, _ := routes(t, "vllm", Options{RouteTimeout: 20 * time.Millisecond}, map[string]http.HandlerFunc{
		"/v1/models": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"/health":    answering(""),
	})
	_, err := e.Models(t.Context())
	wantError(t, err, TimedOut, false, "took too long")
	e, _ = routes(t, "vllm", Options{}, map[string]http.HandlerFunc{"/v1/models": answering(`{"data":5}`)})
	_, err = e.Models(t.Context())
	wantError(t, err, Broken, false, "not what it should be")
	e, _ = routes(t, "vllm", Options{}, map[string]http.HandlerFunc{"/v1/models": answering(`{"data":[]}`)})
	_, err = e.Generate(t.Context(), &Request{MaxTokens: 1})
	wantError(t, err, Broken, false, "serves no model")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Models(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A prompt of text holds no image, so that one is refused before the engine renders it.
func TestImagesAreRefused(t *testing.T) {
	const messages = `[{"role":"user","content":"Hi"},{"role":"user","content":[{"type":"text","text":"What is it?"},{"type":"image_url","image_url":{"url":"data:"}}]}]`
	for _, name := range []string{"vllm", "sglang", "llamacpp", "ollama"} {
		e, _ := routes(t, name, Options{Model: "m", Retries: -1}, nil)
		_, err := e.ApplyTemplate(t.Context(), &Conversation{Messages: jsontext.Value(messages)})
		if failed := wantError(t, err, Unsupported, false, "image_url"); failed.HTTPStatus() != http.StatusBadRequest || failed.Param != "messages.1.content.1.type" {
			t.Errorf("%s: status %d, param %q", name, failed.HTTPStatus(), failed.Param)
		}
	}
}

// A route that the server does not have is no fault of the request, and the error names it.
func TestRouteThatIsNotThere(t *testing.T) {
	for _, says := range []string{`{"detail":"Not Found"}`, `{"error":{"code":404,"message":"File Not Found","type":"not_found_error"}}`, "404 page not found\n", ""} {
		e, _ := routes(t, "vllm", Options{}, map[string]http.HandlerFunc{
			"/v1/models": answering(`{"data":[{"id":"a"}]}`), "/tokenize": status(http.StatusNotFound, "", says),
		})
		var failed *Error
		_, err := e.Tokenize(t.Context(), "a", "x", false)
		if !errors.As(err, &failed) || failed.Kind != Unsupported || failed.HTTPStatus() != http.StatusNotImplemented || !strings.Contains(failed.Message, "no route /tokenize") {
			t.Errorf("%s: %v", says, err)
		}
	}
}
