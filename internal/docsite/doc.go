// Package docsite serves the documentation as a site: the pages of docs/, which are Markdown for reading on a forge, as
// HTML with navigation. All that a page needs comes from the program, so that it can be read without a network.
//
// A page's address is its file without the ending, and README.md is the address of its folder; with the ending the
// Markdown itself is served. Links between pages are rewritten to that; links that leave the folder lead to the repository.
package docsite
