package engine

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
)

// collected is the answer to a request, by a server that sends a text.
func collected(t *testing.T, engine, sent string, change func(r *Request)) (*Answer, error) {
	t.Helper()
	w := wireOf(engine)
	r := w.request()
	if change != nil {
		change(r)
	}
	stream, err := w.open(t, w.server(t, answering(sent)), Options{}).Generate(t.Context(), r)
	if err != nil {
		return nil, err
	}
	return Collect(stream)
}

func wantAnswer(t *testing.T, got *Answer, err error, want Answer) {
	t.Helper()
	if err != nil {
		t.Error(err)
		return
	}
	if !reflect.DeepEqual(got, &want) {
		t.Errorf("\n got %+v\nwant %+v", *got, want)
	}
}

func TestDecodeVLLM(t *testing.T) {
	answer, err := collected(t, "vllm", sse(`{"id":"x","choices":[{"index":0,"text":"a","token_ids":[5,6],"prompt_token_ids":[1,2],"logprobs":{"text_offset":[0,1],"tokens":["a","</s>"],"token_logprobs":[-0.5,null],"top_logprobs":[{"a":-0.5,"b":-0.25},null]}}]}`)+
		sse(`{"choices":[{"index":0,"text":"","token_ids":[7],"finish_reason":"stop","stop_reason":"END"}]}`)+
		sse(`{"choices":[],"usage":{"prompt_tokens":2,"completion_tokens":3,"total_tokens":5,"prompt_tokens_details":{"cached_tokens":1}}}`)+sse("[DONE]"),
		func(r *Request) { r.TokenIDs, r.Logprobs, r.TopLogprobs = true, true, 2 })
	wantAnswer(t, answer, err, Answer{Text: "a", Tokens: []int{5, 6, 7}, PromptTokens: []int{1, 2}, Finish: FinishStop, StopString: "END",
		Usage: &Usage{PromptTokens: 2, CompletionTokens: 3, CachedTokens: 1},
		Logprobs: []TokenLogprob{
			{Token: "a", ID: 5, Logprob: -0.5, Top: []TokenLogprob{{Token: "b", ID: -1, Logprob: -0.25}, {Token: "a", ID: -1, Logprob: -0.5}}},
			{Token: "</s>", ID: 6},
		}})
	answer, err = collected(t, "vllm", sse(`{"choices":[{"index":0,"text":"a","finish_reason":"stop","stop_reason":42}]}`), nil)
	wantAnswer(t, answer, err, Answer{Text: "a", Finish: FinishStop, StopToken: pointer(42)})
	for word, want := range map[string]FinishReason{"length": FinishLength, "abort": FinishAbort, "repetition": FinishRepetition} {
		answer, err = collected(t, "vllm", sse(fmt.Sprintf(`{"choices":[{"index":0,"text":"a","finish_reason":%q,"stop_reason":null}]}`, word)), nil)
		wantAnswer(t, answer, err, Answer{Text: "a", Finish: want})
	}
	_, err = collected(t, "vllm", sse(`{"choices":[{"index":0,"text":"a"}]}`)+sse(`{"choices":[{"index":0,"text":"","finish_reason":"error"}]}`), nil)
	wantError(t, err, Failed, true, "ended the answer with an error")
	_, err = collected(t, "vllm", sse(`{"choices":[{"index":0,"text":"","finish_reason":"bored"}]}`), nil)
	wantError(t, err, Broken, false, `found "bored"`)
}

