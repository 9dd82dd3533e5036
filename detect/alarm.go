package detect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/internal/match"
)

// AlarmKind says what is wrong.
type AlarmKind string

// The kinds of alarm.
const (
	// OtherFormat: the answer holds whole calls of a format that the chosen parser does not read.
	OtherFormat AlarmKind = "other_format"
	// OtherThought: the content holds a thought with its markers, which the chosen parser does not take out.
	OtherThought AlarmKind = "other_thought"
	// NeverOpened: the model closed a thought that it never opened.
	NeverOpened AlarmKind = "thought_never_opened"
	// CallInThought: a call stands in a thought that was not closed before it.
	CallInThought AlarmKind = "call_in_thought"
	// ToolsNotShown: the request has tools, and the prompt does not name them.
	ToolsNotShown AlarmKind = "tools_not_shown"
)

// Alarm is a mismatch between the model and the parsers that were chosen for it.
type Alarm struct {
	Kind AlarmKind `json:"kind"`
	// Format is the likely format, under the parser names ToolName and ReasoningName, as far as the alarm is about one.
	Format        string `json:"format,omitzero"`
	ToolName      string `json:"tool_parser,omitzero"`
	ReasoningName string `json:"reasoning_parser,omitzero"`
	// Like are other parser names that explain the answer just as well.
	Like []string `json:"like,omitzero"`
	// Says is the alarm in one line for people, with the flags that would put it right.
	Says string `json:"says"`
}

const (
	// mostKept is how much of an answer is kept for a closer look once something is found, leastKept what is kept of an
	// answer before that; bytes.
	mostKept  = 64 << 10
	leastKept = 4 << 10
	// keptAnyway is how much of an answer is kept whatever comes, so that it is not moved for every piece.
	keptAnyway = 4 * leastKept
)

// Watch looks on while a parser sorts an answer, and raises alarms at its end. It belongs to one goroutine. What it does
// with a piece is one pass over the text of the trays until it has found something; the closer look comes at the end,
// and only if something was found.
type Watch struct {
	detector *Detector
	tool     string // the chosen parsers
	reason   string
	markers  *index
	first    *[256]bool     // the characters that begin a marker
	places   [2]match.Place // by tray
	plain    [2]bool        // by tray: it has begun, and no marker has
	found    [2]what
	bare     bool // the content began like a call without a marker
	begun    bool
	raw      []byte
	whole    bool // raw holds the answer from its beginning
	calls    int
	broken   int
	thinking bool // the answer begins in a thought
	reasoned bool
	last     parlance.Kind // the tray of the last delta
	own      []string      // the thought markers of the chosen reasoning parser
	strange  bool          // a marker of other thoughts stands in the content
	declared []string      // the tools of the request
	declares bool          // they are known
}

// Declare tells which tools the request has; none is a request that wants no calls. A call of none of them is then no call
// that anybody waits for: an answer in JSON, say, or one that quotes a call. Without it every call counts.
func (w *Watch) Declare(tools ...string) { w.declared, w.declares = tools, true }

// meant tells whether a guess found a call of a tool that is declared. A format may write more than the name.
func (w *Watch) meant(g Guess) bool {
	return !w.declares || slices.ContainsFunc(w.declared, func(tool string) bool {
		return slices.ContainsFunc(g.names, func(name string) bool { return strings.Contains(name, tool) })
	})
}

// NewWatch makes a watch for one answer that the parser reads; nil is no parser, which leaves all of it content. start is
// where the prompt left the thought.
func NewWatch(parser *parlance.Parser, start parlance.PromptState) *Watch {
	return standard().NewWatch(parser, start)
}

// NewWatch is as the function of the package.
func (d *Detector) NewWatch(parser *parlance.Parser, start parlance.PromptState) *Watch {
	w := &Watch{detector: d, markers: d.markers, whole: true, thinking: start.Inside}
	w.first = &w.markers.table.First
	if parser != nil {
		w.tool, w.reason = parser.ToolName(), parser.ReasoningName()
	}
	for _, f := range d.families {
		if slices.Contains(f.ReasoningNames, w.reason) {
			w.own = append(w.own, f.thoughts...)
		}
	}
	return w
}

