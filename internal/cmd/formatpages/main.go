// Command formatpages writes the pages of the formats into the folder docs/formats of the repository. Run it with
// go generate.
package main

import (
	"fmt"
	"os"

	"github.com/parlance-llm/parlance/internal/formatpages"
	"github.com/parlance-llm/parlance/internal/pages"
)

func main() {
	made, err := formatpages.Pages(os.DirFS("conformance/cases"))
	if err == nil {
		err = pages.Write("docs/formats", made)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "formatpages:", err)
		os.Exit(1)
	}
}
