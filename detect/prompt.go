package detect

import (
	"fmt"
	"strings"
)

// ToolsShown tells whether a prompt names any of the tools that a request has; the alarm says that it names none, so that
// the model cannot know of them. Templates show tools in many ways, but always with their names.
func ToolsShown(prompt string, tools []string) (Alarm, bool) {
	if prompt == "" || len(tools) == 0 {
		return Alarm{}, true
	}
	for _, tool := range tools {
		if strings.Contains(prompt, tool) {
			return Alarm{}, true
		}
	}
	has := "a tool and the prompt does not name it"
	if len(tools) > 1 {
		has = fmt.Sprintf("%d tools and the prompt names none of them", len(tools))
	}
	return Alarm{Kind: ToolsNotShown, Says: "the request has " + has + ": the chat template does not show tools; --chat-template can name one that does"}, false
}
