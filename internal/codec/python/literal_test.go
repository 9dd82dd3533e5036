package python

import (
	"bufio"
	"bytes"
	"encoding/json"
	"encoding/json/jsontext"
	"math/big"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/parlance-llm/parlance/internal/codec"
)

// TestAgainstPython holds that valid Python is read as Python reads it. testdata/literals.jsonl has argument lists and,
// for each, the JSON text of what Python 3.11's own parser makes of them; testdata/generate.py has written it.
func TestAgainstPython(t *testing.T) {
	file, err := os.Open("testdata/literals.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	random := rand.New(rand.NewPCG(11, 12))
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	count := 0
	for lines.Scan() {
		var line struct{ Arguments, Want string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		count++
		var c Codec
		out, n, st := feed(t, &c, []byte(line.Arguments))
		if st != codec.Done || n != len(line.Arguments) {
			t.Errorf("%q: status %v after %d of %d bytes", line.Arguments, st, n, len(line.Arguments))
		}
		got := c.Close(out)
		if !sameJSON(t, got, []byte(line.Want)) {
			t.Errorf("%q\n got  %s\n want %s", line.Arguments, got, line.Want)
		}
		if c.fault {
			t.Errorf("%q: something was repaired", line.Arguments)
		}
		if count%10 == 0 {
			check(t, []byte(line.Arguments), 0, random)
		}
	}
	if count < 500 {
		t.Errorf("only %d lines", count)
	}
}

// sameJSON reports whether two JSON texts have the same strings, words, brackets and numbers in the same order. Where
// Python read a number as a float, it is enough that the other reads as the same float.
func sameJSON(t *testing.T, got, want []byte) bool {
	t.Helper()
	decoder := func(text []byte) *jsontext.Decoder {
		return jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true))
	}
	first, second := decoder(got), decoder(want)
	for {
		a, errA := first.ReadToken()
		b, errB := second.ReadToken()
		if errA != nil || errB != nil {
			return errA == errB
		}
		if a.Kind() != b.Kind() {
			return false
		}
		one, other := a.String(), b.String()
		if one == other {
			continue
		}
		if a.Kind() != '0' {
			return false
		}
		exactly, _ := new(big.Rat).SetString(one)
		if wanted, _ := new(big.Rat).SetString(other); exactly.Cmp(wanted) == 0 {
			continue
		}
		x, errX := strconv.ParseFloat(one, 64)
		y, errY := strconv.ParseFloat(other, 64)
		if errX != nil || errY != nil || x != y || !bytes.ContainsAny([]byte(other), ".e") {
			return false
		}
	}
}

func TestAppendLiteral(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{`1`, `1`}, {` 1 `, `1`}, {`-0x10`, `-16`}, {`None`, `null`}, {`True`, `true`}, {`"x"`, `"x"`}, {`'x' "y"`, `"xy"`},
		{`''`, `""`}, {`'''x'''`, `"x"`}, {`r'\d'`, `"\\d"`}, {"'a\nb'", `"a\nb"`}, {`07`, `7`},
		{`[1, 'x', None]`, `[1, "x", null]`}, {`(1)`, `1`}, {`(1,)`, `[1]`}, {`()`, `[]`}, {`{}`, `{}`}, {`{1, 2}`, `[1, 2]`},
		{`{'a': {'b': (1, 2)}, 3: []}`, `{"a": {"b": [1, 2]}, "3": []}`}, {"\n[\n1,\n]\n", `[1]`}, {`{"a": "b",}`, `{"a": "b"}`},
	} {
		got, ok := AppendLiteral([]byte("x"), []byte(test.text))
		if !ok || string(got) != "x"+test.want {
			t.Errorf("%q: %q, %v, want %q", test.text, got, ok, test.want)
		}
	}
	for _, text := range []string{
		``, ` `, `x`, `foo(1)`, `1, 2`, `1 2`, `[1`, `1]`, `[1)`, `(1]`, `)`, `1)`, `1) + (2`, `"x`, `"x" y`, `'a'b'`, `'say 'hi''`,
		`[1,,2]`, `[,]`, `{1: }`, `{1: 2, 3}`, `{: 1}`, `{**x}`, `[*x]`, `{[1]: 2}`, `{{"a": 1}}`, `[1] # x`, `# x`, `[x]`, `[1][0]`,
		`(1) + 2`, `1 + 2`, `nan`, `a=1`, `"a": 1`, `["it"s"]`, `[1]]`, `(`, `{`, `,`, `"x",`, `[1],`, `1:`, `-`, `{1, 2: 3}`, `{1: 2: 3}`,
	} {
		if got, ok := AppendLiteral([]byte("x"), []byte(text)); ok || string(got) != "x" {
			t.Errorf("%q: %q, %v, want no literal", text, got, ok)
		}
	}
}
