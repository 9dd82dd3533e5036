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
	return Alarm{Kind: ToolsNotShown, Says: fmt.Sprintf("the request has %d tools and the prompt names none of them: the chat template does not show tools; "+
		"--chat-template can name one that does", len(tools))}, false
}
