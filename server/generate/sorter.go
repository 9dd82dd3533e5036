package generate

import (
	"slices"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/detect"
)

// sorter turns the text of one choice into deltas, by what the request wants of calls and reasoning.
type sorter struct {
	stream  *parlance.Stream // nil: there is no parser, and all is content
	aligner *aligner         // nil: markers are known by their text
	request *Request
	newID   func(name string, number int) string
	// known are the names of the declared tools; flagged hears of calls that are none of them, or not the one named.
	known   []string
	flagged func(why string)
	// watch looks on for what the parser should have read and did not; alarmed hears of it. nil: nobody looks.
	watch   *detect.Watch
	alarmed func(detect.Alarm)

	calls     int // calls that are passed on
	cut       bool
	bytes     int // of the text
	reasoning int // bytes that became reasoning
	out       []Delta
}

func newSorter(r *Request, reading parlance.Request) *sorter {
	s := &sorter{request: r, known: reading.Tools.Names(), newID: r.NewCallID, flagged: func(string) {}}
	if parser := r.Model.Parser; parser != nil {
		s.stream = parser.Stream(reading)
	}
	return s
}

func (s *sorter) write(text string) []Delta {
	s.bytes += len(text)
	s.out = nil
	if s.stream == nil {
		if text == "" {
			return s.out
		}
		s.look(text, []parlance.Delta{{Kind: parlance.Content, Text: []byte(text)}})
		s.out = append(s.out, Delta{Kind: parlance.Content, Text: text})
		return s.out
	}
	deltas := s.stream.WriteString(text)
	s.look(text, deltas)
	return s.take(deltas)
}

// byTokens knows markers by their token ids from now on. Nothing must have been written.
func (s *sorter) byTokens(reading parlance.Request) {
	parser := s.request.Model.Parser
	s.stream, s.aligner = parser.TokenStream(reading), &aligner{words: parser.Vocabulary()}
}

// writeTokens takes text and the ids of tokens, which need not be of the same text.
func (s *sorter) writeTokens(text string, ids []int) []Delta {
	s.bytes += len(text)
	s.out = nil
	s.aligner.write(text, ids, s.ordinary, func(token parlance.Token) {
		deltas := s.stream.WriteTokens(token)
		s.look(token.Text, deltas)
		s.take(deltas)
	})
	return s.out
}

// ordinary takes text that holds no special token.
func (s *sorter) ordinary(text string) {
	deltas := s.stream.WriteString(text)
	s.look(text, deltas)
	s.take(deltas)
}

// look shows a piece, and what became of it, to the watch.
func (s *sorter) look(text string, deltas []parlance.Delta) {
	if s.watch != nil {
		s.watch.Write([]byte(text), deltas)
	}
}

// finish ends the text for a reason, and fills in what is known of the calls then.
//
// An answer that a stop string ended was cut off there as at a limit (W41), unless the stop string is markup of the format:
// then the model was about to go on with markup, and only closers are missing.
func (s *sorter) finish(f *Finish) (deltas []Delta) {
	s.out = nil
	var last []parlance.Delta
	if s.stream != nil {
		reason := parlance.FinishStop
		if f.Incomplete() || f.StopString != "" && !s.request.Model.isMarker(f.StopString) {
			reason = parlance.FinishLength
		}
		if s.aligner != nil {
			s.aligner.finish(s.ordinary)
		}
		last = s.stream.Close(reason)
	}
	if s.watch != nil {
		for _, alarm := range s.watch.Close(last) {
			s.alarmed(alarm)
		}
	}
	deltas = s.take(last)
	f.Calls, f.Cut = s.calls, s.cut
	return deltas
}

func (s *sorter) take(deltas []parlance.Delta) []Delta {
	for i := range deltas {
		d := &deltas[i]
		if d.Kind == parlance.Reasoning {
			s.reasoning += len(d.Text)
			if !s.request.IncludeReasoning {
				continue
			}
		}
		switch d.Kind {
		case parlance.Content, parlance.Reasoning:
			s.text(d.Kind, string(d.Text), 0)
			continue
		case parlance.ToolCall:
			s.flag(d.Name)
		}
		if d.Call > 0 && !s.request.Parallel {
			continue
		}
		switch d.Kind {
		case parlance.ToolCall:
			id := d.ID
			if id == "" {
				id = s.newID(d.Name, d.Call)
			}
			s.calls++
			s.cut = false
			s.out = append(s.out, Delta{Kind: d.Kind, Call: d.Call, Name: d.Name, ID: id})
		case parlance.Arguments:
			s.text(d.Kind, string(d.Text), d.Call)
		case parlance.ToolCallEnd:
			s.cut = d.Cut
			s.out = append(s.out, Delta{Kind: d.Kind, Call: d.Call, Malformed: d.Malformed, Cut: d.Cut})
		}
	}
	return s.out
}

// text adds text, to the delta before if that is of the same kind.
func (s *sorter) text(kind parlance.Kind, text string, call int) {
	if text == "" {
		return
	}
	if n := len(s.out); n > 0 && s.out[n-1].Kind == kind && s.out[n-1].Call == call {
		s.out[n-1].Text += text
		return
	}
	s.out = append(s.out, Delta{Kind: kind, Text: text, Call: call})
}

// flag notes a call of a function that was not declared, or is not the one that was named.
func (s *sorter) flag(name string) {
	switch choice := s.request.ToolChoice; {
	case choice.Mode == ToolChoiceFunction && name != choice.Name:
		s.flagged("not_named")
	case !slices.Contains(s.known, name):
		s.flagged("undeclared")
	}
}
