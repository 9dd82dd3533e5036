package cli

import (
	"strings"
	"testing"
)

// TestSeveral: vLLM's flags that take several values do so here.
func TestSeveral(t *testing.T) {
	for in, want := range map[string]string{
		"serve m --served-model-name a b c --port 1":     "serve m --served-model-name a --served-model-name b --served-model-name c --port 1",
		"serve --lora-modules a=1 b=2 --max-lora-rank 8": "serve --lora-modules a=1 --lora-modules b=2 --max-lora-rank 8",
		"serve --served-model-name=a m":                  "serve --served-model-name=a m",
		"serve m --port 1 --served-model-name a":         "serve m --port 1 --served-model-name a",
		"parse --served-model-name a b":                  "parse --served-model-name a b",
	} {
		if found := strings.Join(several(strings.Fields(in)), " "); found != want {
			t.Errorf("%s: expected %s, found %s", in, want, found)
		}
	}
}
