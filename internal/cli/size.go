package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// size is a flag for a number of bytes: 4096, 64kB, 4KiB, 16MiB.
type size int

// units are the units of a size; k is a thousand, Ki is 1024.
var units = map[string]int{"": 1, "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}

// Set implements pflag.Value.
func (s *size) Set(text string) error {
	digits := strings.TrimRight(text, "BkKMGi ")
	n, err := strconv.Atoi(digits)
	unit, ok := units[strings.TrimSpace(text[len(digits):])]
	if err != nil || !ok || n <= 0 || n > math.MaxInt/unit {
		return fmt.Errorf("expected a number of bytes, such as 4096, 4KiB or 16MiB, found %q", text)
	}
	*s = size(n * unit)
	return nil
}

// Type implements pflag.Value.
func (*size) Type() string { return "bytes" }

func (s *size) String() string {
	for _, unit := range []string{"GiB", "MiB", "KiB"} {
		if n := int(*s); n > 0 && n%units[unit] == 0 {
			return strconv.Itoa(n/units[unit]) + unit
		}
	}
	return strconv.Itoa(int(*s))
}
