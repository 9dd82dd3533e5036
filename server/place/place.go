// Package place is the place of a request among those that are answered at once. Who serves a request gives it up when the
// handler is done, unless the handler has kept it for work that goes on behind it.
package place

import (
	"context"
	"sync/atomic"
)

type key struct{}

type place struct {
	release func()
	kept    atomic.Bool
}

// With gives the context of a request that has a place, and what its server calls when the handler is done.
func With(ctx context.Context, release func()) (_ context.Context, done func()) {
	p := &place{release: release}
	return context.WithValue(ctx, key{}, p), func() {
		if !p.kept.Swap(true) {
			release()
		}
	}
}

// Keep keeps the place of a request, and gives what gives it up. Without a place, or where it is kept already, that does
// nothing. It may be called by any goroutine.
func Keep(ctx context.Context) (release func()) {
	p, ok := ctx.Value(key{}).(*place)
	if !ok || p.kept.Swap(true) {
		return func() {}
	}
	return p.release
}
