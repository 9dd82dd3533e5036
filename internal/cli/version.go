package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  takes(0, 0),
		RunE: func(command *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(command.OutOrStdout(), version())
			return err
		},
	}
}

// version is what the build knows of itself.
func version() string {
	module, revision := "(devel)", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" {
			module = info.Main.Version
		}
		for _, setting := range info.Settings {
			switch {
			case setting.Key == "vcs.revision":
				revision = " " + setting.Value + revision
			case setting.Key == "vcs.modified" && setting.Value == "true":
				revision += " (modified)"
			}
		}
	}
	return fmt.Sprintf("parlance %s%s %s %s/%s", module, revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
