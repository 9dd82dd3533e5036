package delimited

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/parlance-llm/parlance/internal/codec"
	"github.com/parlance-llm/parlance/internal/schema"
)

const quote = `<|"|>`

// parameters is the schema that the tests read by: a member of every kind, and members inside members.
var parameters = mustParse(`{"type": "object", "properties": {
	"city": {"type": "string"}, "days": {"type": "integer"}, "price": {"type": "number"}, "metric": {"type": "boolean"},
	"limit": {"type": ["integer", "null"]}, "name": {"type": ["string", "null"]},
	"tags": {"type": "array", "items": {"type": "string"}}, "sizes": {"type": "array", "items": {"type": "integer"}},
	"pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]},
	"filters": {"type": "object", "properties": {"lang": {"type": "string"}, "year": {"type": "integer"}}},
	"deep": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "number"}, "deep": {"$ref": "#/properties/deep"}}}}}}`)

func mustParse(text string) *schema.Schema {
	s, err := schema.Parse([]byte(text))
	if err != nil {
		panic(err)
	}
	return s
}

// reading is how a test reads a text: in pieces that end at the given places, its delimiters as characters, or
// as tokens where a test's text has the delimiter.
type reading struct {
	delimiter string
	closer    byte
	schema    *schema.Schema
	tokens    bool
}

// read reads a text up to the end or the closing bracket and returns what was appended and how much was taken.
func (r reading) read(t testing.TB, c *Codec, text string, ends ...int) (out []byte, taken int) {
	t.Helper()
	c.Start([]byte(r.delimiter), r.closer, r.schema)
	return r.goOn(t, c, nil, text, ends)
}

func (r reading) goOn(t testing.TB, c *Codec, out []byte, text string, ends []int) ([]byte, int) {
	from := 0
	for _, end := range append(ends, len(text)) {
		end = min(end, len(text))
		for from < end {
			piece := text[from:end]
			if r.tokens {
				if strings.HasPrefix(piece, r.delimiter) {
					out = c.Delimiter(out)
					from += len(r.delimiter)
					continue
				}
				if next := strings.Index(piece, r.delimiter); next > 0 {
					piece = piece[:next]
				}
			}
			before := string(out)
			n, result, status := c.Step([]byte(piece), out, !r.tokens)
			if !bytes.HasPrefix(result, []byte(before)) {
				t.Fatalf("%q: %q was taken back", text, before)
			}
			out = result
			from += n
			if status == codec.Done {
				return out, from
			}
			if status != codec.More || n != len(piece) {
				t.Fatalf("%q: status %v after %d of %d bytes", text, status, n, len(piece))
			}
		}
	}
	return out, from
}

func isJSON(text []byte) bool {
	return jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// isBeginning reports whether the text is the beginning of a JSON object.
func isBeginning(text []byte) bool {
	decoder := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		if _, err := decoder.ReadToken(); err != nil {
			return err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF)
		}
	}
}

