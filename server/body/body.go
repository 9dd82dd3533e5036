// Package body reads the JSON body of a request.
//
// Reading is lenient in what vLLM's schema layer is lenient in: unknown members are ignored, numbers and booleans may be
// written as strings. What does not fit is not told one by one: an Object gathers complaints, each with its place
// (body.tools.0.function), and Err makes one error of them all.
//
// Values are kept as they were written wherever they are only passed on, so that the order of keys and the spelling of
// numbers survive.
package body

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/parlance-llm/parlance/server/apierror"
)

// Read reads the body of a request. The error is of the kind Schema, or TooLarge for a body of more than limit bytes.
func Read(r *http.Request, limit int64) (*Object, error) {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/json" {
		return nil, apierror.New(apierror.Schema, "", "Unsupported Media Type: expected the content type application/json, found %q", r.Header.Get("Content-Type"))
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, apierror.New(apierror.Schema, "", "Unsupported Media Type: expected a body that is not compressed, found the content encoding %q", coding)
	}
	var data []byte
	if r.ContentLength <= limit { // else it need not arrive
		data, err = io.ReadAll(http.MaxBytesReader(nil, r.Body, limit))
	}
	if large := (*http.MaxBytesError)(nil); r.ContentLength > limit || errors.As(err, &large) {
		return nil, apierror.New(apierror.TooLarge, "", "the body is larger than the limit of %d bytes", limit)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, apierror.New(apierror.RequestTimeout, "", "the body did not arrive in time: %d bytes came, and then nothing", len(data))
	}
	if err != nil {
		return nil, apierror.New(apierror.Schema, "", "the body could not be read to its end: %v", err)
	}
	return Parse(bytes.TrimPrefix(data, []byte("\ufeff"))) // some clients write a byte order mark; Python reads over it
}

// lenient is how bodies are read: a repeated member counts with its last value, as in Python.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// Parse reads the text of a body.
func Parse(data []byte) (*Object, error) {
	if !utf8.Valid(data) {
		return nil, apierror.New(apierror.Schema, "", "the body is not UTF-8")
	}
	o := &Object{place: "body", complaints: &[]apierror.Complaint{}}
	value := jsontext.Value(bytes.TrimSpace(data))
	if !value.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
		return nil, syntaxError(value)
	}
	if value.Kind() != '{' {
		o.complain("", "expected an object", value)
		return nil, o.Err()
	}
	if err := json.Unmarshal(value, &o.members, lenient); err != nil {
		return nil, syntaxError(value)
	}
	return o, nil
}

// syntaxError says where a text stops being JSON.
func syntaxError(value jsontext.Value) error {
	var into any
	err := json.Unmarshal(value, &into, lenient)
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		return apierror.Join([]apierror.Complaint{{Param: fmt.Sprintf("body.%d", syntactic.ByteOffset), Message: "JSON decode error: " + syntactic.Err.Error()}})
	}
	return apierror.Join([]apierror.Complaint{{Param: "body", Message: fmt.Sprintf("JSON decode error: %v", err)}})
}
