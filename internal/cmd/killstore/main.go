// Killstore kills a server in the middle of storing responses and looks at what is left: none that a client was told of may
// be lost, and none may be there by half.
//
// Usage: killstore -parlance BINARY -replay FOLDER -store ADDRESS
//
// Eight clients ask for 1,000 responses: whole, streamed, in the background, going on from one before, and in conversations.
// When about half of them have been answered the server is killed (SIGKILL), and another is started on the same store.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"time"
)

// wanted is how many responses the clients ask for.
const wanted = 1000

func main() {
	binary := flag.String("parlance", "", "the `binary`")
	replay := flag.String("replay", "", "the `folder` of recordings")
	address := flag.String("store", "", "the `address` of the store, as --responses-store takes it")
	flag.Parse()
	if err := run(*binary, *replay, *address); err != nil {
		fmt.Fprintln(os.Stderr, "killstore:", err)
		os.Exit(1)
	}
}

func run(binary, replay, address string) error {
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	first, err := startServer(ctx, binary, replay, address)
	if err != nil {
		return err
	}
	killAt := int64(wanted/3 + rand.IntN(wanted/3))
	told, err := askUntil(ctx, first, killAt)
	if err != nil {
		return errors.Join(err, first.kill())
	}

	rows, err := readRows(ctx, address)
	if err != nil {
		return err
	}
	if err := rows.check(); err != nil {
		return err
	}

	second, err := startServer(ctx, binary, replay, address)
	if err != nil {
		return err
	}
	err = second.checkTold(ctx, told)
	if err := errors.Join(err, second.kill()); err != nil {
		return err
	}
	inMiddle := 0
	for _, r := range rows.responses {
		if !r.over() {
			inMiddle++
		}
	}
	if inMiddle == 0 {
		return errors.New("no response was in the middle when the server was killed: nothing was shown")
	}
	fmt.Printf("killed after %d of %d answers: %d responses stored, %d of them in the middle; every one that was told of is there, and whole\n", len(told), wanted, len(rows.responses), inMiddle)
	return nil
}
