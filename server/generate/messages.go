package generate

import (
	"encoding/json/jsontext"
	"fmt"

	"github.com/parlance-llm/parlance/server/apierror"
	"github.com/parlance-llm/parlance/server/body"
)

// NormalizeMessages makes messages of the Chat Completions interface what chat templates read: reasoning_content becomes
// reasoning, unless that is given; an empty list of tool calls is left out. The error is of a call that is none.
//
// (vLLM 0.33.0 does the same, among other things that belong to the rendering.)
func NormalizeMessages(messages []jsontext.Value) ([]jsontext.Value, error) {
	out := make([]jsontext.Value, len(messages))
	for i, message := range messages {
		members, ok := body.Members(message)
		if !ok {
			return nil, apierror.Join([]apierror.Complaint{{Param: fmt.Sprintf("body.messages.%d", i), Message: "Input should be a valid dictionary", Found: body.Summary(message)}})
		}
		changed, err := normalize(&members, i)
		if err != nil {
			return nil, err
		}
		out[i] = message
		if changed {
			out[i] = body.Join(members)
		}
	}
	return out, nil
}

func normalize(members *[]body.Member, number int) (changed bool, err error) {
	given := body.Lookup(*members, "reasoning")
	keep := (*members)[:0:0]
	for _, member := range *members {
		switch member.Name {
		case "reasoning_content":
			changed = true
			if given != nil && given.Kind() != 'n' {
				continue
			}
			member.Name = "reasoning"
		case "reasoning":
			if given.Kind() == 'n' && body.Lookup(*members, "reasoning_content") != nil {
				changed = true
				continue
			}
		case "content":
			if err := checkContent(member.Value, fmt.Sprintf("body.messages.%d.content", number)); err != nil {
				return false, err
			}
		case "tool_calls":
			calls, ok := body.Elements(member.Value)
			if member.Value.Kind() == 'n' || ok && len(calls) == 0 {
				changed = true
				continue
			}
			if !ok {
				return false, apierror.Invalidf(fmt.Sprintf("messages.%d.tool_calls", number), "expected a list of tool calls, found %s", body.Summary(member.Value))
			}
			for k, call := range calls {
				if err := checkCall(call, fmt.Sprintf("messages.%d.tool_calls.%d", number, k)); err != nil {
					return false, err
				}
			}
		}
		keep = append(keep, member)
	}
	*members = keep
	return changed, nil
}

// checkContent tells whether the content of a message is a text, a list of parts or nothing. What the parts hold is for the
// chat template to say.
func checkContent(content jsontext.Value, place string) error {
	parts, list := body.Elements(content)
	if !list && content.Kind() != '"' && content.Kind() != 'n' {
		return apierror.Join([]apierror.Complaint{{Param: place, Message: "Input should be a valid string, or a list of parts", Found: body.Summary(content)}})
	}
	for i, part := range parts {
		if kind := part.Kind(); kind != '{' && kind != '"' {
			return apierror.Join([]apierror.Complaint{{Param: fmt.Sprintf("%s.%d", place, i), Message: "Input should be a valid dictionary", Found: body.Summary(part)}})
		}
		members, _ := body.Members(part)
		if text := body.Lookup(members, "text"); text != nil && text.Kind() != '"' && text.Kind() != 'n' {
			return apierror.Join([]apierror.Complaint{{Param: fmt.Sprintf("%s.%d.text", place, i), Message: "Input should be a valid string", Found: body.Summary(text)}})
		}
	}
	return nil
}

// checkCall tells whether an entry of a message's tool calls is a call of a function.
func checkCall(call jsontext.Value, place string) error {
	members, ok := body.Members(call)
	if !ok {
		return apierror.Invalidf(place, "expected a tool call, found %s", body.Summary(call))
	}
	if kind := body.Lookup(members, "type"); kind != nil && kind.Kind() != 'n' && body.Text(kind) != "function" {
		return apierror.Invalidf(place+".type", `expected "function", found %s`, body.Summary(kind))
	}
	function, ok := body.Members(body.Lookup(members, "function"))
	if !ok {
		return apierror.Invalidf(place+".function", "expected an object, found %s", body.Found(body.Lookup(members, "function")))
	}
	if name := body.Lookup(function, "name"); name.Kind() != '"' {
		return apierror.Invalidf(place+".function.name", "expected the name of a function, found %s", body.Found(name))
	}
	return nil
}

// Role is the role of a message; "" if it has none.
func Role(message jsontext.Value) string {
	members, _ := body.Members(message)
	if role := body.Lookup(members, "role"); role.Kind() == '"' {
		return body.Text(role)
	}
	return ""
}
