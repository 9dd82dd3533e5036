// Package oddvalue puts odd values into the places of decoded JSON, for tests that ask whether a reader of it takes
// whatever stands there, or refuses it as it should.
package oddvalue

import (
	"strconv"
	"strings"
)

// Each puts every odd value into every place of a value, at every depth, one at a time, and calls try with the place and
// what stands there. Places are the names of members and the indexes of elements with dots between them: messages.0.role.
// value is as json.Unmarshal decodes into any; it is changed while try is called and as it was afterwards.
func Each(value any, odd []any, try func(place string, odd any)) { each(value, "", odd, try) }

func each(value any, at string, odd []any, try func(place string, odd any)) {
	visit := func(name string, member any, set func(any)) {
		place := strings.TrimPrefix(at+"."+name, ".")
		for _, one := range odd {
			set(one)
			try(place, one)
		}
		set(member)
		each(member, place, odd, try)
	}
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			visit(name, member, func(odd any) { value[name] = odd })
		}
	case []any:
		for i, member := range value {
			visit(strconv.Itoa(i), member, func(odd any) { value[i] = odd })
		}
	}
}