// Write takes a piece as the engine gave it, and the deltas that the parser made of it.
func (w *Watch) Write(piece []byte, deltas []parlance.Delta) {
	if n := len(w.raw); n+len(piece) <= min(cap(w.raw), keptAnyway) {
		w.raw = w.raw[:n+len(piece)]
		copy(w.raw[n:], piece)
	} else {
		w.keep(piece)
	}
	for i := range deltas {
		d := &deltas[i]
		w.last = d.Kind
		if d.Kind > parlance.Reasoning || !w.plain[d.Kind] || begins(w.first, d.Text) {
			w.look(d)
		}
	}
}

// look looks at a delta that may be more than the text that most are.
func (w *Watch) look(d *parlance.Delta) {
	switch d.Kind {
	case parlance.Content:
		if !w.begun {
			w.begin(d.Text)
		}
		w.scan(parlance.Content, d.Text)
		w.plain[parlance.Content] = w.begun && w.places[parlance.Content] == 0
	case parlance.Reasoning:
		w.reasoned = true
		w.scan(parlance.Reasoning, d.Text)
		w.plain[parlance.Reasoning] = w.places[parlance.Reasoning] == 0
	case parlance.ToolCallEnd:
		if d.Malformed {
			w.broken++
		} else {
			w.calls++
		}
	}
}

// begin looks at the first character of the content: calls without a marker begin with a bracket, a brace or a fence.
func (w *Watch) begin(text []byte) {
	for _, b := range text {
		switch b {
		case ' ', '\n', '\t', '\r':
			continue
		case '{', '[', '`', '<':
			w.bare = true
		}
		w.begun = true
		return
	}
}

// scan looks for markers in the text of a tray until it has found both kinds.
func (w *Watch) scan(tray parlance.Kind, text []byte) {
	for len(text) > 0 && w.found[tray] != ofCall|ofThought {
		to, read, found, _ := w.markers.table.Find(w.places[tray], text)
		w.places[tray], text = to, text[read:]
		if found != match.None {
			kind := w.markers.kinds[found]
			w.found[tray] |= kind
			if kind&ofThought != 0 && tray == parlance.Content && !w.isOwn(w.markers.texts[found]) {
				w.strange = true
			}
			w.places[tray] = 0
		}
	}
}

// begins tells whether any character of a text could begin a marker.
func begins(first *[256]bool, text []byte) bool {
	for _, b := range text {
		if first[b] {
			return true
		}
	}
	return false
}

// isOwn tells whether a marker, or one that begins with it, is among the chosen reasoning parser's.
func (w *Watch) isOwn(marker string) bool {
	return slices.ContainsFunc(w.own, func(own string) bool { return strings.HasPrefix(own, marker) })
}

// keep keeps the answer for the closer look: all of it up to a limit if something was found early, else the last part.
func (w *Watch) keep(piece []byte) {
	if len(w.raw)+len(piece) <= keptAnyway {
		w.raw = append(w.raw, piece...)
		return
	}
	suspicious := w.bare || w.broken > 0 || w.found[0]|w.found[1] != 0
	if room := mostKept - len(w.raw); len(piece) > room {
		if suspicious {
			piece = piece[:max(room, 0)]
		} else {
			piece = piece[max(len(piece)-leastKept, 0):]
		}
	}
	if !suspicious && len(w.raw) >= keptAnyway {
		w.raw = append(w.raw[:0], w.raw[len(w.raw)-leastKept:]...)
		w.whole = false
	}
	w.raw = append(w.raw, piece...)
}

// Close takes the last deltas and answers the alarms.
func (w *Watch) Close(deltas []parlance.Delta) (alarms []Alarm) {
	w.Write(nil, deltas)
	if alarm, ok := w.neverOpened(); ok {
		alarms = append(alarms, alarm)
	}
	seen := w.found[parlance.Content]
	if w.last == parlance.Reasoning {
		seen |= w.found[parlance.Reasoning] // a thought that was not closed; in one that was, markup is quoted
	}
	if !w.bare && w.broken == 0 && seen == 0 {
		return alarms
	}
	text := string(w.raw)
	r := w.detector.Samples(text)
	r.Tools = slices.DeleteFunc(r.Tools, func(g Guess) bool { return !w.meant(g) })
	if alarm, ok := w.otherFormat(r); ok {
		alarms = append(alarms, alarm)
	}
	if plain := withoutCode(text); w.strange && plain != text {
		r = w.detector.Samples(plain)
	}
	if alarm, ok := w.otherThought(r); ok {
		alarms = append(alarms, alarm)
	}
	return alarms
}

