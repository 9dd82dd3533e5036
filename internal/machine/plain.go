package machine

import "github.com/parlance-llm/parlance/internal/program"

// Plain reads a piece if it is nothing but text of the tray that is being written: no marker begins in it. This is how
// most pieces of most outputs are, so it is worth a way of its own. It answers the text that has become certain, which
// is empty if all of it is white space that waits. It answers false, and has read nothing, if the piece has to go
// through Write; that would give out the same. ends, if tokens are counted, is where the token ends that the piece is.
func (m *Machine) Plain(piece []byte, ends int) (tray program.Tray, text []byte, ok bool) {
	n, t := m.node, &m.trays
	if !n.Steady || m.place != 0 || !t.started || t.tray != n.Tray || !m.direct || m.promptHeld > 0 || m.echo.recording {
		return 0, nil, false
	}
	first := &n.Table.First
	for _, c := range piece {
		if first[c] {
			return 0, nil, false
		}
	}
	end := len(piece)
	for end > 0 && isBlank(piece[end-1]) {
		end--
	}
	blanks := t.behind[t.tray]
	if len(blanks)+len(piece)-end > blankLimit || t.running || len(m.resumed) > 0 {
		return 0, nil, false
	}
	if c := m.count; c != nil {
		if c.next < len(c.ends) || ends != m.position+len(piece) || end == 0 {
			return 0, nil, false
		}
		c.settle(int(t.tray), trayAs(t.tray))
		if t.tray == program.Reasoning {
			c.reasoning++
		}
	}
	m.position += len(piece)
	text = piece[:end]
	if end > 0 && len(blanks) > 0 {
		m.arena = append(append(m.arena[:0], blanks...), text...)
		text, blanks = m.arena, blanks[:0]
		t.behind[t.tray] = blanks
	}
	if end < len(piece) {
		t.behind[t.tray] = append(blanks, piece[end:]...)
	}
	return t.tray, text, true
}
