package server_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestDocumentation: the documentation is served beside the playground, without a key, and only there.
func TestDocumentation(t *testing.T) {
	url := serve(t, "--playground", "--api-key", "secret")
	for _, path := range []string{"/docs", "/docs/", "/docs/formats", "/docs/formats/hermes"} {
		answer, err := http.Get(url + path)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK || !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/html") {
			t.Errorf("%s: %s", path, answer.Status)
		}
	}
	answer, err := http.Get(serve(t) + "/docs/")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusNotFound {
		t.Errorf("without --playground: %s", answer.Status)
	}
}
