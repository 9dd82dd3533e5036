// Package detect finds out which format a model writes: from samples of its output, from its chat template, its
// vocabulary or its name, and, while an answer streams by, from what the chosen parser left lying in the content.
//
// Everything it knows comes from the definitions of the formats, as a registry tells them: the functions of the package know
// the built-in ones, a Detector those of a registry of its own. A sample is judged by
// reading it: each format that could have written it parses it, and the one that finds whole calls and leaves nothing
// behind that looks like markup explains it best. A template is judged by the markers that stand in it, by what a
// definition says must or must not stand in it, and by reading back the calls that it renders.
//
// A Guess is one parser name with what speaks for it. Guesses come in two lists, for tools and for reasoning, the best
// first. A guess is sure if nothing else explains the evidence as well; names that do are its look-alikes, since many
// families write the same calls and differ only in what is around them.
//
// An alarm is raised while an answer is read: the content, or the thought, carries the markup of another format. What is
// quoted as Markdown code is no thought, and what calls no declared tool is no call.
package detect