// texts are arguments well and badly written. Q stands for the delimiter; the outermost brackets are left out.
var texts = []struct{ text, want string }{
	{`}`, `{}`},
	{` } rest`, `{}`},
	{`city:QParisQ,days:3,metric:true}`, `{"city": "Paris", "days": 3, "metric": true}`},
	{"\n city : QParisQ ,\n\tdays\n:\n3\n}", `{"city": "Paris", "days": 3}`},
	{`filters:{lang:QenQ,year:2024},limit:null,query:QgoQ,tags:[QaQ,QbQ]}`, `{"filters": {"lang": "en", "year": 2024}, "limit": null, "query": "go", "tags": ["a", "b"]}`},
	{"path:Q笔记/🌧.txtQ,text:Q{\"a\": [1, 2]}\n\tC:\\n 'x', y:zQ}", `{"path": "笔记/🌧.txt", "text": "{\"a\": [1, 2]}\n\tC:\\n 'x', y:z"}`},
	{`city:Qa <tool_call|> bQ}<tool_call|>`, `{"city": "a <tool_call|> b"}`},
	{`city:QQ}`, `{"city": ""}`},
	{`city:Q  a QQ bQ}`, `{"city": "  a "}`}, // the second string is no key
	// types: delimited and bare text go by the schema, at every depth
	{`metric:QTrueQ,price:Q1.50Q,city:42,days:Q3Q,limit:QNoneQ}`, `{"metric": true, "price": 1.50, "city": "42", "days": 3, "limit": null}`},
	{`days:QmanyQ,price:+.5,limit:many}`, `{"days": "many", "price": 0.5, "limit": "many"}`},
	{`name:QnullQ,name:null,name:Qa"bQ}`, `{"name": null, "name": null, "name": "a\"b"}`},
	{`filters:{year:Q2024Q,lang:5,other:Q5Q,more:5}}`, `{"filters": {"year": 2024, "lang": "5", "other": "5", "more": 5}}`},
	{`sizes:[Q1Q,2,QthreeQ, 4 ]}`, `{"sizes": [1, 2, "three", 4]}`},
	{`pair:[5,Q5Q,Q5Q,5]}`, `{"pair": ["5", 5, "5", 5]}`},
	{`deep:[{n:Q1e3Q,deep:[{n:Q007Q},{deep:[]}]}]}`, `{"deep": [{"n": 1e3, "deep": [{"n": 7}, {"deep": []}]}]}`},
	{`filters:Q{"lang": "en", "year": "5"}Q,tags:Q["a"]Q}`, `{"filters": {"lang": "en", "year": "5"}, "tags": ["a"]}`},
	{`city:{a:1},days:[1,{}],tags:QaQ}`, `{"city": {"a": 1}, "days": [1, {}], "tags": "a"}`},
	// types where the schema is silent
	{`a:3,b:Q3Q,c:true,d:QtrueQ,e:null,f:word and word,g:1.50,h:-0,i:None,j:12345678901234567890}`,
		`{"a": 3, "b": "3", "c": true, "d": "true", "e": null, "f": "word and word", "g": 1.50, "h": -0, "i": "None", "j": 12345678901234567890}`},
	// keys
	{`QcityQ:QaQ,Qx,y:zQ:1,QQ:2}`, `{"city": "a", "x,y:z": 1, "": 2}`},
	{`a b:1,page[size]:2,"q":3}`, `{"a b": 1, "page[size]": 2, "\"q\"": 3}`},
	{`a:QxQ,a:QyQ}`, `{"a": "x", "a": "y"}`},
	{`a:b:c,d::e}`, `{"a": "b:c", "d": ":e"}`},
	// what is missing: a value, a comma, a bracket, a delimiter
	{`city:,days:,name:,a:}`, `{"city": "", "days": null, "name": "", "a": ""}`},
	{`city:QaQ days:QbQQxQ:1}`, `{"city": "a", "days": "b", "x": 1}`},
	{`tags:[QaQQbQ QcQ]filters:{lang:QaQ}days:1}`, `{"tags": ["a", "b", "c"], "filters": {"lang": "a"}, "days": 1}`},
	{`tags:[QaQ}`, `{"tags": ["a"]}`},
	{`x:[{a:1],y:2}`, `{"x": [{"a": 1}], "y": 2}`},
	{`x:{a:[1},y:2}`, `{"x": {"a": [1]}, "y": 2}`},
	{`city:ParisQ,days:3}`, `{"city": "Paris", "days": 3}`},
	// junk
	{`garbage}`, `{}`},
	{`,, a,b:1,,c:2,}`, `{"b": 1, "c": 2}`},
	{`QaQ,b:1}`, `{"b": 1}`},
	{`QaQ = QbQ:1}`, `{"b": 1}`},
	{`junk QkeyQ:1}`, `{"key": 1}`},
	{`:1,{a:1}`, `{"a": 1}`},
	{`:a:2}`, `{"a": 2}`},
	{`,] a:2,]}`, `{"a": 2}`},
	{`x:[{a:1,],y:2}`, `{"x": [{"a": 1}], "y": 2}`},
	{`a:[,1,,2,],b:[],c:{},d:{,}}`, `{"a": [1, 2], "b": [], "c": {}, "d": {}}`},
	{`a:QxQ ] junk,b:] 1}`, `{"a": "x", "b": 1}`},
	// half delimiters
	{`city:Q<|"<|"|a<|QQQ:<|}`, `{"city": "<|\"<|\"|a<|", "": "<|"}`},
	{`<|a:<|b,<|c:1}`, `{"<|a": "<|b", "<|c": 1}`},
}

func written(text, delimiter string) string { return strings.ReplaceAll(text, "Q", delimiter) }

