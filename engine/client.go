package engine

import (
	"bytes"
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/parlance-llm/parlance/internal/explain"
)

// routeLimit bounds what is read of an answer that is no stream, in bytes.
const routeLimit = 64 << 20

// client speaks HTTP with one engine's server.
type client struct {
	engine string
	// base is the address of the server, api that of its OpenAI interface, both without a slash at the end.
	base, api string
	options   Options
	http      *http.Client

	mutex  sync.Mutex
	models []Model // what listModels found
}

func newClient(engine string, o Options) (*client, error) {
	address, err := url.Parse(o.URL)
	if err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https" {
		return nil, fmt.Errorf("engine %s: expected an address like http://127.0.0.1:8000, found %q", engine, o.URL)
	}
	path := strings.TrimRight(address.Path, "/")
	address.RawQuery, address.Fragment = "", ""
	c := &client{engine: engine, options: o}
	address.Path = path
	if path == "" {
		address.Path = "/v1"
	}
	c.api = address.String()
	address.Path = strings.TrimSuffix(path, "/v1")
	c.base = address.String()
	transport := o.Transport
	if transport == nil {
		transport = &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: max(o.ConnectTimeout, 0), KeepAlive: 15 * time.Second}).DialContext,
			TLSHandshakeTimeout: max(o.ConnectTimeout, 0),
			// Engines close a connection that has been idle for about 5 s; one that is reused at that moment fails.
			IdleConnTimeout:     4 * time.Second,
			MaxIdleConns:        1024,
			MaxIdleConnsPerHost: 1024,
			DisableCompression:  true,
		}
	}
	c.http = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return c, nil
}

func (c *client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// send sends a request. body is JSON, or nothing for a GET. The answer is one with status 200; its body is the caller's.
func (c *client) send(ctx context.Context, op, address string, body []byte) (*http.Response, error) {
	method := http.MethodGet
	var reader io.Reader
	if body != nil {
		method, reader = http.MethodPost, bytes.NewReader(body)
	}
	request, err := http.NewRequestWithContext(ctx, method, address, reader)
	if err != nil {
		return nil, &Error{Kind: Unreachable, Engine: c.engine, Op: op, Err: err}
	}
	for name, values := range c.options.Header {
		request.Header[name] = values
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.options.APIKey != "" {
		request.Header.Set("Authorization", "Bearer "+c.options.APIKey)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, c.transportError(ctx, op, err, false)
	}
	if response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		data, _ := io.ReadAll(io.LimitReader(response.Body, 64<<10))
		return nil, c.statusError(op, response, data)
	}
	return response, nil
}

// call asks a route that answers at once and reads its answer into out, if that is not nil. It is tried again as Generate is.
func (c *client) call(ctx context.Context, op, address string, in, out any) error {
	ctx, cancel := context.WithTimeoutCause(ctx, bound(c.options.RouteTimeout), errTooSlow)
	defer cancel()
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in, json.Deterministic(true), lenient); err != nil {
			return &Error{Kind: Refused, Engine: c.engine, Op: op, Err: err}
		}
	}
	return c.retry(ctx, op, func() error {
		response, err := c.send(ctx, op, address, body)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		data, err := io.ReadAll(io.LimitReader(response.Body, routeLimit))
		if err != nil {
			return c.transportError(ctx, op, err, false)
		}
		if out == nil {
			return nil
		}
		if err := json.Unmarshal(data, out, lenient); err != nil {
			return &Error{Kind: Broken, Engine: c.engine, Op: op, Message: "the answer is not what it should be: " + explain.Error(err).Error(), Err: err}
		}
		return nil
	})
}

// retry tries until it goes well, or fails for a reason that another try does not mend, or often enough.
func (c *client) retry(ctx context.Context, op string, try func() error) error {
	delay := c.options.RetryDelay
	for n := 0; ; n++ {
		err := try()
		var failed *Error
		if err == nil || !errors.As(err, &failed) || failed.Started || failed.Kind != Overloaded && failed.Kind != Unreachable || n >= c.options.Retries {
			return err
		}
		wait := delay
		if failed.RetryAfter > 0 {
			wait = failed.RetryAfter
		}
		wait = min(wait, c.options.MaxRetryDelay)
		c.options.Logger.WarnContext(ctx, "engine asked again", "engine", c.engine, "op", op, "kind", failed.Kind.String(), "status", failed.Status, "wait", wait)
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return c.transportError(ctx, op, ctx.Err(), false)
		}
		delay *= 2
	}
}

// errTooSlow is the cause of a context that one of the options' timeouts has ended.
var errTooSlow = errors.New("the engine took too long")

