package chattemplate

import (
	"bytes"
	"encoding/json/jsontext"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"

	"github.com/ardanlabs/jinja"
)

// Order matters: a prompt shows the keys of objects as they were written, so JSON never passes through a map of Go. A
// key that is repeated keeps its first place and its last value, as in Python.

// readValue reads one JSON text. No text at all is null.
func readValue(data []byte) (jinja.Value, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return jinja.None(), nil
	}
	d := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	v, err := decode(d)
	if err != nil {
		return v, err
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return v, fmt.Errorf("expected the end of the JSON text at byte %d", d.InputOffset())
	}
	return v, nil
}

func decode(d *jsontext.Decoder) (jinja.Value, error) {
	t, err := d.ReadToken()
	if err != nil {
		return jinja.Undefined(), err
	}
	switch t.Kind() {
	case 'n':
		return jinja.None(), nil
	case 't', 'f':
		return jinja.NewBool(t.Bool()), nil
	case '"':
		return jinja.NewString(t.String()), nil
	case '0':
		return number(t.String()), nil
	case '[':
		items := []jinja.Value{}
		for d.PeekKind() != ']' {
			item, err := decode(d)
			if err != nil {
				return jinja.Undefined(), err
			}
			items = append(items, item)
		}
		_, err := d.ReadToken()
		return jinja.NewList(items), err
	}
	v := jinja.NewDict()
	for d.PeekKind() != '}' {
		key, err := d.ReadToken()
		if err != nil {
			return jinja.Undefined(), err
		}
		name := key.String()
		member, err := decode(d)
		if err != nil {
			return jinja.Undefined(), err
		}
		v.AsDict().Set(name, member)
	}
	_, err = d.ReadToken()
	return v, err
}

// number keeps integers and floats apart, as Python does: 3 is an integer, 3.0 and 3e0 are floats.
func number(s string) jinja.Value {
	if !strings.ContainsAny(s, ".eE") {
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return jinja.NewInt(n)
		}
		if n, ok := new(big.Int).SetString(s, 10); ok {
			return bigValue(n.String())
		}
	}
	f, _ := strconv.ParseFloat(s, 64) // out of range is infinite, as in Python
	return jinja.NewFloat(f)
}
