// Package render writes a message as the text that a model would have written: the reverse of parsing.
//
//	r, err := render.For("qwen3_coder", "qwen3")
//	...
//	text, err := r.Render(message, render.Options{Request: parlance.Request{Tools: tools}})
//
// The text is made from the definition of the format alone. A Renderer walks the grammar with the message in its hand:
// of several ways to write a thing the first one is taken that can hold the data, and white space is written as the
// definition says, which is as the chat template of the family writes the turn. What the parser of the same names reads
// from the text, for the same request, is the message again.
//
// Not every format can carry every message. A Python call has no way to write an argument whose name is no identifier;
// a value between tags cannot hold its own closing tag; a list of calls that may stand only at the start of the output
// leaves no place for text before it. Such a message is refused with an *Error that names the value and the reason.
// Nothing is ever written that would be read as something else.
//
// The words: an item is a part of the message that is written as a whole, the reasoning, a stretch of content or a call.
// Captures, roles, layout and codecs are those of docs/notation.md.
//
// What the model does not write is the chat template's: user and system messages, lists of tools. Only the results of
// tools, which stand between two messages of the model and sometimes inside one turn of it, are described by definitions
// as well, under the key results; Results writes them.
package render
