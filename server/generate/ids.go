package generate

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json/jsontext"
	"encoding/json/v2"

	"github.com/parlance-llm/parlance"
)

// NewID makes an id: the prefix and 32 random hexadecimal digits.
func NewID(prefix string) string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // it never fails
	return prefix + hex.EncodeToString(random[:])
}

const alphanumerics = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// nineAlphanumerics makes an id as some templates demand it: nine letters and digits.
func nineAlphanumerics() string {
	out := make([]byte, 0, 9)
	var random [16]byte
	for {
		_, _ = rand.Read(random[:])
		for _, b := range random {
			if int(b) < 256-256%len(alphanumerics) { // so that every one is as likely
				if out = append(out, alphanumerics[int(b)%len(alphanumerics)]); len(out) == 9 {
					return string(out)
				}
			}
		}
	}
}

// NewCallID makes the id of a call that the model gave none: as the definition of the format says, so that the id fits
// when the call comes back in a conversation; else any.
func (r *Request) NewCallID(name string, number int) string {
	if parser := r.Model.Parser; parser != nil {
		if format, ok := parser.ToolFormat(); ok {
			switch format.CallIDs {
			case parlance.CallIDsNineAlphanumerics:
				return nineAlphanumerics()
			case parlance.CallIDsPerMessageFromOne:
				number++
			case parlance.CallIDsPerConversation:
				number += r.callsBefore()
			}
		}
		if id, ok := parser.CallID(name, number); ok {
			return id
		}
	}
	return NewID("chatcmpl-tool-")
}

// callsBefore counts the calls of the conversation's earlier turns.
func (r *Request) callsBefore() (calls int) {
	for _, message := range r.Messages {
		var m struct {
			Role  string           `json:"role"`
			Calls []jsontext.Value `json:"tool_calls"`
		}
		if json.Unmarshal(message, &m, lenient) == nil && m.Role == "assistant" {
			calls += len(m.Calls)
		}
	}
	return calls
}
