package parlance

import "testing"

func TestCallIDIsWhatTheFormatWrites(t *testing.T) {
	for _, c := range []struct {
		tool, want string
		ok         bool
	}{
		{"kimi_k2", "functions.get_weather:3", true},
		{"hermes", "", false},
		{"mistral", "", false},
	} {
		p, err := Lookup(c.tool, "")
		if err != nil {
			t.Fatal(err)
		}
		if id, ok := p.CallID("get_weather", 3); id != c.want || ok != c.ok {
			t.Errorf("%s: expected %q, %v, found %q, %v", c.tool, c.want, c.ok, id, ok)
		}
	}
}

func TestTheFormatsOfTheHalves(t *testing.T) {
	p, err := Lookup("hermes", "qwen3")
	if err != nil {
		t.Fatal(err)
	}
	tool, ok := p.ToolFormat()
	reasoning, also := p.ReasoningFormat()
	if tool.Name != "hermes" || reasoning.Name != "qwen3_coder" || !ok || !also {
		t.Errorf("expected hermes and qwen3_coder, found %q and %q", tool.Name, reasoning.Name)
	}
	p, err = Lookup("mistral", "")
	if err != nil {
		t.Fatal(err)
	}
	if tool, _ := p.ToolFormat(); tool.CallIDs != "9 alphanumerics" {
		t.Errorf("expected ids of nine letters and digits, found %q", tool.CallIDs)
	}
	if _, ok := p.ReasoningFormat(); ok {
		t.Error("found a reasoning half that was not chosen")
	}
}
