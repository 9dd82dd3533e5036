package schema

import (
	"fmt"

	"github.com/parlance-llm/parlance/internal/jsontree"
)

// expected makes the error that something else stands where a value is.
func expected(v *jsontree.Value, what string) error {
	return fmt.Errorf("tool schema at %q: expected %s, found %s", v.Pointer(), what, v.Described())
}

// KindOf is the kind of a value listed in enum or const.
func KindOf(v *jsontree.Value) Kinds {
	switch v.Kind {
	case 'n':
		return Null
	case 't', 'f':
		return Boolean
	case '0':
		if v.Whole() {
			return Integer
		}
		return Number
	case '"':
		return String
	case '[':
		return Array
	}
	return Object
}

// objectKeyword returns the members of a keyword that must be an object. An empty array is taken for an empty object:
// that is how PHP writes one.
func objectKeyword(v *jsontree.Value, name string) ([]jsontree.Member, error) {
	switch object := v.Keyword(name); {
	case object == nil, object.Kind == '[' && len(object.Elements) == 0:
		return nil, nil
	case object.Kind == '{':
		return object.Members, nil
	default:
		return nil, expected(object, "an object")
	}
}

// arrayKeyword returns the elements of a keyword that must be an array.
func arrayKeyword(v *jsontree.Value, name string) ([]*jsontree.Value, error) {
	switch array := v.Keyword(name); {
	case array == nil:
		return nil, nil
	case array.Kind == '[':
		return array.Elements, nil
	default:
		return nil, expected(array, "an array")
	}
}
