package roundtrip

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/parlance-llm/parlance"
)

// messages is how many messages each format is tried with; PARLANCE_ROUNDS multiplies it.
func messages() int {
	n := 1000
	if testing.Short() {
		n = 100
	}
	if rounds, err := strconv.Atoi(os.Getenv("PARLANCE_ROUNDS")); err == nil {
		n *= rounds
	}
	return n
}

func TestGeneratedMessages(t *testing.T) {
	trips, err := Trips()
	if err != nil {
		t.Fatal(err)
	}
	for _, trip := range trips {
		t.Run(trip.Format, func(t *testing.T) {
			t.Parallel()
			info, _ := parlance.Format(trip.Format)
			g := NewGenerator(1, info.Markers)
			random := rand.New(rand.NewPCG(2, 2))
			exceptions, carried := map[string]int{}, 0
			for k := range messages() {
				m := g.Message(&trip)
				if k%3 == 0 {
					g.Segments(m)
				}
				exception, err := trip.Check(m, g.Tools, 3, random)
				switch {
				case err != nil:
					t.Errorf("message %d: %v", k, err)
				case exception != nil:
					exceptions[string(exception.Reason)]++
				default:
					carried++
				}
			}
			for reason := range exceptions {
				if !slices.Contains(info.Cannot, reason) {
					t.Errorf("%d messages could not be carried for the reason %q, which the definition's cannot does not list", exceptions[reason], reason)
				}
			}
			if trip.Calls && !testing.Short() {
				for _, reason := range info.Cannot {
					if exceptions[reason] == 0 {
						t.Errorf("the definition's cannot lists %q, and no message showed it", reason)
					}
				}
			}
			t.Logf("%d carried, exceptions %v", carried, exceptions)
		})
	}
}

// TestMixedHalves is the same for halves of different formats, put together.
func TestMixedHalves(t *testing.T) {
	g := NewGenerator(3, nil)
	random := rand.New(rand.NewPCG(4, 4))
	n := messages() / 25
	for _, reasoning := range []string{"deepseek_r1", "qwen3", "granite", "hunyuan_a13b", "minicpmv", "kimi_k3", "gemma4", "nemotron_v3"} {
		for _, tool := range parlance.ToolNames() {
			trip, err := NewTrip(tool, tool, reasoning)
			if err != nil {
				continue // halves that cannot be put together
			}
			exceptions := map[string]int{}
			for k := range n {
				m := g.Message(&trip)
				if k%3 == 0 {
					g.Segments(m)
				}
				exception, err := trip.Check(m, g.Tools, 2, random)
				if err != nil {
					t.Errorf("%s with %s: %v", tool, reasoning, err)
				}
				if exception != nil {
					exceptions[string(exception.Reason)]++
				}
			}
			t.Logf("%s with %s: %v", tool, reasoning, exceptions)
		}
	}
}
