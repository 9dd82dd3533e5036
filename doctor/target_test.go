package doctor_test

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/parlance-llm/parlance/doctor"
)

// TestOddServers: what is no server of models, or none that answers, is told as what it is.
func TestOddServers(t *testing.T) {
	says := func(status int, kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	models := func(list, rest string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			switch {
			case r.URL.Path == "/v1/models":
				_, _ = io.WriteString(w, list)
			case rest != "" && r.Method == http.MethodPost && r.URL.Path == "/v1/chat/completions":
				_, _ = io.WriteString(w, rest)
			default:
				w.WriteHeader(http.StatusNotFound)
			}
		}
	}
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		key     string
		want    string
	}{
		"404 everywhere":   {says(404, "application/json", `{"detail":"Not Found"}`), "", "none of the servers that are known (no /v1/models): --engine tells"},
		"404 pages":        {says(404, "text/html", "<h1>Not Found</h1>"), "", "none of the servers that are known"},
		"a web page":       {says(200, "text/html; charset=utf-8", "<html>Welcome</html>"), "", "expected a JSON object with a list of models, found text/html"},
		"nothing":          {says(200, "application/json", ""), "", "found nothing"},
		"loading":          {says(503, "application/json", `{"error":{"message":"Loading model"}}`), "", "answers with status 503: Loading model"},
		"broken":           {says(500, "text/plain", "oh no"), "", "answers with status 500: oh no"},
		"a broken page":    {says(502, "text/html", "<html>Bad Gateway</html>"), "", "answers with status 502"},
		"a key is missing": {says(401, "application/json", `{"error":{"message":"Incorrect API key provided"}}`), "", "status 401: Incorrect API key provided: --api-key gives the key"},
		"the wrong key":    {says(401, "application/json", `{"error":{"message":"Incorrect API key provided"}}`), "k", "refuses the key that --api-key gives: status 401: Incorrect API key"},
		"no models":        {models(`{"object":"list","data":[]}`, ""), "", "its list is empty"},
		"null models":      {models(`{"object":"list","data":null}`, ""), "", "its list is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(test.handler)
			defer server.Close()
			if _, err := doctor.Examine(context.Background(), doctor.Options{URL: server.URL, APIKey: test.key}); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("expected %q, found %v", test.want, err)
			}
		})
	}
	for name, test := range map[string]struct{ answer, want string }{
		"no chat route": {"", "(status 404): (without a message)"},
		"an error, 200": {`{"error":{"message":"upstream failed"}}`, "upstream failed"},
		"no choices":    {`{"object":"chat.completion","choices":[]}`, "no choice"},
		"no JSON":       {`<html>`, "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(models(`{"object":"list","data":[{"id":"m"}]}`, test.answer))
			defer server.Close()
			r := examine(t, doctor.Options{URL: server.URL})
			if !r.Wrong() || r.Findings[0].Code != "refused" || !strings.Contains(r.Findings[0].Says, test.want) {
				t.Errorf("expected %q, found %+v", test.want, r.Findings)
			}
		})
	}
}

// TestTransport: a server that speaks otherwise than the address says.
func TestTransport(t *testing.T) {
	quiet := log.New(io.Discard, "", 0)
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = quiet
	secure.StartTLS()
	defer secure.Close()
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	for url, want := range map[string]string{
		strings.Replace(plain.URL, "http:", "https:", 1): "speaks http, not https",
		secure.URL: "is not trusted (the environment variable SSL_CERT_FILE",
		strings.Replace(secure.URL, "https:", "http:", 1): "HTTPS server",
		closed.URL:       "nothing answers at",
		"localhost:8000": "expected an address like",
	} {
		if _, err := doctor.Examine(context.Background(), doctor.Options{URL: url}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: expected %q, found %v", url, want, err)
		}
	}
}