// transportError says what an error of the connection means.
func (c *client) transportError(ctx context.Context, op string, err error, started bool) *Error {
	failed := &Error{Kind: Unreachable, Engine: c.engine, Op: op, Started: started, Err: err}
	switch {
	case errors.Is(context.Cause(ctx), errTooSlow):
		failed.Kind, failed.Message = TimedOut, errTooSlow.Error()
	case ctx.Err() != nil:
		failed.Kind, failed.Err = Canceled, context.Cause(ctx)
		if !errors.Is(failed.Err, ctx.Err()) {
			failed.Err = ctx.Err()
		}
	case started:
		failed.Kind = Broken
	}
	if failed.Message == "" && errors.Is(err, io.ErrUnexpectedEOF) {
		failed.Message = "the connection broke off"
	}
	return failed
}

// statusError reads the error of an answer whose status is not 200.
func (c *client) statusError(op string, response *http.Response, data []byte) *Error {
	failed := &Error{Engine: c.engine, Op: op, Message: strings.TrimSpace(http.StatusText(response.StatusCode))}
	failed.read(data)
	failed.Status = response.StatusCode
	failed.Kind = kindOf(response.StatusCode)
	if response.StatusCode < 400 {
		failed.Kind, failed.Message = Broken, fmt.Sprintf("expected status 200, found %d", response.StatusCode)
	}
	if response.StatusCode == http.StatusNotFound && slices.Contains(unknownRoute, failed.Message) {
		failed.Kind = Unsupported
		failed.Message = fmt.Sprintf("the engine has no route %s: it may be of another kind than %s, or too old", response.Request.URL.Path, c.engine)
	}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 {
		failed.RetryAfter = time.Duration(seconds) * time.Second
	}
	return failed
}

// unknownRoute is what servers say of a route that they do not have: those made with FastAPI, or nothing; llama.cpp's; those
// made in Go. A model that is not there, which has the same status, is told in other words.
var unknownRoute = []string{"Not Found", "File Not Found", "404 page not found"}

// listModels asks GET /v1/models.
func (c *client) listModels(ctx context.Context) ([]Model, error) {
	var answer struct {
		Data []struct {
			ID          string `json:"id"`
			Created     int64  `json:"created"`
			OwnedBy     string `json:"owned_by"`
			Root        string `json:"root"`
			Parent      string `json:"parent"`
			MaxModelLen int    `json:"max_model_len"`
		} `json:"data"`
	}
	if err := c.call(ctx, "models", c.api+"/models", nil, &answer); err != nil {
		return nil, err
	}
	var models []Model
	for _, m := range answer.Data {
		models = append(models, Model{ID: m.ID, MaxTokens: m.MaxModelLen, Root: m.Root, Parent: m.Parent, Created: m.Created, OwnedBy: m.OwnedBy})
	}
	return c.keepModels(models), nil
}

// keepModels puts the model that answers by default first, and remembers them all.
func (c *client) keepModels(models []Model) []Model {
	for i, model := range models {
		if model.ID == c.options.Model {
			copy(models[1:i+1], models[:i])
			models[0] = model
		}
	}
	c.mutex.Lock()
	c.models = models
	c.mutex.Unlock()
	return models
}

// model gives what is known of a model, the first one for "". The list is asked for once, by means of list.
func (c *client) model(ctx context.Context, name string, list func(context.Context) ([]Model, error)) (Model, error) {
	if name == "" {
		name = c.options.Model
	}
	c.mutex.Lock()
	models := c.models
	c.mutex.Unlock()
	if models == nil {
		var err error
		if models, err = list(ctx); err != nil {
			return Model{}, err
		}
	}
	for _, model := range models {
		if model.ID == name || name == "" {
			return model, nil
		}
	}
	if name == "" {
		return Model{}, &Error{Kind: Broken, Engine: c.engine, Op: "models", Message: "the engine serves no model"}
	}
	// The list may be older than the model; the engine knows best.
	return Model{ID: name}, nil
}

// modelName is the name to send for a request's model; it asks the engine only if nobody has named one.
func (c *client) modelName(ctx context.Context, name string, list func(context.Context) ([]Model, error)) (string, error) {
	if name != "" {
		return name, nil
	}
	if c.options.Model != "" {
		return c.options.Model, nil
	}
	model, err := c.model(ctx, "", list)
	return model.ID, err
}

// bound is a timeout of the options; less than zero means none.
func bound(d time.Duration) time.Duration {
	if d < 0 {
		return math.MaxInt64
	}
	return d
}
