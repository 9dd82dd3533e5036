package engine

import (
	"encoding/json/jsontext"
	"errors"
	"net/http"
	"testing"
)

func pointer[T any](v T) *T { return &v }

// sameJSON compares JSON texts.
func sameJSON(t *testing.T, what, got, want string) {
	t.Helper()
	a, b := jsontext.Value(got), jsontext.Value(want)
	if err := errors.Join(a.Canonicalize(), b.Canonicalize()); err != nil {
		t.Errorf("%s: %v in %s", what, err, got)
		return
	}
	if string(a) != string(b) {
		t.Errorf("%s:\n got %s\nwant %s", what, a, b)
	}
}

// What is sent, for a request that asks for all that an engine can do.
func TestBodies(t *testing.T) {
	sampling := func() Sampling {
		return Sampling{Temperature: pointer(0.5), TopP: pointer(0.25), MinP: pointer(0.125), TopK: pointer(7), PresencePenalty: pointer(0.5),
			FrequencyPenalty: pointer(-0.5), RepetitionPenalty: pointer(1.5), Seed: pointer(int64(3)), LogitBias: map[int]float64{9: 2, 5: -100}}
	}
	some := Sampling{Temperature: pointer(0.0), Seed: pointer(int64(3))}
	schema := &Constraint{Dialect: JSONSchema, Text: `{"type":"object"}`}
	extra := map[string]jsontext.Value{"priority": jsontext.Value("1"), "stream": jsontext.Value("false")}
	for _, c := range []struct {
		engine, name string
		options      Options
		request      Request
		want         string
	}{
		{"openai-completions", "all", Options{}, Request{Model: "x", Prompt: Prompt{Text: "<s>hi", BOS: "<s>"}, Sampling: sampling(), MaxTokens: 5, Stop: []string{"a"}, Logprobs: true, TopLogprobs: 2, Constraint: schema, Extra: extra},
			`{"model":"x","prompt":"hi","stream":true,"stream_options":{"include_usage":true},"max_tokens":5,"stop":["a"],"logprobs":2,"priority":1,
			"temperature":0.5,"top_p":0.25,"min_p":0.125,"top_k":7,"presence_penalty":0.5,"frequency_penalty":-0.5,"repetition_penalty":1.5,"seed":3,"logit_bias":{"5":-100,"9":2},
			"response_format":{"type":"json_schema","json_schema":{"name":"answer","strict":true,"schema":{"type":"object"}}}}`},
		{"openai-completions", "least", Options{Extra: map[string]jsontext.Value{"skip_special_tokens": jsontext.Value("false")}}, Request{},
			`{"model":"m","prompt":"","stream":true,"stream_options":{"include_usage":true},"max_tokens":4096,"skip_special_tokens":false}`},
		{"openai-chat", "all", Options{}, Request{Sampling: some, MaxTokens: 5, Stop: []string{"a"}, Logprobs: true, TopLogprobs: 2, Constraint: &Constraint{Dialect: JSONObject},
			Conversation: &Conversation{Messages: jsontext.Value(`[]`), Tools: jsontext.Value(weatherTool), ChatTemplateKwargs: map[string]any{"enable_thinking": false}, ReasoningEffort: "low", ContinueFinalMessage: true}},
			`{"model":"m","messages":[],"tools":` + weatherTool + `,"tool_choice":"none","stream":true,"stream_options":{"include_usage":true},"max_tokens":5,"stop":["a"],"logprobs":true,"top_logprobs":2,
			"temperature":0,"seed":3,"response_format":{"type":"json_object"},"chat_template_kwargs":{"enable_thinking":false},"reasoning_effort":"low","continue_final_message":true,"add_generation_prompt":false}`},
		{"openai-chat", "least", Options{}, Request{Conversation: &Conversation{Messages: jsontext.Value(`[]`), Tools: jsontext.Value(`[]`)}},
			`{"model":"m","messages":[],"stream":true,"stream_options":{"include_usage":true}}`},
		{"vllm", "all", Options{ReasoningParser: true}, Request{ID: "r", Prompt: Prompt{Text: "hi"}, Sampling: func() Sampling {
			s := sampling()
			s.MinTokens, s.IgnoreEOS, s.BadWords, s.AllowedTokens = 2, true, []string{"no"}, []int{1, 2}
			return s
		}(), MaxTokens: 5, Stop: []string{"a"}, StopTokens: []int{4}, IncludeStop: true, Logprobs: true, TopLogprobs: 2, TokenIDs: true, PromptTokenIDs: true,
			Constraint: &Constraint{Dialect: StructuralTag, Text: `{"type":"structural_tag"}`, AfterThought: true}, SkipSpecialTokens: true, SpacesBetweenSpecialTokens: pointer(false), ThinkingBudget: pointer(0), ContinuousUsage: true, Extra: extra},
			`{"model":"m","prompt":"hi","add_special_tokens":false,"skip_special_tokens":true,"spaces_between_special_tokens":false,"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true},
			"request_id":"r","max_tokens":5,"stop":["a"],"stop_token_ids":[4],"include_stop_str_in_output":true,"logprobs":2,"return_token_ids":true,"thinking_token_budget":0,"priority":1,
			"temperature":0.5,"top_p":0.25,"min_p":0.125,"top_k":7,"presence_penalty":0.5,"frequency_penalty":-0.5,"repetition_penalty":1.5,"seed":3,"logit_bias":{"5":-100,"9":2},
			"min_tokens":2,"ignore_eos":true,"bad_words":["no"],"allowed_token_ids":[1,2],"structured_outputs":{"structural_tag":"{\"type\":\"structural_tag\"}"}}`},
		// The list of models says 100 tokens; three are the prompt's.
		{"vllm", "least", Options{}, Request{Prompt: Prompt{Text: "hi", Tokens: []int{1, 2, 3}}},
			`{"model":"m","prompt":[1,2,3],"add_special_tokens":false,"skip_special_tokens":false,"stream":true,"stream_options":{"include_usage":true},"max_tokens":97}`},
		{"sglang", "all", Options{ReasoningParser: true}, Request{ID: "r", Prompt: Prompt{Tokens: []int{1, 2}}, Sampling: func() Sampling {
			s := sampling()
			s.MinTokens, s.IgnoreEOS = 2, true
			return s
		}(), MaxTokens: 5, Stop: []string{"a"}, StopTokens: []int{4}, IncludeStop: true, Logprobs: true, TopLogprobs: 2,
			Constraint: &Constraint{Dialect: EBNF, Text: `root ::= "a"`, AfterThought: true}, SpacesBetweenSpecialTokens: pointer(false), Extra: map[string]jsontext.Value{"sampling_params": jsontext.Value(`{"stop_regex":"b","stop":"c"}`)}},
			`{"rid":"r","input_ids":[1,2],"stream":true,"return_logprob":true,"return_text_in_logprobs":true,"top_logprobs_num":2,"require_reasoning":true,"sampling_params":{"max_new_tokens":5,"min_new_tokens":2,"ignore_eos":true,
			"stop":["a"],"stop_regex":"b","stop_token_ids":[4],"no_stop_trim":true,"skip_special_tokens":false,"spaces_between_special_tokens":false,"ebnf":"root ::= \"a\"",
			"temperature":0.5,"top_p":0.25,"min_p":0.125,"top_k":7,"presence_penalty":0.5,"frequency_penalty":-0.5,"repetition_penalty":1.5,"sampling_seed":3,"logit_bias":{"5":-100,"9":2}}}`},
		{"sglang", "schema", Options{}, Request{ID: "r", Prompt: Prompt{Tokens: []int{1, 2}}, Constraint: schema},
			`{"rid":"r","input_ids":[1,2],"stream":true,"sampling_params":{"max_new_tokens":98,"skip_special_tokens":false,"json_schema":"{\"type\":\"object\"}"}}`},
		{"llamacpp", "all", Options{}, Request{Prompt: Prompt{Tokens: []int{1, 2}}, Sampling: func() Sampling { s := sampling(); s.IgnoreEOS = true; return s }(), MaxTokens: 5, Stop: []string{"a", "b", "c", "d", "e"},
			Logprobs: true, PreservedTokens: []string{"<x>"}, Constraint: &Constraint{Dialect: GBNF, Text: `root ::= "<c>"`, Triggers: []Trigger{{Text: "<c>"}, {Text: "(d)", Pattern: true}}}},
			`{"prompt":[1,2],"model":"m","stream":true,"n_predict":5,"stop":["a","b","c","d","e"],"n_probs":1,"preserved_tokens":["<x>","<c>"],
			"grammar":"root ::= \"<c>\"","grammar_lazy":true,"grammar_triggers":[{"type":1,"value":"<c>"},{"type":2,"value":"(d)"}],
			"temperature":0.5,"top_p":0.25,"min_p":0.125,"top_k":7,"presence_penalty":0.5,"frequency_penalty":-0.5,"repeat_penalty":1.5,"seed":3,"ignore_eos":true,"logit_bias":[[5,-100],[9,2]],
			"response_fields":["content","tokens","stop","stop_type","stopping_word","truncated","tokens_predicted","tokens_evaluated","tokens_cached","timings","completion_probabilities"]}`},
		{"llamacpp", "lark", Options{}, Request{Prompt: Prompt{Tokens: []int{1}}, SkipSpecialTokens: true, PreservedTokens: []string{"<x>"}, Constraint: &Constraint{Dialect: Lark, Text: `start: "a"`}},
			`{"prompt":[1],"model":"m","stream":true,"n_predict":-1,"grammar":"%llguidance {}\nstart: \"a\"",
			"response_fields":["content","tokens","stop","stop_type","stopping_word","truncated","tokens_predicted","tokens_evaluated","tokens_cached","timings","completion_probabilities"]}`},
		{"llamacpp", "object", Options{}, Request{Prompt: Prompt{Tokens: []int{1}}, Constraint: &Constraint{Dialect: JSONObject}},
			`{"prompt":[1],"model":"m","stream":true,"n_predict":-1,"json_schema":{"x-guidance":{"whitespace_flexible":false,"key_separator":": ","item_separator":", "},"type":"object"},
			"response_fields":["content","tokens","stop","stop_type","stopping_word","truncated","tokens_predicted","tokens_evaluated","tokens_cached","timings","completion_probabilities"]}`},
		{"ollama", "all", Options{}, Request{Prompt: Prompt{Text: "<s>hi", BOS: "<s>"}, Sampling: func() Sampling { s := sampling(); s.LogitBias = nil; return s }(), MaxTokens: 5, Stop: []string{"a"}, Logprobs: true, TopLogprobs: 2,
			Constraint: schema, Extra: map[string]jsontext.Value{"keep_alive": jsontext.Value("60"), "options": jsontext.Value(`{"num_ctx":8192,"seed":9}`)}},
			`{"model":"m","prompt":"hi","raw":true,"stream":true,"think":false,"truncate":false,"shift":false,"logprobs":true,"top_logprobs":2,"format":{"type":"object"},"keep_alive":60,
			"options":{"num_predict":5,"num_ctx":8192,"stop":["a"],"temperature":0.5,"top_p":0.25,"min_p":0.125,"top_k":7,"presence_penalty":0.5,"frequency_penalty":-0.5,"repeat_penalty":1.5,"seed":3}}`},
		{"ollama", "least", Options{}, Request{Prompt: Prompt{Text: "hi"}, Constraint: &Constraint{Dialect: JSONObject}},
			`{"model":"m","prompt":"hi","raw":true,"stream":true,"think":false,"truncate":false,"shift":false,"format":"json","options":{"num_predict":-1}}`},
	} {
		w := wireOf(c.engine)
		s := w.server(t, answering(w.whole("a")))
		stream, err := w.open(t, s, c.options).Generate(t.Context(), &c.request)
		if err != nil {
			t.Errorf("%s, %s: %v", c.engine, c.name, err)
			continue
		}
		stream.Close()
		sameJSON(t, c.engine+", "+c.name, s.body(w.path), c.want)
	}
}

