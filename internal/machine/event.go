package machine

import (
	"unsafe"

	"github.com/parlance-llm/parlance/internal/program"
)

// EventKind tells events apart.
type EventKind uint8

// The kinds of event.
const (
	// EventText: more text of a tray.
	EventText EventKind = iota
	// EventCall: a call begins; its name is complete.
	EventCall
	// EventArguments: more of the argument text of the last call.
	EventArguments
	// EventCallEnd: the last call is over.
	EventCallEnd
)

// Event is one thing that has become certain. Data is valid until the next call of a method of the Machine.
type Event struct {
	Kind EventKind
	Tray program.Tray
	// Malformed and Cut are given with EventCallEnd: the arguments could not be read; the output was cut off in them.
	Malformed, Cut bool
	// Call is the number of the call, from 0.
	Call int
	Data []byte
	// Begun is given with EventCall. It is apart because events are many, and few of them begin a call.
	Begun *Begun
}

// Begun is a call that begins: its name, and its id, "" where the model wrote none.
type Begun struct{ Name, ID string }

type memory uint8

const (
	memoryChunk  memory = iota // part of the piece that is being read
	memoryStatic               // never changes
	memoryReused               // changes before the caller has seen it
)

// emit gives out text of a tray.
func (m *Machine) emit(tray program.Tray, text []byte, kind memory) {
	if m.silent || len(text) == 0 {
		return
	}
	if kind == memoryReused {
		text = m.copy(text)
	}
	if n := len(m.events); n > 0 {
		if last := &m.events[n-1]; last.Kind == EventText && last.Tray == tray && adjacent(last.Data, text) {
			last.Data = unsafe.Slice(unsafe.SliceData(last.Data), len(last.Data)+len(text))
			return
		}
	}
	m.event(EventText, tray, 0, text)
}

// event adds an event. The members are written where they will be: a value that is made first and then moved costs
// several times as much.
func (m *Machine) event(kind EventKind, tray program.Tray, call int, data []byte) {
	n := len(m.events)
	if n == cap(m.events) {
		m.events = append(m.events, Event{})
	} else {
		m.events = m.events[:n+1]
	}
	e := &m.events[n]
	e.Kind, e.Tray, e.Malformed, e.Cut = kind, tray, false, false
	e.Call, e.Data, e.Begun = call, data, nil
}

// arguments gives out argument text of the open call, or keeps it. What it shares with emit is written out in both: a
// call more for every piece of arguments is measurable.
func (m *Machine) arguments(text []byte, kind memory) {
	if m.keep || m.silent {
		m.call.kept = append(m.call.kept, text...)
		return
	}
	if len(text) == 0 {
		return
	}
	if kind == memoryReused {
		text = m.copy(text)
	}
	if n := len(m.events); n > 0 {
		if last := &m.events[n-1]; last.Kind == EventArguments && adjacent(last.Data, text) {
			last.Data = unsafe.Slice(unsafe.SliceData(last.Data), len(last.Data)+len(text))
			return
		}
	}
	m.event(EventArguments, 0, m.calls-1, text)
}

// adjacent tells whether b begins in memory where a ends, in one allocation: a must have room for it.
func adjacent(a, b []byte) bool {
	return cap(a)-len(a) >= len(b) && unsafe.Add(unsafe.Pointer(unsafe.SliceData(a)), len(a)) == unsafe.Pointer(unsafe.SliceData(b))
}