// TestRead reads every text whole, in both spellings of the delimiter and with both closing brackets.
func TestRead(t *testing.T) {
	var c Codec
	for _, test := range texts {
		for _, r := range []reading{{quote, '}', parameters, false}, {quote, '}', parameters, true}, {"<escape>", '}', parameters, false}} {
			text := written(test.text, r.delimiter)
			if r.tokens && strings.Contains(test.text, "<|") || r.delimiter != quote && strings.Contains(test.text, `"|`) {
				continue // half a delimiter means something else there
			}
			out, taken := r.read(t, &c, text)
			if got := string(c.Close(out)); got != test.want {
				t.Errorf("%s: %s, want %s", text, got, test.want)
			}
			if want := strings.LastIndex(text, "}") + 1; taken != want {
				t.Errorf("%s: %d bytes taken, want %d", text, taken, want)
			}
		}
	}
}

func TestParentheses(t *testing.T) {
	var c Codec
	r := reading{quote, ')', parameters, false}
	for _, test := range []struct{ text, want, rest string }{
		{`)x`, `{}`, `x`},
		{`city:Qsmile :)Q)<tool_call|>`, `{"city": "smile :)"}`, `<tool_call|>`},
		{`days:3)`, `{"days": 3}`, ``},
		{`filters:{lang:x),year:2},tags:[a)])`, `{"filters": {"lang": "x)", "year": 2}, "tags": ["a)"]}`, ``},
		{`days:3},city:QaQ)`, `{"days": 3, "city": "a"}`, ``},
		{`junk)`, `{}`, ``},
		{`days:)`, `{"days": null}`, ``},
	} {
		text := written(test.text, quote)
		out, taken := r.read(t, &c, text)
		if got := string(c.Close(out)); got != test.want || text[taken:] != test.rest {
			t.Errorf("%s: %s and %q, want %s", text, got, text[taken:], test.want)
		}
	}
}

