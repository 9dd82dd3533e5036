package engine

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

// lenient reads JSON of engines: they may name a member twice, and some write bytes that are no UTF-8.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// errorObject is the error of any engine: the shapes of OpenAI, of SGLang and LMDeploy (without an outer "error"), of
// Ollama ("error" is a text), of TGI ("error_type") and of FastAPI ("detail").
type errorObject struct {
	Error     jsontext.Value `json:"error"`
	ErrorType string         `json:"error_type"`
	Object    string         `json:"object"`
	Detail    jsontext.Value `json:"detail"`
	Message   jsontext.Value `json:"message"`
	Type      jsontext.Value `json:"type"`
	Param     jsontext.Value `json:"param"`
	Code      jsontext.Value `json:"code"`
}

// present tells whether there is an error in it.
func (o *errorObject) present() bool {
	return len(o.Error) > 0 && string(o.Error) != "null" || o.Object == "error"
}

// read takes what the body of an error says. Status is set if the body has a code that is one.
func (e *Error) read(data []byte) {
	var object errorObject
	if err := json.Unmarshal(data, &object, lenient); err != nil {
		if text := strings.TrimSpace(string(data)); text != "" && !strings.HasPrefix(text, "<") {
			e.Message = shortened(text)
		}
		return
	}
	if object.Error.Kind() == '{' {
		inner := object.Error
		object = errorObject{}
		if err := json.Unmarshal(inner, &object, lenient); err != nil {
			e.Message = shortened(string(inner))
			return
		}
	}
	for _, value := range []jsontext.Value{object.Message, object.Error, object.Detail} {
		if text := plain(value); text != "" {
			e.Message = text
			break
		}
	}
	e.Type, e.Param, e.Code = plain(object.Type), plain(object.Param), plain(object.Code)
	if e.Type == "" {
		e.Type = object.ErrorType
	}
	if status, err := strconv.Atoi(e.Code); err == nil && status >= 400 && status < 600 {
		e.Status = status
	}
}

// plain is the text of a JSON string, the JSON text of anything else, nothing for null.
func plain(value jsontext.Value) string {
	switch {
	case len(value) == 0 || value.Kind() == 'n':
		return ""
	case value.Kind() == '"':
		var text string
		if json.Unmarshal(value, &text, lenient) == nil {
			return shortened(text)
		}
	}
	return shortened(string(value))
}

func shortened(text string) string {
	const limit = 2000
	if len(text) <= limit {
		return strings.ToValidUTF8(text, "\uFFFD")
	}
	end := limit
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return strings.ToValidUTF8(text[:end], "\uFFFD") + "…"
}

// streamError reads an error that comes in a stream. It answers nil if there is none in the event.
func (c *client) streamError(event []byte, started bool) *Error {
	if !bytes.Contains(event, []byte(`"error`)) {
		return nil
	}
	var object errorObject
	if err := json.Unmarshal(event, &object, lenient); err != nil || !object.present() {
		return nil
	}
	failed := &Error{Kind: Failed, Engine: c.engine, Op: "generate", Started: started, Message: "an error without a message"}
	failed.read(event)
	if failed.Status != 0 {
		failed.Kind = kindOf(failed.Status)
	}
	return failed
}

// wholeText is the text of a JSON string, nothing for anything else.
func wholeText(value jsontext.Value) string {
	var text string
	if value.Kind() != '"' || json.Unmarshal(value, &text, lenient) != nil {
		return ""
	}
	return text
}

// tokenText is the text of a token that is told as a string, or as an object with its content.
func tokenText(value jsontext.Value) string {
	if value.Kind() != '{' {
		return wholeText(value)
	}
	var token struct {
		Content string `json:"content"`
	}
	if json.Unmarshal(value, &token, lenient) != nil {
		return ""
	}
	return token.Content
}

// readTuple reads a JSON array whose members have types of their own. Members that are missing or null leave their place as
// it is; members behind the last place are passed over.
func readTuple(d *jsontext.Decoder, places ...any) error {
	if d.PeekKind() != '[' {
		return errors.New("expected an array")
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for i := 0; d.PeekKind() != ']'; i++ {
		if d.PeekKind() == 0 {
			_, err := d.ReadToken()
			return err
		}
		if i >= len(places) || d.PeekKind() == 'n' {
			if err := d.SkipValue(); err != nil {
				return err
			}
			continue
		}
		if err := json.UnmarshalDecode(d, places[i]); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}
