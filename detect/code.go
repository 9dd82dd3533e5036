package detect

import "strings"

// withoutCode blanks out what a text quotes as Markdown code, between backticks or in a fenced block: markup there is shown,
// not meant. Nothing changes its place.
func withoutCode(text string) string {
	if !strings.Contains(text, "`") && !strings.Contains(text, "~~~") {
		return text
	}
	out := []byte(text)
	fence := "" // what opened the block that is open
	for at := 0; at < len(text); {
		end := at + lineOf(text[at:])
		line := strings.TrimLeft(text[at:end], " ")
		mark := fenceOf(line)
		switch {
		case fence != "":
			if strings.HasPrefix(mark, fence) && strings.TrimSpace(line[len(mark):]) == "" {
				fence = ""
			} else {
				blank(out[at:end])
			}
		case mark != "" && !(mark[0] == '`' && strings.Contains(line[len(mark):], "`")):
			fence = mark
		default:
			// A paragraph, whose code may go over several lines.
			for end < len(text) {
				next := text[end : end+lineOf(text[end:])]
				if strings.TrimSpace(next) == "" || fenceOf(strings.TrimLeft(next, " ")) != "" {
					break
				}
				end += len(next)
			}
			blankQuoted(out[at:end], text[at:end])
		}
		at = end
	}
	return string(out)
}

// lineOf is the length of the first line with its end.
func lineOf(text string) int {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return i + 1
	}
	return len(text)
}

// fenceOf is the run of three or more backticks or tildes with which a line begins, "" if it begins otherwise.
func fenceOf(line string) string {
	if line == "" || line[0] != '`' && line[0] != '~' {
		return ""
	}
	n := run(line, line[0])
	if n < 3 {
		return ""
	}
	return line[:n]
}

// run is how often a text begins with a character.
func run(text string, of byte) (n int) {
	for n < len(text) && text[n] == of {
		n++
	}
	return n
}

// blankQuoted blanks out what stands between two runs of as many backticks.
func blankQuoted(out []byte, text string) {
	begins := map[int]int{} // the length of a run that found no closer: the same is not looked for again
	for at := 0; at < len(text); {
		n := run(text[at:], '`')
		if n == 0 {
			if next := strings.IndexByte(text[at:], '`'); next >= 0 {
				at += next
				continue
			}
			return
		}
		end := -1
		if _, hopeless := begins[n]; !hopeless {
			end = closerOf(text[at+n:], n)
		}
		if end < 0 {
			begins[n] = at
			at += n
			continue
		}
		blank(out[at+n : at+n+end])
		at += 2*n + end
	}
}

// closerOf finds a run of exactly n backticks; -1 if there is none.
func closerOf(text string, n int) int {
	for at := 0; ; {
		next := strings.IndexByte(text[at:], '`')
		if next < 0 {
			return -1
		}
		at += next
		m := run(text[at:], '`')
		if m == n {
			return at
		}
		at += m
	}
}

// blank replaces everything but line ends by spaces.
func blank(text []byte) {
	for i := range text {
		if text[i] != '\n' {
			text[i] = ' '
		}
	}
}
