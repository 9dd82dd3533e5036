package engine

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

// pieces is a stream of given pieces and an error at its end.
type pieces struct {
	list   []Piece
	err    error
	closed bool
}

func (p *pieces) Next() (Piece, error) {
	if len(p.list) == 0 {
		return Piece{}, p.err
	}
	piece := p.list[0]
	p.list = p.list[1:]
	return piece, nil
}

func (p *pieces) Close() error { p.closed = true; return nil }

func TestCollect(t *testing.T) {
	stop := 7
	s := &pieces{err: io.EOF, list: []Piece{
		{PromptTokens: []int{1, 2}, Text: "a", Tokens: []int{3, 4}},
		{Text: "b", Usage: &Usage{PromptTokens: 2, CompletionTokens: 2}},
		{Tokens: []int{7}, Finish: FinishStop, StopToken: &stop, StopString: "x"},
		{Usage: &Usage{PromptTokens: 2, CompletionTokens: 3}},
	}}
	answer, err := Collect(s)
	if err != nil {
		t.Fatal(err)
	}
	if answer.Text != "ab" || len(answer.Tokens) != 3 || len(answer.PromptTokens) != 2 || answer.Finish != FinishStop ||
		answer.StopString != "x" || *answer.StopToken != 7 || answer.Usage.CompletionTokens != 3 || !s.closed {
		t.Errorf("%+v, closed %v", answer, s.closed)
	}
}

func TestCollectKeepsWhatCameBeforeAnError(t *testing.T) {
	broken := &Error{Kind: Broken, Engine: "test", Started: true}
	answer, err := Collect(&pieces{err: broken, list: []Piece{{Text: "half"}}})
	if !errors.Is(err, broken) || answer.Text != "half" {
		t.Errorf("%+v, %v", answer, err)
	}
}

func TestChoicesDiffer(t *testing.T) {
	seed := int64(41)
	r := &Request{ID: "r", Sampling: Sampling{Seed: &seed}}
	first, second := r.Choice(0), r.Choice(1)
	if first.ID != "r" || *first.Sampling.Seed != 41 || second.ID != "r-1" || *second.Sampling.Seed != 42 || *r.Sampling.Seed != 41 {
		t.Errorf("%+v %+v", first, second)
	}
}

func TestHTTPStatus(t *testing.T) {
	for _, c := range []struct {
		err  Error
		want int
	}{
		{Error{Kind: Refused, Status: 404}, 404},
		{Error{Kind: Refused, Status: 401}, 502},
		{Error{Kind: Refused, Status: 405}, 502},
		{Error{Kind: Refused, Status: 422}, 422},
		{Error{Kind: Refused}, 400},
		{Error{Kind: Unsupported}, 501},
		{Error{Kind: Unsupported, Param: "logit_bias"}, 400},
		{Error{Kind: Overloaded, Status: 429}, 429},
		{Error{Kind: Overloaded, Status: 503}, 503},
		{Error{Kind: Unreachable}, 502},
		{Error{Kind: TimedOut}, 504},
		{Error{Kind: Broken, Status: 200}, 502},
		{Error{Kind: Failed, Status: 500}, http.StatusInternalServerError},
		{Error{Kind: Canceled}, 499},
	} {
		if got := c.err.HTTPStatus(); got != c.want {
			t.Errorf("%v: %d, want %d", &c.err, got, c.want)
		}
	}
}

func TestUnknownEngine(t *testing.T) {
	_, err := Open("vlm", Options{})
	if err == nil || !strings.Contains(err.Error(), `found "vlm"`) {
		t.Error(err)
	}
}

// Every engine that is listed opens, and goes by the name it is listed under.
func TestNames(t *testing.T) {
	for _, name := range Names() {
		if e := mustOpen(t, name, Options{URL: "http://127.0.0.1:1"}); e.Name() != name {
			t.Errorf("%s calls itself %s", name, e.Name())
		}
	}
}
