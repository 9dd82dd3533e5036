// Package requestid gives every HTTP request an id, which stands in logs and traces and goes to the engine.
package requestid

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"strings"
)

type key struct{}

// Header is the header in which a client may bring an id of its own, and in which the answer tells the id.
const Header = "X-Request-Id"

// From is the id of the request that a context belongs to, or "".
func From(ctx context.Context) string {
	id, _ := ctx.Value(key{}).(string)
	return id
}

// Wrap gives requests their ids before next sees them. A client's own id is taken for logs; the ids of answers are always
// made by the server, so that two answers never have the same (W16). show tells clients the id in a header.
func Wrap(next http.Handler, show bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := clean(r.Header.Get(Header))
		if id == "" {
			var random [16]byte
			_, _ = rand.Read(random[:])
			id = hex.EncodeToString(random[:])
		}
		if show {
			w.Header().Set(Header, id)
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), key{}, id)))
	})
}

// clean keeps of an id what can stand in a log without being mistaken for something else.
func clean(id string) string {
	id = strings.Map(func(r rune) rune {
		if r > ' ' && r < 0x7f && r != '"' && r != '\\' {
			return r
		}
		return -1
	}, id)
	return id[:min(len(id), 128)]
}
