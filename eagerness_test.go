package parlance

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// certain flattens deltas into the smallest things that can become certain one after the other: characters of a tray,
// a call with its name, characters of arguments, the end of a call.
func certain(out []string, deltas []Delta) []string {
	for _, d := range deltas {
		switch d.Kind {
		case ToolCall:
			out = append(out, "call "+d.Name)
		case ToolCallEnd:
			out = append(out, fmt.Sprint("end ", d.Malformed, d.Cut))
		default:
			for _, b := range d.Text {
				out = append(out, fmt.Sprintf("%d%c", d.Kind, b))
			}
		}
	}
	return out
}

// continuation is a way an output may go on.
type continuation struct {
	text   string
	reason FinishReason
}

// continuations are ways in which the text may go on: what the sample says, ends, characters that mean something
// somewhere, markers and what is missing of one, and what other samples say behind the same last characters.
func continuations(random *rand.Rand, s sample, others []sample, at int) []continuation {
	out := []continuation{{s.text[at:], s.reason}, {"", FinishStop}, {"", FinishLength}, {" ", FinishStop}}
	for _, c := range []string{"x", "\x01", " x", "\nx", "1", "{", "}", "[", "]", "\"", ",", ":", "(", ")", "<", ">", "'", "=", "\\", "|", "&", "é", "ull", "rue", "alse", "(a=1)]", "a=1)", "=1)", "1)", ")]", "\"}", "\"}}", "}}", "{}", ": {}}", "\": {}}", "\n", "\"name\": \"f\", \"arguments\": {}}", "\"name\": \"f\", \"parameters\": {}}"} {
		out = append(out, continuation{c, FinishStop}, continuation{c + "~", FinishStop})
	}
	before := s.text[:at]
	for _, marker := range s.parser.markersFor(&s.request) {
		out = append(out, continuation{marker, FinishStop}, continuation{marker + "~", FinishStop}, continuation{marker + "{", FinishStop})
		if strings.HasSuffix(before, marker) { // what stands behind it elsewhere in the sample
			for rest := s.text; ; {
				_, after, more := strings.Cut(rest, marker)
				if !more {
					break
				}
				out, rest = append(out, continuation{after, FinishStop}), after
			}
		}
		for k := 1; k < len(marker); k++ {
			if strings.HasSuffix(before, marker[:k]) {
				out = append(out, continuation{marker[k:], FinishStop}, continuation{marker[k:] + "~", FinishStop})
				for _, other := range others {
					parts := strings.Split(other.text, marker)
					for n := range min(len(parts)-1, 4) {
						out = append(out, continuation{marker[k:] + strings.Join(parts[1+n:], marker), FinishStop})
					}
				}
			}
		}
	}
	for _, i := range random.Perm(len(others))[:min(len(others), 150)] {
		other := others[i].text
		for k := min(len(before), 12); k > 0; k-- {
			if found := strings.Index(other, before[len(before)-k:]); found >= 0 {
				out = append(out, continuation{other[found+k:], FinishStop})
				break
			}
		}
	}
	return out
}

// TestNothingWaitsWithoutNeed: whatever is the same however the output goes on has been given out, and nothing else has
// (contract 3).
func TestNothingWaitsWithoutNeed(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	groups := byFormat(corpus())
	for _, s := range corpus() {
		for range rounds() {
			if len(s.text) == 0 {
				continue
			}
			at := 1 + random.Intn(len(s.text))
			for at < len(s.text) && !utf8.RuneStart(s.text[at]) {
				at++
			}
			eager(t, s, groups[s.parser.halves()[0].Format], at, random)
		}
	}
}

func eager(t *testing.T, s sample, others []sample, at int, random *rand.Rand) {
	t.Helper()
	before := s.text[:at]
	stream := s.parser.Stream(s.request)
	given := certain(nil, stream.Write([]byte(before)))
	var common []string
	var first continuation
	for k, c := range continuations(random, s, others, at) {
		stream := s.parser.Stream(s.request)
		all := certain(nil, stream.Write([]byte(before)))
		all = certain(all, stream.Write([]byte(c.text)))
		all = certain(all, stream.Close(c.reason))
		if len(all) < len(given) || !slices.Equal(all[:len(given)], given) {
			t.Fatalf("%s: %q\n taken back: %q\n given %q\n then  %q", s.id, before, c.text, given, all)
		}
		if k == 0 {
			common, first = all, c
			continue
		}
		n := 0
		for n < len(common) && n < len(all) && common[n] == all[n] {
			n++
		}
		common = common[:n]
	}
	if waits := common[min(len(given), len(common)):]; len(waits) == 1 && strings.HasPrefix(waits[0], "call ") && halfMarker(before, s) {
		return // several markers could follow, each of which shows that it is a call: it waits for the end of that one
	}
	if len(common) > len(given) && !shorterMarker(before, s) {
		t.Errorf("%s: tool %q reasoning %q\n text %q | %q\n always follows, and is not out yet: %q", s.id, s.parser.tool, s.parser.reasoning, before, first.text, common[len(given):])
	}
}

// shorterMarker tells whether a text ends in the middle of a marker that begins with another one: what the shorter one
// would mean is looked at when the longer one has not come.
func shorterMarker(text string, s sample) bool {
	markers := s.parser.markersFor(&s.request)
	for _, marker := range markers {
		for k := 2; k < len(marker); k++ {
			if !strings.HasSuffix(text, marker[:k]) {
				continue
			}
			for _, other := range markers {
				if len(other) < k && strings.HasPrefix(marker, other) {
					return true
				}
			}
		}
	}
	return false
}

// halfMarker tells whether a text ends in the middle of a marker.
func halfMarker(text string, s sample) bool {
	for _, marker := range s.parser.markersFor(&s.request) {
		for k := 1; k < len(marker); k++ {
			if strings.HasSuffix(text, marker[:k]) {
				return true
			}
		}
	}
	return false
}
