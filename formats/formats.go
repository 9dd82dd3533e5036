// Package formats holds the definitions of the wire formats, one file each. Nothing else knows a marker.
package formats

import "embed"

// Files are the definition files.
//
//go:embed *.yaml
var Files embed.FS
