// Package generate is what all interfaces of the server share: one request, and the stream of events that answers it.
//
// An interface (Chat Completions, Responses, Messages) reads its own JSON into a Request and gives it to a Generator:
//
//	g, err := generator.Start(ctx, request)  // checked, rendered, sent to the engine
//	defer g.Close()
//	for {
//		step, err := g.Next(keepAlive)
//		...
//	}
//
// The data flows one way: the conversation becomes a prompt, the engine writes text, the parser sorts it, and what has
// become certain comes out as steps. An interface never looks at model text; it only writes down the deltas of the steps
// in its own shape. The words used here:
//
//   - A choice is one of the n answers to a request, numbered from 0.
//   - A step is what one piece of an engine's stream has made certain in one choice. The last step of a choice has a
//     Finish; after the last step of the last choice Next answers io.EOF.
//   - A delta is a part of a step: text of a tray, the beginning of a call, argument text, or the end of a call.
//   - An answer is all steps of a choice put together, for interfaces that answer whole.
//
// Whole answers and streams come from the same steps. The one difference is the law's: a whole answer keeps a malformed
// call as text, a stream has sent its name by then (ruling 34).
//
// Errors are *apierror.Error. Until the first step nothing has been written to the client, so an interface answers with
// the error's own status; afterwards it writes the error into its stream.
package generate