// otherFormat compares the calls that were read with those that another format would have found.
func (w *Watch) otherFormat(r Result) (Alarm, bool) {
	if len(r.Tools) == 0 {
		return Alarm{}, false
	}
	best := r.Tools[0]
	if !best.whole || int(best.rank[0]) < w.calls {
		return Alarm{}, false
	}
	for _, g := range r.Tools {
		if slices.Contains(g.family.ToolNames, w.tool) && slices.Compare(g.rank[:2], best.rank[:2]) >= 0 {
			if w.calls == 0 {
				return w.inThought(g)
			}
			return Alarm{}, false
		}
	}
	a := Alarm{Kind: OtherFormat, Format: best.Format, ToolName: best.Name, Like: best.Like}
	reasoning := w.reason
	if own := best.family.ReasoningNames; len(own) > 0 && !slices.Contains(own, reasoning) {
		a.ReasoningName = own[0]
	}
	chosen := "no tool parser is chosen"
	if name := w.tool; name != "" {
		chosen = fmt.Sprintf("the tool parser %s does not read them", name)
	}
	a.Says = fmt.Sprintf("the answer holds calls in the format %s, and %s: --tool-call-parser %s", best.Format, chosen, best.Name)
	if a.ReasoningName != "" {
		a.Says += " --reasoning-parser " + a.ReasoningName
	}
	if len(best.Like) > 0 {
		a.Says += " (or " + strings.Join(best.Like, ", ") + ")"
	}
	return a, true
}

// inThought is the alarm where the chosen format's own calls were left lying in a thought.
func (w *Watch) inThought(g Guess) (Alarm, bool) {
	if w.last != parlance.Reasoning || w.found[parlance.Reasoning]&ofCall == 0 {
		return Alarm{}, false
	}
	return Alarm{Kind: CallInThought, Format: g.Format,
		Says: "a call stands in a thought that was not closed before it, and is part of the reasoning"}, true
}

// neverOpened looks for the end of a thought without its beginning.
func (w *Watch) neverOpened() (Alarm, bool) {
	if w.reason == "" || w.thinking || w.reasoned || !w.whole {
		return Alarm{}, false
	}
	text := withoutCode(string(w.raw))
	for _, f := range w.detector.families {
		if !slices.Contains(f.ReasoningNames, w.reason) {
			continue
		}
		for _, opener := range f.ThoughtOpeners {
			if strings.Contains(text, opener) {
				return Alarm{}, false
			}
		}
		for _, marker := range f.thoughts {
			before, _, found := strings.Cut(text, marker)
			if !slices.Contains(f.ThoughtOpeners, marker) && found && strings.TrimSpace(before) != "" && w.markers.count(before) == 0 {
				return Alarm{Kind: NeverOpened, Format: f.Name, Says: fmt.Sprintf(
					"the model closed a thought (%s) that it never opened, and nothing in the prompt opened it: what stands before it is content", marker)}, true
			}
		}
	}
	return Alarm{}, false
}

// otherThought looks for thoughts that stay in the content.
func (w *Watch) otherThought(r Result) (Alarm, bool) {
	if !w.strange {
		return Alarm{}, false
	}
	if len(r.Reasoning) == 0 {
		return Alarm{}, false
	}
	best := r.Reasoning[0]
	for _, g := range r.Reasoning {
		if slices.Equal(g.rank, best.rank) && g.Name == w.reason {
			return Alarm{}, false
		}
	}
	a := Alarm{Kind: OtherThought, Format: best.Format, ReasoningName: best.Name, Like: best.Like}
	chosen := "no reasoning parser is chosen"
	if name := w.reason; name != "" {
		chosen = fmt.Sprintf("the reasoning parser %s does not take it out", name)
	}
	a.Says = fmt.Sprintf("the content holds a thought in the format %s, and %s: --reasoning-parser %s", best.Format, chosen, best.Name)
	return a, true
}
