package program

// Tray is where text goes.
type Tray uint8

// The trays. Dropped is text that a channel drops: it counts as markup.
const (
	Content Tray = iota
	Reasoning
	Dropped
	// Junk is text inside a call that means nothing there: skipped and flagged.
	Junk
)

// ValueKind says how the text of a tagged value is read.
type ValueKind uint8

const (
	// ValueText: by the schema; where it is silent a string.
	ValueText ValueKind = iota
	// ValueJSON: by the schema; where it is silent JSON, and a string if it is none.
	ValueJSON
	// ValueXML: as ValueText, with the five entities of XML decoded.
	ValueXML
)
