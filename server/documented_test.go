package server_test

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/parlance-llm/parlance/server/config"
)

// page is docs/server.md.
func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../docs/server.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestDocumentedFlagsExist: each flag that the page of the server names is a flag of serve.
func TestDocumentedFlagsExist(t *testing.T) {
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	config.Register(flags)
	named := regexp.MustCompile("`--([a-z-]+)").FindAllStringSubmatch(page(t), -1)
	for _, m := range named {
		if flags.Lookup(m[1]) == nil {
			t.Errorf("the page names --%s, which serve does not know", m[1])
		}
	}
	if len(named) < 20 {
		t.Errorf("only %d flags were found", len(named))
	}
}

// TestDocumentedRoutes: each route that the page lists is there, and each that is there is listed.
func TestDocumentedRoutes(t *testing.T) {
	url := serve(t, "--playground", "--enable-tokenizer-info-endpoint")
	var listed []string
	for _, m := range regexp.MustCompile("`(GET|POST|DELETE) (/[^`]*)`").FindAllStringSubmatch(page(t), -1) {
		path, _, _ := strings.Cut(m[2], "?")
		if route := m[1] + " " + path; !slices.Contains(listed, route) {
			listed = append(listed, route)
		}
	}
	for _, route := range listed {
		method, path, _ := strings.Cut(route, " ")
		path = strings.NewReplacer("{id}", "x", "{model}", "qwen3-8b").Replace(path)
		request, err := http.NewRequest(method, url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		var body [64]byte
		n, _ := answer.Body.Read(body[:])
		answer.Body.Close()
		// What no route is for has this body; what a route answers of what it does not have has another.
		if unknown := fmt.Sprintf(`{"detail":%q}`, http.StatusText(answer.StatusCode)); string(body[:n]) == unknown {
			t.Errorf("%s: %s", route, answer.Status)
		}
	}
	there := 0
	for _, file := range []string{"routes.go", "operational.go", "docs.go"} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`"((?:GET|POST|DELETE) /[^"]*)"`).FindAllStringSubmatch(string(source), -1) {
			there++
			route := strings.NewReplacer("...}", "}", "{$}", "").Replace(m[1])
			if !slices.Contains(listed, route) && !slices.Contains(listed, route+"/") {
				t.Errorf("the page does not list %s", route)
			}
		}
	}
	if there < 25 {
		t.Errorf("only %d routes were found", there)
	}
}
