package responses

import (
	"encoding/json/v2"
	"strings"
	"testing"
)

// However the arguments of a custom tool's call are cut, the deltas add up to the text that they hold.
func TestInputInPieces(t *testing.T) {
	for _, text := range []string{"", "plain", "a \"quoted\" \\ line\n\ttab", "é 😀 \u2028", "ends with \\", "*** Begin Patch\n-a\n+b\n*** End Patch"} {
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		escaped := strings.NewReplacer("😀", `\ud83d\ude00`, "é", `\u00e9`).Replace(string(quoted))
		for _, arguments := range []string{`{"input":` + string(quoted) + `}`, "{ \"input\" :\n" + escaped + "\n}"} {
			for first := range len(arguments) + 1 {
				for second := first; second <= len(arguments); second++ {
					var d inputDecoder
					got := d.write(arguments[:first]) + d.write(arguments[first:second]) + d.write(arguments[second:])
					if got != text {
						t.Fatalf("%s cut at %d and %d: got %q, want %q", arguments, first, second, got, text)
					}
				}
			}
		}
	}
}

// Arguments that are no object with a text in input are the model's own text, and none of it is lost.
func TestInputThatIsNone(t *testing.T) {
	for _, arguments := range []string{"*** Begin Patch", `{"patch":"a"}`, `["input"]`, `{"input":1}`} {
		for cut := range len(arguments) + 1 {
			var d inputDecoder
			if got := d.write(arguments[:cut]) + d.write(arguments[cut:]); got != arguments {
				t.Errorf("%s cut at %d: got %q", arguments, cut, got)
			}
		}
	}
}
