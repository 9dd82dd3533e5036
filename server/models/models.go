// Package models knows the names under which the server serves models, and what the engine calls them.
package models

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parlance-llm/parlance"
	"github.com/parlance-llm/parlance/engine"
	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/generate"
)

// Registry resolves the model of a request. Any number of goroutines may use it.
type Registry struct {
	// Formats are those that the engine may name for its models; nil is the built-in ones.
	Formats *parlance.Registry

	engine engine.Engine
	// served are the names given on the command line; the first stands in answers. upstream is the engine's name for the
	// model behind them.
	served   []string
	upstream string
	// parser reads all models, if it is set.
	parser *parlance.Parser
	auto   bool

	mutex  sync.Mutex
	listed []engine.Model
	asked  time.Time
	asking *asking // nil: nobody asks the engine now
}

// asking is the engine being asked for its models, for all that want to know meanwhile.
type asking struct {
	done   chan struct{}
	models []engine.Model
	err    error
}

// New makes a registry. With names, all of them lead to the engine's model upstream, "" being the engine's first. Without
// names the engine's models are served under their own names, upstream before the others.
//
// The parser reads what all models write; auto says whether tool_choice auto is served with it. Without one, models have
// the parsers that the engine says they need, as the recordings of replay do.
func New(e engine.Engine, served []string, upstream string, parser *parlance.Parser, auto bool) *Registry {
	return &Registry{engine: e, served: served, upstream: upstream, parser: parser, auto: auto}
}

const (
	// fresh is how long an engine's list of models is believed.
	fresh = 30 * time.Second
	// patience is how long a newer list is waited for where an older one is known, and how long an engine that does not tell
	// its models is not asked again.
	patience = time.Second
)

// list asks the engine for its models; if it does not answer, or takes its time, the last answer counts. Whoever leaves
// meanwhile waits no longer.
func (r *Registry) list(ctx context.Context) ([]engine.Model, error) {
	r.mutex.Lock()
	known, now := r.listed, r.asking
	if known != nil && time.Since(r.asked) < fresh {
		r.mutex.Unlock()
		return known, nil
	}
	if now == nil {
		now = &asking{done: make(chan struct{})}
		r.asking = now
		go r.ask(context.WithoutCancel(ctx), now)
	}
	r.mutex.Unlock()
	var late <-chan time.Time
	if known != nil {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-now.done:
		if now.err != nil && known != nil {
			return known, nil
		}
		return now.models, now.err
	case <-late:
		return known, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// ask asks the engine, which has time limits of its own.
func (r *Registry) ask(ctx context.Context, a *asking) {
	a.models, a.err = r.engine.Models(ctx)
	r.mutex.Lock()
	defer r.mutex.Unlock()
	defer close(a.done)
	r.asking = nil
	if a.err == nil {
		r.listed, r.asked = a.models, time.Now()
	} else {
		r.asked = time.Now().Add(patience - fresh)
	}
}

// Resolve finds a model by the name that a request gives it. "" asks for the first one. The error is of the kind NotFound
// for a model that is not served.
func (r *Registry) Resolve(ctx context.Context, name string) (generate.Model, error) {
	if len(r.served) > 0 {
		if name != "" && !slices.Contains(r.served, name) {
			return generate.Model{}, unknown(name, r.served)
		}
		return r.model(ctx, r.served[0], r.upstream)
	}
	listed, err := r.list(ctx)
	if err != nil && ctx.Err() != nil {
		return generate.Model{}, err
	}
	if err != nil || len(listed) == 0 {
		// Nothing is known of the engine's models; it will refuse a wrong name itself.
		return generate.Model{Name: name, Upstream: name, Parser: r.parser, AutoToolChoice: r.auto}, nil
	}
	var names []string
	for _, model := range r.chosenFirst(listed) {
		if model.ID == name || name == "" {
			return r.model(ctx, model.ID, model.ID)
		}
		names = append(names, model.ID)
	}
	return generate.Model{}, unknown(name, names)
}

// chosenFirst are the engine's models, the one that was chosen for the server before the others: it answers who names none.
// The engine knows it, though it may list it under a longer name.
func (r *Registry) chosenFirst(listed []engine.Model) []engine.Model {
	if r.upstream == "" || listed[0].ID == r.upstream {
		return listed
	}
	chosen := engine.Model{ID: r.upstream}
	others := make([]engine.Model, 0, len(listed))
	for _, model := range listed {
		if model.ID == r.upstream {
			chosen = model
		} else {
			others = append(others, model)
		}
	}
	return append([]engine.Model{chosen}, others...)
}

func unknown(name string, valid []string) error {
	return &apierror.Error{Kind: apierror.NotFound, Param: "model", Message: fmt.Sprintf("The model `%s` does not exist. Valid aliases: %s.", short(name), strings.Join(valid, ", "))}
}

// short is the beginning of a name that is longer than names are.
func short(name string) string {
	if runes := []rune(name); len(runes) > 200 {
		return string(runes[:200]) + "…"
	}
	return name
}

// model is a model with its parser: the one that was set, else the one that the engine says its model needs.
func (r *Registry) model(ctx context.Context, name, upstream string) (generate.Model, error) {
	m := generate.Model{Name: name, Upstream: upstream, Parser: r.parser, AutoToolChoice: r.auto}
	if r.parser != nil {
		return m, nil
	}
	listed, err := r.list(ctx)
	if err != nil && ctx.Err() != nil {
		return m, err
	}
	if err != nil {
		return m, nil // without the engine's word there is no parser
	}
	for i, known := range listed {
		if (known.ID == upstream || upstream == "" && i == 0) && known.ToolCallParser+known.ReasoningParser != "" {
			if m.Parser, err = r.formats().Lookup(known.ToolCallParser, known.ReasoningParser); err != nil {
				return m, apierror.New(apierror.Internal, "", "the engine names a parser that is not known: %v", err)
			}
			m.AutoToolChoice = m.ReadsCalls()
		}
	}
	return m, nil
}

func (r *Registry) formats() *parlance.Registry {
	if r.Formats == nil {
		return parlance.Default()
	}
	return r.Formats
}

// ContextLength is the length of a model's context in tokens, by the name under which it is served; 0 where the engine
// does not tell.
func (r *Registry) ContextLength(ctx context.Context, name string) int {
	entries, err := r.List(ctx)
	if err != nil {
		return 0
	}
	for _, entry := range entries {
		if entry.Name == name {
			return entry.MaxTokens
		}
	}
	return 0
}

// Entry is a model as it is listed.
type Entry struct {
	engine.Model
	// Name is the name it is served under, Root what it was loaded from.
	Name string
}

// List gives the models that are served.
func (r *Registry) List(ctx context.Context) ([]Entry, error) {
	listed, err := r.list(ctx)
	if len(r.served) == 0 {
		if err != nil {
			return nil, err
		}
		if len(listed) > 0 {
			listed = r.chosenFirst(listed)
		}
		out := make([]Entry, len(listed))
		for i, model := range listed {
			out[i] = Entry{Model: model, Name: model.ID}
		}
		return out, nil
	}
	var known engine.Model
	for i, model := range listed {
		if model.ID == r.upstream || r.upstream == "" && i == 0 {
			known = model
		}
	}
	out := make([]Entry, len(r.served))
	for i, name := range r.served {
		out[i] = Entry{Model: known, Name: name}
	}
	return out, nil
}
