package cli

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// shown is a command of the documentation: its words, where it stands, and whether the one before it is piped into it.
type shown struct {
	page  string
	line  string
	words []string
	piped bool
}

// spoken is how pages write the program.
var spoken = regexp.MustCompile(`^(?:GOTOOLCHAIN=auto )?(?:\./parlance|parlance|go run \./cmd/parlance) `)

// shownCommands are the command lines in the code of all pages. What has an ellipsis, or words that stand for others, is a sketch.
func shownCommands(t *testing.T) (commands []shown) {
	t.Helper()
	pages := []string{"README.md", "CONTRIBUTING.md"}
	err := fs.WalkDir(os.DirFS("../.."), "docs", func(name string, _ fs.DirEntry, err error) error {
		if path.Ext(name) == ".md" && path.Dir(name) != "docs/commands" {
			pages = append(pages, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		text, err := os.ReadFile("../../" + page)
		if err != nil {
			t.Fatal(err)
		}
		fenced := false
		for line := range strings.Lines(string(text)) {
			code := strings.TrimSpace(line)
			if strings.HasPrefix(code, "```") {
				fenced = !fenced
				continue
			}
			if !fenced && !strings.HasPrefix(line, "    ") || strings.Contains(code, "…") || strings.Contains(code, "...") || strings.Contains(code, "[") {
				continue
			}
			for i, part := range strings.Split(code, " | ") {
				if begin := spoken.FindString(part); begin != "" {
					commands = append(commands, shown{page, code, shellWords(part[len(begin):]), i > 0})
				}
			}
		}
	}
	return commands
}

// shellWords are the words of a command line, quotes taken off; a comment ends it.
func shellWords(line string) (words []string) {
	word, quote, any := "", rune(0), false
	for _, r := range line + " " {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word += string(r)
		case r == '\'' || r == '"':
			quote, any = r, true
		case r == '#' && !any:
			return words
		case r == ' ':
			if any {
				words = append(words, word)
			}
			word, any = "", false
		default:
			word, any = word+string(r), true
		}
	}
	return words
}

// TestShownCommandsAreUnderstood: every command line in the documentation names a command that there is, with flags that it has.
func TestShownCommandsAreUnderstood(t *testing.T) {
	commands := shownCommands(t)
	if len(commands) < 30 {
		t.Fatalf("only %d command lines were found", len(commands))
	}
	for _, c := range commands {
		command, rest, err := New().Find(c.words)
		if err == nil {
			err = command.ParseFlags(rest)
		}
		if err == nil {
			err = command.ValidateArgs(command.Flags().Args())
		}
		if err != nil && !stands(c.words) {
			t.Errorf("%s: %s: %v", c.page, c.line, err)
		}
	}
}

// stands tells whether a word stands for others, as in parlance COMMAND --help.
func stands(words []string) bool {
	return slices.Contains(words, "COMMAND") || slices.Contains(words, "KIND")
}

// TestShownCommandsRun: the examples of the page of the command line run in the root of the repository, as it promises. Those
// that need a server, another program, or long are left to tests of their own.
func TestShownCommandsRun(t *testing.T) {
	commands := shownCommands(t)
	t.Chdir("../..")
	pages := []string{"docs/command-line.md", "README.md", "docs/start.md"}
	quick := []string{"parse", "batch", "detect", "formats", "prompt", "render", "constrain", "lint"}
	runs, before := 0, ""
	for _, c := range commands {
		if !slices.Contains(pages, c.page) || !slices.Contains(quick, c.words[0]) {
			continue
		}
		in := ""
		if c.piped {
			in = before
		}
		o := run(t, in, c.words...)
		if o.status != 0 || o.out == "" {
			t.Errorf("%s: %s: status %d\n%s", c.page, c.line, o.status, o.complaints)
		}
		runs, before = runs+1, o.out
	}
	if runs < 12 {
		t.Errorf("only %d command lines were run", runs)
	}
}
