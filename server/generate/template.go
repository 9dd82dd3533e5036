package generate

import (
	"encoding/json/v2"
	"maps"

	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/body"
)

// Efforts are the efforts of reasoning that a request may ask for.
var Efforts = []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}

// TemplateDefaults are what the server adds to the template arguments of every request, in all interfaces.
type TemplateDefaults struct {
	// Kwargs hold where the request does not say otherwise.
	Kwargs map[string]any
	// Efforts maps the effort that a request asks for to the one that the model's template knows.
	Efforts map[string]string
	// TrustRequest: a request may bring its own template.
	TrustRequest bool
}

// Apply fills in the effective arguments: the defaults, under those of the request (null and "auto" do not count), under
// those that other fields of the request set. The effective arguments reach the template, the reasoning half of the
// parser and the check of the prompt alike.
//
// effort is what the request asks for, "" for nothing; given are its chat_template_kwargs.
func (d TemplateDefaults) Apply(t *Template, given map[string]any, effort string) error {
	if source, ok := given["chat_template"]; ok && source != nil && !d.TrustRequest {
		return apierror.Invalidf("chat_template_kwargs.chat_template", "Chat template is passed with request, but --trust-request-chat-template is not set. Refused request with untrusted chat template.")
	}
	if t.Source != "" && !d.TrustRequest {
		return apierror.Invalidf("chat_template", "Chat template is passed with request, but --trust-request-chat-template is not set. Refused request with untrusted chat template.")
	}
	kwargs := maps.Clone(d.Kwargs)
	if kwargs == nil {
		kwargs = map[string]any{}
	}
	for name, value := range given {
		if _, set := kwargs[name]; set && (value == nil || value == "auto") {
			continue
		}
		kwargs[name] = value
	}
	if source, ok := kwargs["chat_template"].(string); ok && t.Source == "" {
		t.Source = source
	}
	delete(kwargs, "chat_template")
	if effort != "" {
		if mapped, ok := d.Efforts[effort]; ok {
			effort = mapped
		}
		kwargs["reasoning_effort"] = effort
		if _, set := given["enable_thinking"]; !set {
			kwargs["enable_thinking"] = effort != "none"
		}
		t.ReasoningEffort = effort
	}
	t.Kwargs = kwargs
	return nil
}

// ReadKwargs reads the member chat_template_kwargs of a request, the arguments of its chat template; an empty map if there
// are none. What is no object is complained of.
func ReadKwargs(o *body.Object) map[string]any {
	const name = "chat_template_kwargs"
	kwargs := map[string]any{}
	if o.Object(name) == nil {
		return kwargs
	}
	if err := json.Unmarshal(o.Raw(name), &kwargs, lenient); err != nil {
		o.Complain(name, err.Error())
	}
	return kwargs
}
