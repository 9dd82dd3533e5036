// Package doctor examines a running engine, or a server in front of one, and finds out why its answers are not what they
// should be: which parser is wrong, why there are no tool calls, what cut a call off.
//
// It asks the same question in several ways: with a tool, whole and streamed; with a call forced; with a response format
// beside the tool; with thinking switched off. Of each it keeps what the client got and, where a route tells it, the prompt
// and the raw text of the model. Checks look at all of that together. A check has a code, under which
// docs/troubleshooting.md tells of it, and gives findings: a sentence that says what is wrong, and the change to make.
//
// Three words: the target is what is examined. An exchange is one question with its answers. The chosen parsers are those
// that the flags name; where they name none, the exchange's raw text says which would do, and these are only assumed.
//
// An engine that does not parse by itself is examined with Parlance in front of it, in this process, as the flags say; a
// server that parses, Parlance among them, is examined as its clients see it.
package doctor
