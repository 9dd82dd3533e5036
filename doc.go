// Package parlance sorts what a language model writes into what a program can use.
//
// A model writes everything as text. Clients want three trays: the reasoning, the content and the tool calls. Every
// model family writes its reasoning and its calls in a wire format of its own. This package knows the formats, each
// from one definition, and sorts text whole or while it streams, with the same answer however it is cut into pieces.
//
//	p, err := parlance.Lookup("hermes", "qwen3")
//	...
//	m := p.Parse(text, parlance.Request{Tools: tools}, parlance.FinishStop)
//	fmt.Println(m.Reasoning, m.Content, m.Calls)
//
// The words used throughout:
//
//   - A format is the way a model family writes. It has up to two halves, a tool half and a reasoning half, which are
//     chosen by name, as vLLM's --tool-call-parser and --reasoning-parser choose them. The halves may come from two
//     formats.
//   - A marker is text that stands for structure, such as a tag.
//   - A tray is where text goes: reasoning, content, or the arguments of a call. Text that goes to no tray is markup,
//     or junk inside a call.
//   - A segment is a stretch of one tray, or a call, in the order of the output. A message is all segments, and the
//     trays put together.
//   - A delta is what has become certain with one piece of a stream. What has been given out is never taken back.
//
// Model text is never an error: any bytes are read somehow, and nothing is lost. A Parser is immutable and shared by
// goroutines; a Stream belongs to one.
package parlance