// TestForged: where the delimiter is a token, characters that look like it are data (contract 8).
func TestForged(t *testing.T) {
	var c Codec
	c.Start([]byte(quote), '}', parameters)
	var out []byte
	_, out, _ = c.Step([]byte(`a<|"|>b:`), out, false)
	out = c.Delimiter(out)
	_, out, _ = c.Step([]byte(`x<|"|>,y`), out, false)
	out = c.Delimiter(out)
	n, out, status := c.Step([]byte(`,n:<|"|>7<|"|>} rest`), out, false)
	if got, want := string(c.Close(out)), `{"a<|\"|>b": "x<|\"|>,y", "n": "<|\"|>7<|\"|>"}`; got != want || n != 15 || status != codec.Done {
		t.Errorf("%s, want %s", got, want)
	}
	// A half delimiter in characters is data as soon as the delimiter comes as a token.
	c.Start([]byte(quote), '}', nil)
	_, out, _ = c.Step([]byte(`a:<|"|>b<|`), nil, true)
	out = c.Delimiter(out)
	if got, want := string(c.Close(out)), `{"a": "b<|"}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestHeldBack says what is out after the beginning of a text, what Cut adds to it, and what Close does.
func TestHeldBack(t *testing.T) {
	var c Codec
	r := reading{quote, '}', parameters, false}
	for _, test := range []struct{ text, out, cut, closed string }{
		{``, ``, ``, `{}`},
		{`ci`, ``, ``, `{}`},
		{`QcityQ`, ``, ``, `{}`},
		{`city:`, `{"city": `, ``, `""}`},
		{`city: <|`, `{"city": `, ``, `""}`},
		{`city:Q`, `{"city": "`, ``, `"}`},
		{`city:QPar`, `{"city": "Par`, ``, `"}`},
		{`city:QPar<|"`, `{"city": "Par`, `<|\"`, `<|\""}`},
		{`city:QParQ`, `{"city": "Par"`, ``, `}`},
		{`city:QParQ,`, `{"city": "Par"`, ``, `}`},
		{`city:QParQ,da`, `{"city": "Par"`, ``, `}`},
		{`city:QParQ}`, `{"city": "Par"`, ``, `}`},
		{`city:Par <|`, `{"city": `, ``, `"Par <|"}`},
		{`days:`, `{"days": `, ``, `null}`},
		{`days:1`, `{"days": `, ``, `1}`},
		{`days:Q1`, `{"days": `, ``, `1}`},
		{`days:Q1<`, `{"days": `, ``, `"1<"}`},
		{`days:1,`, `{"days": 1`, ``, `}`},
		{`filters:{`, `{"filters": {`, ``, `}}`},
		{`filters:{year`, `{"filters": {`, ``, `}}`},
		{`filters:{year:2`, `{"filters": {"year": `, ``, `2}}`},
		{`tags:[`, `{"tags": [`, ``, `]}`},
		{`tags:[Qa`, `{"tags": ["a`, ``, `"]}`},
		{`tags:[QaQ,`, `{"tags": ["a"`, ``, `]}`},
		{`tags:[QaQ,Q`, `{"tags": ["a", "`, ``, `"]}`},
		{`sizes:[1,2`, `{"sizes": [1`, ``, `, 2]}`},
		{`sizes:[1,Q2`, `{"sizes": [1`, ``, `, 2]}`},
		{`x:[{y:[{z:Qa`, `{"x": [{"y": [{"z": "a`, ``, `"}]}]}`},
	} {
		text := written(test.text, quote)
		out, _ := r.read(t, &c, text)
		if string(out) != test.out {
			t.Errorf("%s: %s is out, want %s", text, out, test.out)
		}
		if got := c.Cut(out); string(got) != test.out+test.cut {
			t.Errorf("%s cut: %s, want %s", text, got, test.out+test.cut)
		}
		out, _ = r.read(t, &c, text)
		if got := c.Close(out); string(got) != test.out+test.closed {
			t.Errorf("%s closed: %s, want %s", text, got, test.out+test.closed)
		}
	}
}

func TestInString(t *testing.T) {
	var c Codec
	r := reading{quote, '}', parameters, false}
	for text, want := range map[string]bool{``: false, `a`: false, `Qa`: true, `QaQ`: false, `a:`: false, `a:b`: false, `a:Qb`: true, `a:Qb<|`: true,
		`days:Qb`: true, `a:QbQ`: false, `a:[Qb`: true, `a:QbQ}`: false} {
		if r.read(t, &c, written(text, quote)); c.InString() != want {
			t.Errorf("%s: %v", text, c.InString())
		}
	}
}

// result is all that a reading of a text yields.
type result struct {
	out, cut, closed string
	taken            int
}

func (r reading) result(t testing.TB, c *Codec, text string, ends ...int) result {
	out, taken := r.read(t, c, text, ends...)
	cut := string(c.Cut(bytes.Clone(out)))
	out, _ = r.read(t, c, text, ends...)
	return result{string(out), cut, string(c.Close(out)), taken}
}

// examine checks all that holds for any text: every way to cut it into pieces gives the same, and each of its
// beginnings can be closed to a JSON object, cut to the beginning of one, and went out before the rest.
func (r reading) examine(t testing.TB, c *Codec, text string, random *rand.Rand) {
	whole := r.result(t, c, text)
	r.same(t, text, whole, r.result(t, c, text, everyByte(len(text))...), "byte by byte")
	for range 4 {
		var ends []int
		for at := 1; at < len(text); at += 1 + random.IntN(9) {
			ends = append(ends, at)
		}
		r.same(t, text, whole, r.result(t, c, text, ends...), fmt.Sprint("cut at ", ends))
	}
	for at := range len(text) {
		r.same(t, text, whole, r.result(t, c, text, at), fmt.Sprint("cut at ", at))
		part := r.result(t, c, text[:at])
		r.check(t, text[:at], part)
		if !strings.HasPrefix(whole.out, part.out) {
			t.Fatalf("%q: %q of %q is out too early", text, part.out, text[:at])
		}
	}
	r.check(t, text, whole)
}

func (r reading) same(t testing.TB, text string, whole, other result, how string) {
	t.Helper()
	if whole != other {
		t.Fatalf("%q %s: %+v\nwhole: %+v", text, how, other, whole)
	}
}

func (r reading) check(t testing.TB, text string, got result) {
	t.Helper()
	if !isJSON([]byte(got.closed)) || got.closed[0] != '{' {
		t.Fatalf("%q closed: %s", text, got.closed)
	}
	if got.cut != "" && !isBeginning([]byte(got.cut)) {
		t.Fatalf("%q cut: %s", text, got.cut)
	}
	if !strings.HasPrefix(got.closed, got.out) || !strings.HasPrefix(got.cut, got.out) {
		t.Fatalf("%q: %q, %q and %q do not go on from each other", text, got.out, got.cut, got.closed)
	}
}

func everyByte(length int) []int {
	ends := make([]int, length)
	for i := range ends {
		ends[i] = i
	}
	return ends
}

func TestEverySplit(t *testing.T) {
	var c Codec
	random := rand.New(rand.NewPCG(1, 2))
	for _, test := range texts {
		for _, delimiter := range []string{quote, "<escape>", "''", "aab", "<"} {
			for _, s := range []*schema.Schema{nil, parameters} {
				reading{delimiter, '}', s, false}.examine(t, &c, written(test.text, delimiter), random)
			}
		}
		reading{quote, ')', parameters, false}.examine(t, &c, written(strings.ReplaceAll(test.text, "}", ")"), quote), random)
	}
}

// TestTokens: with the delimiter as a token every split of the text around it gives the same too.
func TestTokens(t *testing.T) {
	var c Codec
	r := reading{quote, '}', parameters, true}
	for _, test := range texts {
		if strings.Contains(test.text, "<|") {
			continue
		}
		text := written(test.text, quote)
		whole := r.result(t, &c, text)
		for at := range len(text) {
			if strings.Contains(text[max(0, at-len(quote)+1):min(len(text), at+len(quote)-1)], quote) {
				continue // a token is not cut
			}
			r.same(t, text, whole, r.result(t, &c, text, at), fmt.Sprint("cut at ", at))
		}
		if typed := (reading{quote, '}', parameters, false}).result(t, &c, text); typed != whole {
			t.Errorf("%s: %v as characters, %v as tokens", text, typed, whole)
		}
	}
}

// TestDelimiters looks for delimiters that begin as they end in texts made of their characters.
func TestDelimiters(t *testing.T) {
	var c Codec
	random := rand.New(rand.NewPCG(7, 8))
	for _, delimiter := range []string{"a", "aa", "ab", "aab", "aba", "abab", "aabaa", "aabaaab"} {
		for range 300 {
			text := make([]byte, random.IntN(20))
			for i := range text {
				text[i] = "ab"[random.IntN(2)]
			}
			body := string(text) + delimiter
			want := `{"k": "` + body[:strings.Index(body, delimiter)] + `"`
			out, _ := (reading{delimiter, '}', nil, false}).read(t, &c, "k:"+delimiter+body, everyByte(len(body))...)
			if !strings.HasPrefix(string(out), want) {
				t.Fatalf("%q up to %q: %s, want %s", body, delimiter, out, want)
			}
		}
	}
}

// pieces are what random texts are made of.
var pieces = strings.Split(`Q|Q|Q|<|||"|>|{|}|[|]|(|)|,|:|:|city|days|tags|sizes|filters|lang|year|deep|n|limit|name|pair|a|b c|3|1.5|true|null|None| |\n|\t|é|🌧|\|"x"|[1]|{"a": 1}`, "|")

func randomText(random *rand.Rand) string {
	var text strings.Builder
	if random.IntN(2) == 0 {
		for range random.IntN(25) {
			text.WriteString(pieces[random.IntN(len(pieces))])
		}
		return text.String()
	}
	mutated := texts[random.IntN(len(texts))].text + texts[random.IntN(len(texts))].text
	for range 1 + random.IntN(3) {
		at := random.IntN(len(mutated) + 1)
		to := min(len(mutated), at+random.IntN(4))
		mutated = mutated[:at] + pieces[random.IntN(len(pieces))] + mutated[to:]
	}
	return strings.ToValidUTF8(mutated, "")
}

func TestRandom(t *testing.T) {
	var c Codec
	random := rand.New(rand.NewPCG(3, 4))
	rounds := 3000
	if testing.Short() {
		rounds = 300
	}
	for range rounds {
		r := reading{quote, "})"[random.IntN(2)], nil, false}
		if random.IntN(4) > 0 {
			r.schema = parameters
		}
		r.examine(t, &c, written(randomText(random), quote), random)
	}
}

func FuzzDelimited(f *testing.F) {
	for _, test := range texts {
		f.Add(written(test.text, quote), uint64(0))
		f.Add(written(test.text, "<escape>"), uint64(6))
	}
	f.Fuzz(func(t *testing.T, text string, choice uint64) {
		r := reading{quote, "})"[choice&1], parameters, false}
		if choice&2 != 0 {
			r.delimiter = "<escape>"
		}
		if choice&4 != 0 {
			r.schema = nil
		}
		if len(text) > 400 {
			text = text[:400]
		}
		var c Codec
		r.examine(t, &c, text, rand.New(rand.NewPCG(choice, 0)))
	})
}

// TestDeep nests to the bound and beyond it. The time must stay in proportion to the length.
func TestDeep(t *testing.T) {
	var c Codec
	r := reading{quote, '}', parameters, false}
	for _, opener := range []string{`[`, `{deep:`, `[{deep:`} {
		for _, levels := range []int{1_000, 10_000, 1_000_000} {
			start := time.Now()
			text := `deep:` + strings.Repeat(opener, levels)
			out, _ := r.read(t, &c, text)
			got := c.Close(out)
			if levels == 1_000 && !isJSON(got) {
				t.Errorf("%s × %d: no JSON", opener, levels)
			}
			if opened, closed := bytes.Count(got, []byte("[")), bytes.Count(got, []byte("]")); levels <= 10_000 && opened != closed {
				t.Errorf("%s × %d: %d opened, %d closed", opener, levels, opened, closed)
			}
			if taken := time.Since(start); taken > 3*time.Second {
				t.Errorf("%s × %d: %v", opener, levels, taken)
			}
		}
	}
	text := `a:` + strings.Repeat(`[`, mostLevels+10) + `x` + strings.Repeat(`]`, mostLevels+10) + `,b:1}`
	out, taken := r.read(t, &c, text)
	got := string(c.Close(out))
	if want := strings.Repeat(`[`, mostLevels-1) + `"` + strings.Repeat(`[`, 11) + `x"` + strings.Repeat(`]`, mostLevels-1) + `, "b": 1}`; taken != len(text) || got != `{"a": `+want {
		t.Errorf("beyond the bound: %d bytes, %d taken of %d", len(got), taken, len(text))
	}
}

func TestLongKey(t *testing.T) {
	var c Codec
	r := reading{quote, '}', parameters, false}
	for _, test := range []struct {
		text string
		kept bool
	}{
		{strings.Repeat("k", mostKey) + `:1,b:2}`, true},
		{strings.Repeat("k", mostKey+1) + `:1,b:2}`, false},
		{quote + strings.Repeat("k", mostKey) + quote + `:1,b:2}`, true},
		{quote + strings.Repeat("k", mostKey+1) + quote + `:1,b:2}`, false},
		{strings.Repeat("k", 100*mostKey) + `,b:2}`, false},
		{strings.Repeat("k", mostKey+1) + `:a:3,b:2}`, false},
	} {
		whole := r.result(t, &c, test.text)
		r.same(t, "a long key", whole, r.result(t, &c, test.text, everyByte(len(test.text))...), "byte by byte")
		if kept := whole.closed != `{"b": 2}`; kept != test.kept || !isJSON([]byte(whole.closed)) {
			t.Errorf("%d bytes: %.20s", len(test.text), whole.closed)
		}
		if cap(c.key) > 2*mostKey {
			t.Errorf("%d bytes are kept for a key", cap(c.key))
		}
	}
}

// TestLimit: the limit of a value that is held may be set.
func TestLimit(t *testing.T) {
	for text, want := range map[string]string{
		`sizes:[1,12345678,2],days:2}`:           `{"sizes": [1, 12345678, 2], "days": 2}`,
		`sizes:[1,123456789,2],days:2}`:          `{"sizes": [1, "123456789", 2], "days": 2}`,
		`sizes:[1,<|"|>123456789<|"|>],days:2}`:  `{"sizes": [1, "123456789"], "days": 2}`,
		`sizes:[1,<|"|>1234<|"|>],days:<|"|>2<|`: `{"sizes": [1, 1234], "days": "2<|"}`,
	} {
		c := Codec{Limit: 8}
		r := reading{quote, '}', parameters, false}
		out, _ := r.read(t, &c, text, 3, 0, 0)
		if got := string(c.Close(out)); got != want {
			t.Errorf("%s\n got  %s\n want %s", text, got, want)
		}
	}
}

// TestLongValue: a value that becomes too long to be held is a string.
func TestLongValue(t *testing.T) {
	var c Codec
	for _, delimiter := range []string{"", quote} {
		for _, excess := range []int{0, 1, 1000} {
			digits := strings.Repeat("7", DefaultLimit+excess)
			text := `sizes:[1,` + delimiter + digits + delimiter + `],days:2}`
			want := digits
			if excess > 0 {
				want = `"` + digits + `"`
			}
			r := reading{quote, '}', parameters, false}
			out, _ := r.read(t, &c, text, 5000, DefaultLimit, DefaultLimit+20)
			if got := string(c.Close(out)); got != `{"sizes": [1, `+want+`], "days": 2}` {
				t.Errorf("%q and %d more: %.40s…%s", delimiter, excess, got, got[len(got)-40:])
			}
			part := r.result(t, &c, strings.TrimSuffix(text, delimiter+`],days:2}`)+"<|")
			if r.check(t, "a long value", part); excess > 0 && !strings.HasSuffix(part.cut, "7<|") {
				t.Errorf("%q and %d more: half a delimiter is lost at the cut", delimiter, excess)
			}
		}
	}
}

// TestHostile feeds texts that are hard on an automaton that looks back, in small pieces and, with strings between the
// quotes of JSON, in one.
func TestHostile(t *testing.T) {
	for _, piece := range []string{"<", `<|"|`, `<|"|>`, "{", "[", "}", "]", ",", ":", " ", "a", "a:", "a:[", `a:{b:<|"|>x`, "[]", "a:,", `<|"|>a<|"|>:`} {
		hostile(t, piece, 64, false)
		hostile(t, piece, 1<<20, true)
	}
	hostile(t, `"`, 1<<20, true)
}

func hostile(t *testing.T, piece string, cut int, quotes bool) {
	t.Helper()
	c := Codec{Quotes: quotes}
	var taken [2]time.Duration
	for i, size := range []int{50_000, 400_000} {
		text := []byte(`x:[` + strings.Repeat(piece, size/len(piece)))
		best := time.Hour
		for range 3 {
			start := time.Now()
			c.Start([]byte(quote), '}', parameters)
			var out []byte
			for at := 0; at < len(text); at += cut {
				_, out, _ = c.Step(text[at:min(len(text), at+cut)], out, true)
			}
			c.Close(out)
			best = min(best, time.Since(start))
		}
		taken[i] = best
	}
	if taken[1] > 50*taken[0] && taken[1] > 50*time.Millisecond {
		t.Errorf("%q in pieces of %d: %v, and %v for 8 times the text", piece, cut, taken[0], taken[1])
	}
}

// TestAllocations measures a long stream by what it allocates in all: testing.AllocsPerRun rounds down.
func TestAllocations(t *testing.T) {
	var c Codec
	long := []byte(`city:<|"|>` + strings.Repeat(`some "text" with <| in it `, 4000) + `<|"|>,`)
	mixed := []byte(strings.Repeat(`city:<|"|>a "b" c<|"|>,days:3,filters:{lang:<|"|>en<|"|>,year:2024},tags:[<|"|>a<|"|>,b],limit:<|"|>4<|"|>,`, 1000))
	for name, text := range map[string][]byte{"a long string": long, "many values": mixed} {
		out := make([]byte, 0, 1<<20)
		for round := range 2 {
			c.Start([]byte(quote), '}', parameters)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for at := 0; at < len(text); at += 4 {
				_, out, _ = c.Step(text[at:min(len(text), at+4)], out[:0], true)
			}
			runtime.ReadMemStats(&after)
			if count := after.Mallocs - before.Mallocs; round > 0 && count > 20 {
				t.Errorf("%s: %d allocations in %d pieces", name, count, len(text)/4)
			}
		}
	}
}

func BenchmarkString(b *testing.B) {
	text := []byte(`city:<|"|>` + strings.Repeat(`some "text" of a <b>page</b>`+"\n", 200_000/29) + `<|"|>}`)
	for _, size := range []int{4, 64, len(text)} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			var c Codec
			out := make([]byte, 0, 2*len(text))
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				c.Start([]byte(quote), '}', parameters)
				for at := 0; at < len(text); at += size {
					_, out, _ = c.Step(text[at:min(len(text), at+size)], out[:0], true)
				}
				out = c.Close(out)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64((len(text)+size-1)/size), "ns/piece")
		})
	}
}
