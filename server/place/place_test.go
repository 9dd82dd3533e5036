package place_test

import (
	"testing"

	"github.com/parlance-llm/parlance/server/place"
)

func TestPlaces(t *testing.T) {
	free := 0
	_, done := place.With(t.Context(), func() { free++ })
	if done(); free != 1 {
		t.Errorf("given up %d times by the server, expected once", free)
	}
	ctx, done := place.With(t.Context(), func() { free++ })
	release := place.Keep(ctx)
	place.Keep(ctx)()
	if done(); free != 1 {
		t.Error("a place that is kept was given up")
	}
	if release(); free != 2 {
		t.Error("a place was not given up")
	}
	place.Keep(t.Context())()
}
