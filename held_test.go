package parlance

import "testing"

// TestHeldIsWhatIsHeld: what has been given out is not counted as held.
func TestHeldIsWhatIsHeld(t *testing.T) {
	for _, s := range corpus() {
		request := s.request
		request.Trace = true
		stream := s.parser.Stream(request)
		for i := range len(s.text) {
			stream.WriteString(s.text[i : i+1])
			given := 0
			for _, span := range stream.Trace() {
				switch span.Became {
				case "content", "reasoning", "arguments":
					given += span.End - span.Start
				}
			}
			if held := stream.Held(); held > i+1-given {
				t.Fatalf("%s: behind %q %d bytes are held, and all but %d have been given out", s.id, s.text[:i+1], held, i+1-given)
			}
		}
	}
}
