package parlance

import (
	"reflect"
	"testing"
)

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

// TestClosedStreams: wherever a stream is closed, and why, nothing is held any more, and what is written then is not read.
func TestClosedStreams(t *testing.T) {
	for _, s := range corpus() {
		for k := 0; k <= len(s.text); k += 1 + len(s.text)/8 {
			for _, reason := range []FinishReason{FinishStop, FinishLength, ""} {
				request := s.request
				request.Trace = true
				stream := s.parser.Stream(request)
				stream.WriteString(s.text[:k])
				stream.Close(reason)
				held, trace := stream.Held(), stream.Trace()
				more := append(append(stream.WriteString(s.text[k:]+"x"), stream.WriteTokens(Token{Text: "x"})...), stream.Close(FinishStop)...)
				if held != 0 || len(more) > 0 || !reflect.DeepEqual(stream.Trace(), trace) {
					t.Errorf("%s, closed behind %q: %d bytes are held, then came %v", s.id, s.text[:k], held, more)
				}
			}
		}
	}
}
