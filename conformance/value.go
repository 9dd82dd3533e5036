package conformance

import (
	"bytes"
	"encoding/json/jsontext"
	"io"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/internal/explain"
)

// canonical writes a JSON value so that equal values are equal texts: members sorted, of repeated keys the last one,
// numbers by their exact decimal value, never as floats (ruling 2).
func canonical(value []byte) (string, error) {
	decoder := jsontext.NewDecoder(bytes.NewReader(value), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	var out strings.Builder
	if err := writeCanonical(&out, decoder); err != nil {
		return "", explain.Error(err)
	}
	if _, err := decoder.ReadToken(); err != io.EOF {
		if err == nil {
			err = explain.Expected("expected the end after the JSON value, found more")
		}
		return "", explain.Error(err)
	}
	return out.String(), nil
}

func writeCanonical(out *strings.Builder, decoder *jsontext.Decoder) error {
	token, err := decoder.ReadToken()
	if err != nil {
		return noEOF(err)
	}
	switch token.Kind() {
	case '{':
		return writeObject(out, decoder)
	case '[':
		out.WriteByte('[')
		for i := 0; decoder.PeekKind() != ']'; i++ {
			if i > 0 {
				out.WriteByte(',')
			}
			if err := writeCanonical(out, decoder); err != nil {
				return err
			}
		}
		out.WriteByte(']')
		_, err = decoder.ReadToken()
		return noEOF(err)
	case '"':
		return writeString(out, token.String())
	case '0':
		out.WriteString(decimal(token.String()))
	default:
		out.WriteString(token.String())
	}
	return nil
}

func writeObject(out *strings.Builder, decoder *jsontext.Decoder) error {
	members := map[string]string{}
	for decoder.PeekKind() != '}' {
		token, err := decoder.ReadToken()
		if err != nil {
			return noEOF(err)
		}
		key := token.String()
		var member strings.Builder
		if err := writeCanonical(&member, decoder); err != nil {
			return err
		}
		members[key] = member.String()
	}
	out.WriteByte('{')
	for i, key := range slices.Sorted(maps.Keys(members)) {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := writeString(out, key); err != nil {
			return err
		}
		out.WriteByte(':')
		out.WriteString(members[key])
	}
	out.WriteByte('}')
	_, err := decoder.ReadToken()
	return noEOF(err)
}

func writeString(out *strings.Builder, text string) error {
	quoted, err := jsontext.AppendQuote(nil, strings.ToValidUTF8(text, "\ufffd"))
	out.Write(quoted)
	return err
}

// noEOF turns the end of the input, which comes only inside a value here, into an error.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// decimal brings a JSON number into the one form `-123e4` without zeros at either end, "0" for zero. The exponent is
// never worked out, so that 1e400000000 costs nothing.
func decimal(number string) string {
	sign := ""
	if strings.HasPrefix(number, "-") {
		sign, number = "-", number[1:]
	}
	exponent := new(big.Int)
	if i := strings.IndexAny(number, "eE"); i >= 0 {
		exponent.SetString(strings.TrimPrefix(number[i+1:], "+"), 10)
		number = number[:i]
	}
	whole, fraction, _ := strings.Cut(number, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	trimmed := strings.TrimRight(digits, "0")
	if trimmed == "" {
		return "0"
	}
	exponent.Add(exponent, big.NewInt(int64(len(digits)-len(trimmed)-len(fraction))))
	return sign + trimmed + "e" + exponent.String()
}

// SameJSON tells whether two JSON texts are the same value by ruling 2: members unordered, of repeated keys the last one,
// numbers by their exact decimal value. Texts that are no JSON are the same only if they are equal.
func SameJSON(a, b string) bool {
	if a == b {
		return true
	}
	x, err := canonical([]byte(a))
	if err != nil {
		return false
	}
	y, err := canonical([]byte(b))
	return err == nil && x == y
}