func wireOf(name string) *wire {
	for i := range wires {
		if wires[i].name == name {
			return &wires[i]
		}
	}
	return nil
}

// The same constraint in vLLM's words.
func TestConstraintsOfVLLM(t *testing.T) {
	for _, c := range []struct {
		constraint Constraint
		want       string
	}{
		{Constraint{Dialect: JSONSchema, Text: `{"a":1}`}, `{"json":{"a":1}}`},
		{Constraint{Dialect: JSONObject}, `{"json_object":true}`},
		{Constraint{Dialect: Regex, Text: "a+"}, `{"regex":"a+"}`},
		{Constraint{Dialect: Choice, Choices: []string{"a", "b"}}, `{"choice":["a","b"]}`},
		{Constraint{Dialect: EBNF, Text: "root ::= x"}, `{"grammar":"root ::= x"}`},
		{Constraint{Dialect: Lark, Text: "start: x"}, `{"grammar":"start: x"}`},
	} {
		w := wireOf("vllm")
		s := w.server(t, answering(w.whole("a")))
		r := w.request()
		r.Constraint = &c.constraint
		stream, err := w.open(t, s, Options{}).Generate(t.Context(), r)
		if err != nil {
			t.Error(err)
			continue
		}
		stream.Close()
		var body struct {
			Outputs jsontext.Value `json:"structured_outputs"`
		}
		if _, err := unmarshalEvent([]byte(s.body(w.path)), &body); err != nil {
			t.Error(err)
		}
		sameJSON(t, string(c.constraint.Dialect), string(body.Outputs), c.want)
	}
}

