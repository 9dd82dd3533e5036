package pattern

import (
	"fmt"
	"testing"
)

func TestTmp(t *testing.T) {
	for _, s := range []string{`\s*<tool_call>\s*`, `\s*<tool_call>\s*<function=(?P<name>[^>\n]+)>`, `</function>\s*</tool_call>`, `<parameter=(?P<key>[^>\n]+)>\s*(?P<value>.*?)\s*</parameter>`,
		`<\|tool_call>call:(?P<name>\w+)`, `<c>(?:\njson)?`, `(?:^|<\|m\|>bot)<\|call\|>(?P<name>[\w.-]+)<\|args\|>`, `<arg name="(?P<key>[^"]+)">(?P<value>.*?)(?:</arg>|(?=<arg name="))`,
		`(?:^|<\|im_start\|>assistant\n)?<call name="(?P<name>[^"]+)">\n?`, `\s*(?:<\|im_end\|>|<\|endoftext\|>)`, `(?i)<tool>`, `<t>|<t>>`, `(?P<n>\w+)_call`, `<a(?: id="\d+")?>`, `a\1`, `\bfoo`, `<x>(?=\{)`, `<call (?P<name>[A-Za-z_]\w*)>`, `</x>|\s*$`} {
		e, err := Parse(s)
		if err != nil {
			fmt.Println(s, "ERR", err)
			continue
		}
		a, b, err := e.AtStart()
		fmt.Println(s, a != nil, b != nil, err)
		for _, x := range []*Expression{a, b} {
			if x != nil {
				x = x.WithoutEnd()
				p, err := x.Parts()
				fmt.Printf("    %+v %v\n", p, err)
			}
		}
	}
}
