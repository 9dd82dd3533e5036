package roundtrip

import (
	"slices"
	"testing"

	"github.com/parlance-llm/parlance"
)

// TestSituations holds the parser of every format to the standard situations, whole and byte by byte, and to what the
// rulings say of each cut.
func TestSituations(t *testing.T) {
	trips, err := Trips()
	if err != nil {
		t.Fatal(err)
	}
	tools := NewGenerator(1, nil).Tools
	for _, trip := range trips {
		t.Run(trip.Format, func(t *testing.T) {
			t.Parallel()
			situations, refused, err := trip.Situations(tools)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d situations; cannot carry %q", len(situations), refused)
			parser, request := trip.Renderer.Parser(), trip.Request(tools)
			for _, s := range situations {
				for way, got := range map[string]*parlance.Message{
					"whole":        parser.Parse(s.Text, request, parlance.FinishStop),
					"byte by byte": Stream(parser, request, s.Text, parlance.FinishStop, func() int { return 1 }),
				} {
					if s.CallsOnly {
						got = &parlance.Message{Calls: got.Calls}
					}
					if difference := trip.Difference(s.Want, got); difference != "" {
						t.Errorf("%s, %s: %s\n  text %q", s.Name, way, difference, s.Text)
					}
				}
				if s.Parts == nil {
					continue
				}
				full := parser.Parse(s.Text, request, parlance.FinishStop)
				step := 1
				if testing.Short() {
					step = 5
				}
				for at := 0; at < len(s.Text); at += step {
					text := s.Text[:at]
					whole := parser.Parse(text, request, parlance.FinishLength)
					if difference := trip.CutDifference(&s, full, at, whole); difference != "" {
						t.Errorf("%s, cut at byte %d: %s\n  text %q", s.Name, at, difference, text)
						break
					}
					stream := Stream(parser, request, text, parlance.FinishLength, func() int { return 1 })
					if stream.Reasoning != whole.Reasoning || stream.Content != whole.Content || !slices.Equal(stream.Calls, whole.Calls) {
						t.Errorf("%s, cut at byte %d: whole %+v, byte by byte %+v\n  text %q", s.Name, at, whole, stream, text)
						break
					}
				}
			}
		})
	}
}
