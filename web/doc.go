// Package web is the playground: a page on which model text is pasted or streamed, and which shows what became of every
// character, for any format and any chunking. The page is a handful of static files without a build step; what it shows
// it asks of the reading interface beside it, so that nothing leaves the machine that serves it.
//
// The interface reads text the way a client of a server would see it: piece by piece. Its answer is a stream of lines of
// JSON: first what became of the text, then the steps, one a piece, in batches, then the alarms. Places in the text are
// counted in UTF-16 units, as a page counts them.
package web
