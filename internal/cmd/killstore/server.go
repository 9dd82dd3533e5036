package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"syscall"
	"time"
)

// server is a running server.
type server struct {
	command *exec.Cmd
	url     string
}

func startServer(ctx context.Context, binary, replay, store string) (*server, error) {
	command := exec.CommandContext(ctx, binary, "serve", "--host", "127.0.0.1", "--port", "0", "--log-format", "json", "--replay", replay, "--responses-store", store)
	log, err := command.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	addresses := make(chan string, 1)
	go func() { // to the end, so that the server can go on writing
		lines := bufio.NewScanner(log)
		for lines.Scan() {
			var line struct{ Address string }
			if json.Unmarshal(lines.Bytes(), &line, json.MatchCaseInsensitiveNames(true)) == nil && line.Address != "" {
				select {
				case addresses <- line.Address:
				default:
				}
			}
		}
	}()
	select {
	case address := <-addresses:
		return &server{command, "http://" + address}, nil
	case <-time.After(20 * time.Second):
		s := &server{command: command}
		return nil, errors.Join(errors.New("the server does not start"), s.kill())
	}
}

// kill ends the server at once, as kill -9 does.
func (s *server) kill() error {
	if err := s.command.Process.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	var exit *exec.ExitError
	if err := s.command.Wait(); !errors.As(err, &exit) {
		return fmt.Errorf("the server was to be killed, and ended: %v", err)
	}
	return nil
}

// call gives the body of an answer; the error is of any status but 200.
func (s *server) call(ctx context.Context, method, path string, request any) ([]byte, error) {
	var body io.Reader
	if request != nil {
		data, err := json.Marshal(request)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(data)
	}
	r, err := http.NewRequestWithContext(ctx, method, s.url+path, body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: status %d: %s", method, path, answer.StatusCode, data)
	}
	return data, err
}
