// Package conformance asks of an implementation what the cases say.
//
// A case is data: a model's output, the request it answers, and what must come of it. The files in cases hold them; a new
// case needs no Go. The words:
//
//   - An Input is an output with its request. It has the keys of a case file, which are also the keys of a line of
//     `parlance batch`.
//   - A Chunk says how an output is cut into the pieces of a stream; a Chunking is one way in which a case is run: whole,
//     or streamed in chunks.
//   - A Result is what an implementation made of an Input. A Difference is how it differs from what a case wants, by
//     rulings 1 to 3.
//   - A Trial is a case with all its chunkings. It counts once, and passes only if every chunking does: whole; streamed
//     all at once and 1, 3 and 7 characters at a time; cut at every boundary of a marker, inside every marker, at each of
//     these places alone; and cut at random places.
//   - An Implementation runs trials. Library is this module; Command is any other program that reads and writes the
//     JSON lines of `parlance batch`.
package conformance