// What an engine cannot do is refused before it is asked.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		engine string
		change func(r *Request)
		param  string
	}{
		{"openai-completions", func(r *Request) { r.Prompt.Tokens = []int{1} }, "prompt"},
		{"openai-completions", func(r *Request) { r.TokenIDs = true }, "return_token_ids"},
		{"openai-completions", func(r *Request) { r.Stop = []string{"1", "2", "3", "4", "5"} }, "stop"},
		{"openai-completions", func(r *Request) { r.StopTokens = []int{1} }, "stop_token_ids"},
		{"openai-completions", func(r *Request) { r.IncludeStop = true }, "include_stop_str_in_output"},
		{"openai-completions", func(r *Request) { r.Sampling.BadWords = []string{"x"} }, "bad_words"},
		{"openai-completions", func(r *Request) { r.Constraint = &Constraint{Dialect: GBNF} }, "structured_outputs"},
		{"openai-completions", func(r *Request) { r.Logprobs, r.TopLogprobs = true, 6 }, "top_logprobs"},
		{"openai-completions", func(r *Request) { r.Conversation = &Conversation{} }, "messages"},
		{"openai-chat", func(r *Request) { r.Conversation = nil }, "prompt"},
		{"openai-chat", func(r *Request) { r.Conversation.Template = "x" }, "chat_template"},
		{"openai-chat", func(r *Request) { r.ThinkingBudget = pointer(1) }, "thinking_token_budget"},
		{"vllm", func(r *Request) { r.Constraint = &Constraint{Dialect: EBNF, AfterThought: true} }, "structured_outputs"},
		{"vllm", func(r *Request) { r.Constraint = &Constraint{Dialect: EBNF, Triggers: []Trigger{{Text: "x"}}} }, "structured_outputs"},
		{"vllm", func(r *Request) { r.Constraint = &Constraint{Dialect: JSONSchema, Text: "{"} }, "structured_outputs"},
		{"sglang", func(r *Request) { r.Sampling.AllowedTokens = []int{1} }, "allowed_token_ids"},
		{"sglang", func(r *Request) { r.Constraint = &Constraint{Dialect: Lark} }, "structured_outputs"},
		{"sglang", func(r *Request) { r.Stop = []string{""} }, "stop"},
		{"llamacpp", func(r *Request) { r.TokenIDs = true }, "return_token_ids"},
		{"llamacpp", func(r *Request) { r.Sampling.MinTokens = 1 }, "min_tokens"},
		{"llamacpp", func(r *Request) { r.Constraint = &Constraint{Dialect: Lark, Triggers: []Trigger{{Text: "x"}}} }, "structured_outputs"},
		{"ollama", func(r *Request) { r.Sampling.LogitBias = map[int]float64{1: 1} }, "logit_bias"},
		{"ollama", func(r *Request) { r.Constraint = &Constraint{Dialect: Regex} }, "structured_outputs"},
	} {
		w := wireOf(c.engine)
		s := w.server(t, answering(w.whole("a")))
		r := w.request()
		c.change(r)
		_, err := w.open(t, s, Options{}).Generate(t.Context(), r)
		var failed *Error
		if !errors.As(err, &failed) || failed.Param != c.param || failed.HTTPStatus() != http.StatusBadRequest || s.body(w.path) != "" {
			t.Errorf("%s, %s: %v (%+v)", c.engine, c.param, err, failed)
		}
	}
}
