package regular

import "sync"

// kept keeps automata that were made before. Those of requests have no end, so all are forgotten when they are many. It
// may be used by any number of goroutines.
type kept[Key comparable] struct {
	sync.Mutex
	automata map[Key]*Automaton
}

// mostKept bounds what is kept.
const mostKept = 2048

// get gives the automaton of a key, made now if it is not known; an error is not kept.
func (k *kept[Key]) get(key Key, make func() (*Automaton, error)) (*Automaton, error) {
	k.Lock()
	known := k.automata[key]
	k.Unlock()
	if known != nil {
		return known, nil
	}
	made, err := make()
	if err != nil {
		return nil, err
	}
	k.Lock()
	defer k.Unlock()
	if k.automata == nil || len(k.automata) >= mostKept {
		k.automata = map[Key]*Automaton{}
	}
	k.automata[key] = made
	return made, nil
}
