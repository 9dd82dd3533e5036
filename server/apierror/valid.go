package apierror

import "strings"

// valid makes a message one that JSON can hold.
func valid(message string) string { return strings.ToValidUTF8(message, "\ufffd") }
