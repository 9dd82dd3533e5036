// Command commandpages writes the pages of the commands into the folder docs/commands of the repository. Run it with
// go generate.
package main

import (
	"fmt"
	"os"

	"github.com/parlance-llm/parlance/internal/cli"
	"github.com/parlance-llm/parlance/internal/commandpages"
	"github.com/parlance-llm/parlance/internal/pages"
)

func main() {
	if err := pages.Write("docs/commands", commandpages.Pages(cli.New())); err != nil {
		fmt.Fprintln(os.Stderr, "commandpages:", err)
		os.Exit(1)
	}
}
