package schema

import "strings"

// Kinds is a set of the types of JSON schema. The empty set means that nothing is known.
type Kinds uint8

// The kinds, in the order in which the text of a value is tried against them.
const (
	Null Kinds = 1 << iota
	Integer
	Number
	Boolean
	Object
	Array
	String
)

// Has reports whether the two sets have a kind in common.
func (k Kinds) Has(others Kinds) bool { return k&others != 0 }

// kindsByName are the names of the kinds and the other names that schemas in the field use for them (the sheet of
// qwen3_coder, rule 3).
var kindsByName = map[string]Kinds{
	"null": Null,

	"integer": Integer, "int": Integer, "int32": Integer, "int64": Integer, "uint": Integer, "uint32": Integer,
	"uint64": Integer, "long": Integer, "short": Integer, "unsigned": Integer,

	"number": Number, "float": Number, "float32": Number, "float64": Number, "double": Number,

	"boolean": Boolean, "bool": Boolean,

	"object": Object, "dict": Object,

	"array": Array, "arr": Array, "list": Array, "sequence": Array,

	"string": String, "str": String, "text": String, "varchar": String, "char": String, "enum": String,
}

// KindNamed returns the kind of a type name, in any case and with blanks around it; none for a name nobody knows.
func KindNamed(name string) Kinds { return kindsByName[strings.ToLower(strings.TrimSpace(name))] }
