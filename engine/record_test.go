package engine

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/fstest"
)

// What is recorded of an engine is played as the engine sent it.
func TestRecordAndReplay(t *testing.T) {
	w := wireOf("vllm")
	s := w.server(t, answering(w.whole("Hel", "lo", "")))
	var file bytes.Buffer
	e := Record(w.open(t, s, Options{}), &file, func(err error) { t.Error(err) })
	request := &Request{Prompt: Prompt{Text: "hi", Tokens: []int{1, 2}}, TokenIDs: true, MaxTokens: 10}
	read := func(e Engine, r *Request) (texts []string, ids []int, finish FinishReason) {
		t.Helper()
		stream, err := e.Generate(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Close()
		for piece, err := range Pieces(stream) {
			if err != nil {
				t.Fatal(err)
			}
			if piece.Text != "" {
				texts = append(texts, piece.Text)
			}
			ids = append(ids, piece.Tokens...)
			if piece.Finish != "" {
				finish = piece.Finish
			}
		}
		return texts, ids, finish
	}
	wantTexts, wantIDs, wantFinish := read(e, request)
	player := mustOpen(t, "replay", Options{Recordings: fstest.MapFS{"a.jsonl": &fstest.MapFile{Data: file.Bytes()}}})
	texts, ids, finish := read(player, &Request{Prompt: Prompt{Text: "hi"}, TokenIDs: true})
	if !slices.Equal(texts, wantTexts) || !slices.Equal(ids, wantIDs) || finish != wantFinish || len(texts) != 2 || len(ids) != 3 {
		t.Errorf("%q %v %s, want %q %v %s", texts, ids, finish, wantTexts, wantIDs, wantFinish)
	}
	if models, err := player.Models(t.Context()); err != nil || models[0].ID != "m" {
		t.Errorf("%+v, %v", models, err)
	}
}

func TestRecordedErrors(t *testing.T) {
	w := wireOf("vllm")
	record := func(handler func(e Engine)) []byte {
		var file bytes.Buffer
		handler(Record(w.open(t, w.server(t, cut(w.piece("ha", "ha", 1))), Options{}), &file, func(err error) { t.Error(err) }))
		return file.Bytes()
	}
	broken := record(func(e Engine) {
		if _, err := w.generate(t, e); err == nil {
			t.Error("expected an error")
		}
	})
	left := record(func(e Engine) {
		stream, err := e.Generate(t.Context(), w.request())
		if err != nil {
			t.Fatal(err)
		}
		stream.Next()
		stream.Close()
	})
	for _, file := range [][]byte{broken, left} {
		player := mustOpen(t, "replay", Options{Recordings: fstest.MapFS{"a.jsonl": &fstest.MapFile{Data: file}}})
		stream, err := player.Generate(t.Context(), &Request{Prompt: Prompt{Text: "hi"}})
		if err != nil {
			t.Fatal(err)
		}
		answer, err := Collect(stream)
		wantError(t, err, Broken, true, "")
		if answer.Text != "ha" {
			t.Errorf("%+v", answer)
		}
	}
}

func TestRecordingToABadWriter(t *testing.T) {
	w := wireOf("vllm")
	reader, writer := io.Pipe()
	reader.CloseWithError(errors.New("full"))
	var failed error
	answer, err := w.generate(t, Record(w.open(t, w.server(t, answering(w.whole("a"))), Options{}), writer, func(err error) { failed = err }))
	if err != nil || answer.Text != "a" || failed == nil {
		t.Errorf("%+v, %v, %v", answer, err, failed)
	}
}
