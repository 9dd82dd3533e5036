// Package docs holds the documentation, so that a program can serve it.
package docs

import "embed"

// Files are the pages (Markdown) and their pictures. README.md of a folder is its first page.
//
//go:embed *.md *.svg *.png commands formats
var Files embed.FS
