// Command parlance sorts what language models write into reasoning, content and tool calls, on the command line.
// `parlance --help` tells what it can do.
package main

import (
	"os"

	"github.com/parlance-llm/parlance/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