func TestDecodeChat(t *testing.T) {
	answer, err := collected(t, "openai-chat", sse(`{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`)+
		sse(`{"choices":[{"index":0,"delta":{"reasoning_content":"hm"}}]}`)+
		sse(`{"choices":[{"index":0,"delta":{"reasoning":"m"}}]}`)+
		sse(`{"choices":[{"index":0,"delta":{"content":"é","tool_calls":[]},"logprobs":{"content":[{"token":"é","bytes":[195,169],"logprob":-1,"top_logprobs":[{"token":"e","bytes":[101],"logprob":-2}]}]}}]}`)+
		sse(`{"choices":[{"index":0,"delta":{"content":null},"finish_reason":"stop","matched_stop":"END"}],"usage":{"prompt_tokens":2,"completion_tokens":3}}`)+sse("[DONE]"),
		func(r *Request) { r.Logprobs, r.TopLogprobs = true, 1 })
	wantAnswer(t, answer, err, Answer{Text: "é", Reasoning: "hmm", Finish: FinishStop, StopString: "END", Usage: &Usage{PromptTokens: 2, CompletionTokens: 3},
		Logprobs: []TokenLogprob{{Token: "é", ID: -1, Bytes: []byte("é"), Logprob: -1, Top: []TokenLogprob{{Token: "e", ID: -1, Bytes: []byte("e"), Logprob: -2}}}}})
	_, err = collected(t, "openai-chat", sse(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]}}]}`), nil)
	wantError(t, err, Broken, false, "start it without its tool-call parser")
	_, err = collected(t, "openai-chat", sse(`{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`), nil)
	wantError(t, err, Broken, false, "tool calls")
}

// A chat engine is told not to parse in the words that it knows.
func TestChatServers(t *testing.T) {
	for owner, want := range map[string]string{
		"vllm":     `"tool_choice":"none"`,
		"sglang":   `"separate_reasoning":false`,
		"llamacpp": `"reasoning_format":"none"`,
	} {
		w := wireOf("openai-chat")
		s := newFakeServer(t, map[string]http.HandlerFunc{w.path: answering(w.whole("a")),
			"/v1/models": answering(fmt.Sprintf(`{"data":[{"id":"m","owned_by":%q}]}`, owner))})
		r := w.request()
		r.Conversation.Tools = []byte(weatherTool)
		stream, err := w.open(t, s, Options{}).Generate(t.Context(), r)
		if err != nil {
			t.Error(err)
			continue
		}
		stream.Close()
		if body := s.body(w.path); !strings.Contains(body, want) || (owner == "sglang") != strings.Contains(body, `"tool_choice":"auto"`) {
			t.Errorf("%s: %s", owner, body)
		}
	}
	// One that has no list of models is spoken with if the model is named.
	w := wireOf("openai-chat")
	s := newFakeServer(t, map[string]http.HandlerFunc{w.path: answering(w.whole("a"))})
	answer, err := w.generate(t, w.open(t, s, Options{}))
	if err != nil || answer.Text != "a" {
		t.Errorf("%+v, %v", answer, err)
	}
}

// sglangEvents are events of SGLang: everything so far, or what is new if incremental.
func sglangEvents(incremental bool, finish string, texts ...string) string {
	var b strings.Builder
	all := ""
	for i, text := range texts {
		all += text
		shown, list := all, ids(i+1)
		logprobs := make([]string, i+1)
		for k := range logprobs {
			logprobs[k] = fmt.Sprintf(`[-%d,%d,null]`, k+1, k+1)
		}
		if incremental {
			shown, list, logprobs = text, fmt.Sprintf("[%d]", i+1), logprobs[i:]
		}
		reason := "null"
		if i == len(texts)-1 {
			reason = finish
		}
		b.WriteString(sse(fmt.Sprintf(`{"text":%q,"output_ids":%s,"meta_info":{"id":"x","finish_reason":%s,"prompt_tokens":2,"completion_tokens":%d,"cached_tokens":1,"output_token_logprobs":[%s],"output_top_logprobs":null}}`,
			shown, list, reason, i+1, strings.Join(logprobs, ","))))
	}
	return b.String() + sse("[DONE]")
}

func TestDecodeSGLang(t *testing.T) {
	for _, incremental := range []bool{false, true} {
		// " ha ha" begins with " ha": only the count of tokens tells one kind of server from the other.
		answer, err := collected(t, "sglang", sglangEvents(incremental, `{"type":"stop","matched":3}`, " ha", " ha ha", ""),
			func(r *Request) { r.TokenIDs, r.PromptTokenIDs, r.Logprobs = true, true, true })
		wantAnswer(t, answer, err, Answer{Text: " ha ha ha", Tokens: []int{1, 2, 3}, PromptTokens: []int{1, 2}, Finish: FinishStop, StopToken: pointer(3),
			Usage:    &Usage{PromptTokens: 2, CompletionTokens: 3, CachedTokens: 1},
			Logprobs: []TokenLogprob{{ID: 1, Logprob: -1}, {ID: 2, Logprob: -2}, {ID: 3, Logprob: -3}}})
		answer, err = collected(t, "sglang", sglangEvents(incremental, `{"type":"length","length":3}`, "a", "#", "b"), func(r *Request) { r.Stop = []string{"##"} })
		if err != nil || answer.Text != "a#b" || answer.Finish != FinishLength {
			t.Errorf("%+v, %v", answer, err)
		}
	}
	// What was the beginning of a stop string is cut off again by the engine; it must not have gone out before.
	sent := sse(`{"text":"a#","output_ids":[1,2],"meta_info":{"finish_reason":null,"prompt_tokens":2,"completion_tokens":2}}`) +
		sse(`{"text":"a","output_ids":[1,2,3],"meta_info":{"finish_reason":{"type":"stop","matched":"##"},"prompt_tokens":2,"completion_tokens":3}}`)
	answer, err := collected(t, "sglang", sent, func(r *Request) { r.Stop = []string{"##"} })
	if err != nil || answer.Text != "a" || answer.StopString != "##" {
		t.Errorf("%+v, %v", answer, err)
	}
	_, err = collected(t, "sglang", sse(`{"text":"a","output_ids":[1],"meta_info":{"finish_reason":{"type":"abort","message":"The request queue is full.","status_code":503},"completion_tokens":1}}`), nil)
	wantError(t, err, Overloaded, false, "queue is full")
	answer, err = collected(t, "sglang", sse(`{"text":"a","output_ids":[1],"meta_info":{"finish_reason":{"type":"abort"},"completion_tokens":1}}`), nil)
	if err != nil || answer.Finish != FinishAbort {
		t.Errorf("%+v, %v", answer, err)
	}
}

func TestDecodeLlamaCpp(t *testing.T) {
	event := func(text string, n int) string {
		return sse(fmt.Sprintf(`{"index":0,"content":%q,"tokens":[%d],"stop":false,"id_slot":-1,"tokens_predicted":%d,"tokens_evaluated":3,"completion_probabilities":[{"id":%d,"token":%q,"bytes":[100],"logprob":-2.5,"top_logprobs":[{"id":198,"token":"\n","bytes":[10],"logprob":-2.25}]}]}`, text, n, n, n, text))
	}
	for _, top := range []int{0, 1} {
		answer, err := collected(t, "llamacpp", event("d", 1)+sse(`{"content":"","stop":true,"stop_type":"word","stopping_word":"END","tokens_predicted":4,"tokens_evaluated":3,"timings":{"cache_n":2}}`),
			func(r *Request) { r.Logprobs, r.TopLogprobs = true, top })
		want := Answer{Text: "d", Finish: FinishStop, StopString: "END", Usage: &Usage{PromptTokens: 3, CompletionTokens: 4, CachedTokens: 2},
			Logprobs: []TokenLogprob{{Token: "d", ID: 1, Bytes: []byte("d"), Logprob: -2.5}}}
		if top == 1 {
			want.Logprobs[0].Top = []TokenLogprob{{Token: "\n", ID: 198, Bytes: []byte("\n"), Logprob: -2.25}}
		}
		wantAnswer(t, answer, err, want)
	}
	for word, want := range map[string]FinishReason{"eos": FinishStop, "limit": FinishLength, "none": FinishAbort} {
		answer, err := collected(t, "llamacpp", event("d", 1)+sse(fmt.Sprintf(`{"content":"","stop":true,"stop_type":%q}`, word)), nil)
		if err != nil || answer.Finish != want {
			t.Errorf("%s: %+v, %v", word, answer, err)
		}
	}
	_, err := collected(t, "llamacpp", event("d", 1)+sse(`{"content":"","stop":true}`), nil)
	wantError(t, err, Broken, true, "stop_type")
	_, err = collected(t, "llamacpp", event("d", 1)+`error: {"code":500,"message":"it died","type":"server_error"}`+"\n\n", nil)
	wantError(t, err, Failed, true, "it died")
}

func TestDecodeOllama(t *testing.T) {
	answer, err := collected(t, "ollama", `{"model":"m","response":"a","thinking":"hm","done":false,"logprobs":[{"token":"a","logprob":-1,"bytes":[97]}]}`+"\n"+
		`{"model":"m","response":"b","done":true,"done_reason":"length","prompt_eval_count":3,"eval_count":4}`, func(r *Request) { r.Logprobs = true })
	wantAnswer(t, answer, err, Answer{Text: "ab", Reasoning: "hm", Finish: FinishLength, Usage: &Usage{PromptTokens: 3, CompletionTokens: 4},
		Logprobs: []TokenLogprob{{Token: "a", ID: -1, Bytes: []byte("a"), Logprob: -1}}})
	// Thirty equal pieces end a stream without another word.
	answer, err = collected(t, "ollama", strings.Repeat(`{"response":"x","done":false}`+"\n", 32), nil)
	if err != nil || answer.Finish != FinishRepetition {
		t.Errorf("%+v, %v", answer, err)
	}
	_, err = collected(t, "ollama", strings.Repeat(`{"response":"x","done":false}`+"\n", 5), nil)
	wantError(t, err, Broken, true, "without a finish reason")
}
