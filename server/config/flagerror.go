package config

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"
)

// expected says what a flag takes, by the type of its value.
var expected = map[string]string{
	"int": "a whole number", "int64": "a whole number", "float64": "a number", "bool": "true or false",
	"duration": "a time with its unit, such as 500ms, 30s or 10m",
}

// FlagError says of a value that its flag cannot take what was expected, in the words of the command line, not of Go. Any
// other error stays as it is.
func FlagError(err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	what := expected[invalid.GetFlag().Value.Type()]
	if what == "" {
		return err
	}
	return fmt.Errorf("--%s: expected %s, found %q", invalid.GetFlag().Name, what, invalid.GetValue())
}
