// Package chattemplate renders chat templates: it turns the messages and tools of a request into the prompt that a model
// was trained on.
//
//	model, err := chattemplate.Load("path/of/the/model")
//	...
//	template, err := model.For(len(tools) > 0)
//	rendered, err := template.RenderChat(chattemplate.Chat{Messages: messages, Tools: tools, AddGenerationPrompt: true})
//
// The words used throughout:
//
//   - A chat template is a program in the Jinja language that ships with a checkpoint. It is given messages, tools and
//     some switches, and prints the prompt. transformers, the Python library that most checkpoints are published for,
//     says what each construct means; this package prints the same bytes.
//   - A chat is a request as a server gets it. Chat.Request makes of it what the template sees: messages are normalised,
//     the switches of the request are laid over those of the operator.
//   - Refusing is what Python does where an operation makes no sense, such as adding text to null. A template that
//     refuses a request renders nothing, and the error says why. A lenient template goes on where it can.
//
// # How it works
//
// The Jinja library that runs the templates does most of what is needed, and differs from Python in a hundred small
// ways: what is trimmed around tags, what null plus text is, how numbers print. So a template is read here, by the rules
// of jinja2: lexer.go does its white space, parser.go its expressions, statements.go its tags. It is then written anew
// for the library: every operator, filter, test and method whose meaning differs becomes a call of a function of ours.
// What the library is left with are scopes, loops, macros and conditions.
//
// # Limits
//
// A template sees no files, no network, and of the time only what strftime_now prints. Loops, recursion and the text
// that a rendering makes are bounded; see the Limits type. A Template is immutable and may render in any number of
// goroutines.
package chattemplate
