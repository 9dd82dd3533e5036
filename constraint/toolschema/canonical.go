package toolschema

import (
	"encoding/json/jsontext"
)

// Canonical writes a JSON value in one way, whatever its white space and the order of its members, so that values can
// be compared as texts. Numbers keep their spelling.
func Canonical(text string) (string, error) {
	v := jsontext.Value(text)
	if err := v.Format(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), jsontext.CanonicalizeRawFloats(false), jsontext.CanonicalizeRawInts(false), jsontext.ReorderRawObjects(true)); err != nil {
		return "", err
	}
	return string(v), nil
}
