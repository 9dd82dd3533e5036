package conformance

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test binary be the other program: with PARLANCE_ECHO it answers requests with their text as content,
// and behaves badly where the text asks for it.
func TestMain(m *testing.M) {
	if mode, ok := os.LookupEnv("PARLANCE_ECHO"); ok {
		echo(mode)
		return
	}
	os.Exit(m.Run())
}

func echo(mode string) {
	in := bufio.NewReader(os.Stdin)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for {
		data, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var line Line
		if err := Decode(data, &line); err != nil {
			fmt.Fprintf(out, "broken: %v\n", err)
			continue
		}
		switch {
		case line.Written() == "crash":
			fmt.Fprintln(os.Stderr, "I cannot go on")
			if mode == "flush" {
				out.Flush()
			}
			os.Exit(3)
		case line.Written() == "no JSON":
			fmt.Fprintln(out, "Traceback (most recent call last):")
		case line.Written() == "extra line" && !line.Stream:
			fmt.Fprintln(out, "a warning on the wrong channel")
			fallthrough
		default:
			fmt.Fprintf(out, `{"id":%s,"reasoning":null,"content":%q}`+"\n", line.ID, line.Written())
		case line.Written() == "silent":
		case line.Written() == "wrong id":
			fmt.Fprintf(out, `{"id":"mine","content":"wrong id"}`+"\n")
		case line.Written() == "error":
			fmt.Fprintf(out, `{"id":%s,"error":"line 7: I do not know it"}`+"\n", line.ID)
		case line.Written() == "arguments":
			fmt.Fprintf(out, `{"id":%s,"tool_calls":[{"name":"f","arguments":{}}]}`+"\n", line.ID)
		}
		if mode == "flush" {
			out.Flush()
		}
	}
}

func echoCases(texts ...string) (cases []*Case) {
	for i, text := range texts {
		cases = append(cases, &Case{ID: fmt.Sprint(i, " ", text), Input: Input{Text: new(text)}, Want: &Want{Content: text}})
	}
	return cases
}

func runEcho(t *testing.T, mode string, cases []*Case) map[string]string {
	t.Helper()
	t.Setenv("PARLANCE_ECHO", mode)
	got := map[string]string{}
	next := 0
	start := time.Now()
	Run(&Command{Line: "'" + os.Args[0] + "'"}, cases, 4, func(o *Outcome) {
		if o.Case != cases[next] {
			t.Errorf("expected the outcome of %s, found that of %s", cases[next].ID, o.Case.ID)
		}
		next++
		if o.Tried != 9 {
			t.Errorf("%s: expected 9 chunkings, found %d", o.Case.ID, o.Tried)
		}
		if !o.Passed() {
			got[o.Case.Written()] = o.String()
		}
	})
	if next != len(cases) {
		t.Errorf("expected %d outcomes, found %d", len(cases), next)
	}
	t.Logf("%d cases in %v", len(cases), time.Since(start))
	return got
}

// TestBadAnswersFailTheirCase: whatever a program does, the cases that it answers well pass and the run goes on.
func TestBadAnswersFailTheirCase(t *testing.T) {
	texts := []string{"good", "no JSON", "fine", "extra line", "still fine", "silent", "well", "wrong id", "error", "arguments"}
	for i := range 40 {
		texts = append(texts, fmt.Sprintf("text %d é", i))
	}
	texts = append(texts, "crash")
	for i := range 40 {
		texts = append(texts, fmt.Sprintf("late %d", i))
	}
	bad := map[string]string{
		"no JSON":    `expected JSON`,
		"extra line": `expected JSON`,
		"silent":     `expected the answer to request`,
		"wrong id":   `id: expected the id of a request, found "mine"`,
		"error":      `because   the program reports an error: line 7: I do not know it`,
		"arguments":  `tool_calls[0].arguments: expected a string, found an object`,
		"crash":      `the program ended before it answered (exit status 3); its last words: I cannot go on`,
	}
	for _, mode := range []string{"flush", "buffer"} {
		t.Run(mode, func(t *testing.T) {
			got := runEcho(t, mode, echoCases(texts...))
			for text, report := range got {
				if want, ok := bad[text]; !ok || !strings.Contains(report, want) {
					t.Errorf("%q: expected %q, found\n%s", text, want, report)
				}
			}
			for text := range bad {
				if got[text] == "" {
					t.Errorf("%q passed", text)
				}
			}
		})
	}
}

func TestCommandThatDoesNotExist(t *testing.T) {
	cases := echoCases("a", "b", "c", "d", "e", "f", "g", "h")
	failed := 0
	Run(&Command{Line: "/nowhere/parlance-other batch"}, cases, 2, func(o *Outcome) {
		if !o.Passed() && len(o.Failed) == o.Tried && strings.Contains(o.String(), "exit status 127") {
			failed++
		}
	})
	if failed != len(cases) {
		t.Errorf("expected %d failures, found %d", len(cases), failed)
	}
}
