package cli

import (
	"bufio"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/parlance-llm/parlance/conformance"
)

func newBench() *cobra.Command {
	asJSON, only := false, ""
	var environment *environmentFlags
	command := &cobra.Command{
		Use:   "bench FILE",
		Short: "Measure how fast outputs are sorted",
		Long: `Bench reads workloads from FILE, a JSON array of objects with the keys of a line of 'parlance batch' and
  name      what the workload is called
  text      the output, or instead of it
  unit, repeat, prefix, suffix
            an output made of the unit, repeated, with something before and behind
and prints of each workload
  chunks, ns/chunk, MB/s    the pieces of the stream, the time each takes, and what that comes to
  allocs/chunk              memory allocations for a chunk, in the second half of the stream
  total                     the time of the whole stream
  whole MB/s                how fast the text is sorted whole
Only the writing of chunks that have been cut before is measured; the best of several runs counts.`,
		Args: takes(1, 1),
		RunE: func(command *cobra.Command, arguments []string) error {
			e, err := environment.read()
			if err != nil {
				return err
			}
			workloads, err := loadWorkloads(arguments[0], e)
			if err != nil {
				return err
			}
			workloads = slices.DeleteFunc(workloads, func(w *workload) bool { return !strings.Contains(w.Name, only) })
			if len(workloads) == 0 {
				return fmt.Errorf("--only: expected a part of the name of some workload, found %q in none", only)
			}
			bar := newCounter(command.ErrOrStderr(), "bench", len(workloads))
			var measures []measure
			for _, w := range workloads {
				measures = append(measures, w.measure())
				bar.add(1)
			}
			bar.finish()
			out := bufio.NewWriter(command.OutOrStdout())
			return errors.Join(showMeasures(out, measures, asJSON), out.Flush())
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	command.Flags().StringVar(&only, "only", "", "run the workloads whose name holds `TEXT`")
	environment = addEnvironment(command)
	return command
}

// workload is a text with what is done to it.
type workload struct {
	Name string `json:"name"`
	conformance.Line
	Unit   string `json:"unit"`
	Repeat int    `json:"repeat"`
	Prefix string `json:"prefix"`
	Suffix string `json:"suffix"`

	prepared conformance.Prepared
}

// loadWorkloads reads a file of workloads. Errors name the file and the workload.
func loadWorkloads(file string, e *conformance.Environment) ([]*workload, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var raw []jsontext.Value
	if err := conformance.Decode(data, &raw); err != nil {
		return nil, fmt.Errorf("%s: workloads: %w", file, err)
	}
	if len(raw) == 0 {
		return nil, fmt.Errorf("%s: expected workloads, found none", file)
	}
	var out []*workload
	for i, value := range raw {
		w := new(workload)
		err := conformance.Decode(value, w)
		if err == nil {
			err = w.prepare(e)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: workload %d (%s): %w", file, i+1, w.Name, err)
		}
		out = append(out, w)
	}
	return out, nil
}

func (w *workload) prepare(e *conformance.Environment) (err error) {
	switch {
	case w.Tokens != nil:
		return errors.New("tokens: expected text, or unit with repeat, in their place")
	case w.Text != nil && w.Unit != "":
		return errors.New("expected text or unit, found both")
	case w.Text != nil:
	case w.Unit == "" || w.Repeat <= 0:
		return errors.New("expected text, or unit with repeat, found neither")
	default:
		text := w.Prefix + strings.Repeat(w.Unit, w.Repeat) + w.Suffix
		w.Text = &text
	}
	if *w.Text == "" {
		return errors.New("text: expected some text, found none")
	}
	w.prepared, err = w.Prepare(e)
	return err
}

// measure is what came of a workload. Megabytes are millions of bytes.
type measure struct {
	Name             string  `json:"name"`
	Bytes            int     `json:"bytes"`
	Chunks           int     `json:"chunks"`
	NsPerChunk       float64 `json:"ns_per_chunk"`
	MBPerSecond      float64 `json:"mb_per_s"`
	AllocsPerChunk   float64 `json:"allocs_per_chunk"`
	TotalMs          float64 `json:"total_ms"`
	WholeMBPerSecond float64 `json:"whole_mb_per_s"`
}

// A workload is run for this long, and at least so often; the best run counts.
const (
	benchTime = 300 * time.Millisecond
	benchRuns = 5
)

// measure runs a workload. The collector is off while the clock runs, so that its work for other things does not count.
func (w *workload) measure() measure {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var chunks [][]byte
	for piece := range w.Chunk.Pieces(*w.Text) {
		chunks = append(chunks, []byte(piece))
	}
	stream := best(func() time.Duration {
		s := w.prepared.Parser.Stream(w.prepared.Request)
		start := time.Now()
		for _, chunk := range chunks {
			s.Write(chunk)
		}
		taken := time.Since(start)
		s.Close(w.prepared.Finish)
		return taken
	})
	whole := best(func() time.Duration {
		start := time.Now()
		w.prepared.Parser.Parse(*w.Text, w.prepared.Request, w.prepared.Finish)
		return time.Since(start)
	})
	size := float64(len(*w.Text))
	return measure{
		Name: w.Name, Bytes: len(*w.Text), Chunks: len(chunks),
		NsPerChunk:       float64(stream.Nanoseconds()) / float64(len(chunks)),
		MBPerSecond:      size / 1e6 / stream.Seconds(),
		AllocsPerChunk:   w.allocations(chunks),
		TotalMs:          float64(stream.Nanoseconds()) / 1e6,
		WholeMBPerSecond: size / 1e6 / whole.Seconds(),
	}
}

// best gives the shortest time of several runs, never none.
func best(run func() time.Duration) time.Duration {
	shortest := run()
	begin := time.Now()
	for n := 1; n < benchRuns || time.Since(begin) < benchTime; n++ {
		if n%16 == 0 {
			runtime.GC()
		}
		shortest = min(shortest, run())
	}
	return max(shortest, 1)
}

// allocations is the number of memory allocations for each chunk in the second half of a stream. The runtime itself
// allocates now and then, so the least of a few runs counts.
func (w *workload) allocations(chunks [][]byte) float64 {
	half := len(chunks) / 2
	least := uint64(math.MaxUint64)
	for range benchRuns {
		s := w.prepared.Parser.Stream(w.prepared.Request)
		for _, chunk := range chunks[:half] {
			s.Write(chunk)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for _, chunk := range chunks[half:] {
			s.Write(chunk)
		}
		runtime.ReadMemStats(&after)
		least = min(least, after.Mallocs-before.Mallocs)
	}
	return float64(least) / float64(len(chunks)-half)
}

func showMeasures(out io.Writer, measures []measure, asJSON bool) error {
	if asJSON {
		return writeLine(out, measures)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "bytes\tchunks\tns/chunk\tMB/s\tallocs/chunk\ttotal\twhole MB/s\t  workload")
	for _, m := range measures {
		fmt.Fprintf(table, "%d\t%d\t%.1f\t%.1f\t%.4f\t%.3f ms\t%.0f\t  %s\n", m.Bytes, m.Chunks, m.NsPerChunk, m.MBPerSecond, m.AllocsPerChunk, m.TotalMs, m.WholeMBPerSecond, m.Name)
	}
	return table.Flush()
}
