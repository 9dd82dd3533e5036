package conformance

import (
	"encoding/json/jsontext"
	"encoding/json/v2"

	"github.com/parlance-llm/parlance/internal/explain"
)

// Decode reads one JSON value leniently, as recorded data needs it: of repeated keys the last counts, and what is no
// UTF-8 becomes U+FFFD. Errors tell the place in the value, what was expected there and what was found.
func Decode(data []byte, into any) error {
	err := json.Unmarshal(data, into, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	return explain.Error(err)
}

// Encode writes one JSON value on one line, without a line break. Bytes of texts that are no UTF-8 become U+FFFD.
func Encode(value any) ([]byte, error) {
	return json.Marshal(value, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}
