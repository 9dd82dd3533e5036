// Command roundtrip sends known calls through every format, there and back, and keeps the figures in a page.
//
//	roundtrip -page docs/round-trip.md [-write] [-splits 3] RECORDS
//
// RECORDS is a file of lines as roundtrip.ReadRecords reads them. Each call is written in every format that has calls,
// and read back whole and in random splits; calls that stand there as Python source are also read as they stand, in the
// formats whose calls are Python. The figures are printed, by format and reason; with -write they are written into the
// page, else they must be what the page says. Any difference between what was written and what was read is a failure.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"

	"github.com/parlance-llm/parlance/internal/roundtrip"
)

func main() {
	page := flag.String("page", "docs/round-trip.md", "the page that keeps the figures")
	write := flag.Bool("write", false, "write the page")
	splits := flag.Int("splits", 3, "how many random splits each message is read in")
	flag.Parse()
	if err := run(flag.Arg(0), *page, *write, *splits); err != nil {
		fmt.Fprintln(os.Stderr, "roundtrip:", err)
		os.Exit(1)
	}
}

func run(file, page string, write bool, splits int) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	records, err := roundtrip.ReadRecords(in)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	var structured, sources []roundtrip.Record
	calls := 0
	for _, record := range records {
		if record.Python == "" {
			structured = append(structured, record)
			calls += len(record.Calls)
		} else {
			sources = append(sources, record)
		}
	}
	trips, err := roundtrip.Trips()
	if err != nil {
		return err
	}
	figures := make([]roundtrip.Figures, len(trips))
	var group sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for k := range trips {
		group.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			t, random := &trips[k], rand.New(rand.NewPCG(1, uint64(k)))
			figures[k] = roundtrip.Figures{Format: t.Format, HasCalls: t.Calls, Python: t.Python()}
			if t.Calls {
				figures[k].Structured = t.Count(structured, splits, random)
			}
			if t.Python() {
				figures[k].Rendered = t.Count(sources, splits, random)
				figures[k].Sources = t.CountPython(sources, splits, random)
			}
		})
	}
	group.Wait()
	text := roundtrip.Page(figures, calls, len(sources))
	fmt.Print(text)
	if err := roundtrip.Failed(figures); err != nil {
		return err
	}
	if write {
		return os.WriteFile(page, []byte(text), 0o644)
	}
	kept, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	if string(kept) != text {
		return fmt.Errorf("%s does not have these figures: run with -write, and look at what has changed", page)
	}
	return nil
}
