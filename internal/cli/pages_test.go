package cli

import (
	"testing"

	"github.com/parlance-llm/parlance/internal/commandpages"
	"github.com/parlance-llm/parlance/internal/pages"
)

// TestCommandPagesAreCurrent holds that docs/commands is what the commands say of themselves.
func TestCommandPagesAreCurrent(t *testing.T) {
	for _, difference := range pages.Differences("../../docs/commands", commandpages.Pages(New())) {
		t.Error(difference)
	}
}
