// Package engine is where model text comes from: one interface, and behind it every engine that Parlance can stand in
// front of.
//
//   - replay answers with recorded or scripted model text, so that everything runs with no model at hand;
//   - openai-completions is any server with POST /v1/completions, openai-chat any server with POST /v1/chat/completions;
//   - vllm, sglang, llamacpp and ollama are those servers with what each one can do beyond that: token ids, constraints,
//     rendered prompts.
//
// An engine gives raw text. Reading reasoning and tool calls out of it is not its business; whatever parsing an engine
// has of its own is switched off.
//
//	e, err := engine.Open("llamacpp", engine.Options{URL: "http://127.0.0.1:8080"})
//	...
//	stream, err := e.Generate(ctx, &engine.Request{Prompt: engine.Prompt{Text: prompt}, MaxTokens: 200})
//	if err != nil {
//		return err // nothing has been written yet: answer with err's status
//	}
//	defer stream.Close()
//	for piece, err := range engine.Pieces(stream) {
//		...
//	}
//
// The words used here:
//
//   - A prompt is what the model reads: rendered text, or the ids of its tokens. A conversation is messages and tools, from
//     which a chat template renders a prompt.
//   - A piece is what arrives at once: some text, some token ids, some log probabilities. They belong together only over
//     the whole stream: an engine holds text back (half a character, the beginning of a stop string) while it counts the
//     tokens on. Text and ids of one piece need not match.
//   - A constraint is a grammar, in one of several dialects, that the engine holds the model to.
//   - What an engine can do are its capabilities. A request that asks for more is refused with an *Error whose Kind is
//     Unsupported; nothing is left out in silence.
//
// Retries happen inside Generate and only before anything of the answer has arrived. Streams are pulled: a slow reader
// slows the engine down by way of the connection, and nothing is buffered meanwhile. When the context of a request ends,
// or its Stream is closed early, the engine is told at once, by the closing of the connection and, where the engine has
// one, by its own route.
package engine
