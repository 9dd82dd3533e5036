package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/parlance-llm/parlance/server/apierror"
)

// Run serves until ctx ends. Then it takes no more connections, tells /ready so, and waits until the answers that are
// under way have ended, no longer than the configuration says; what is still under way then is ended with an error event.
// opened is told the address once the port is open.
func (s *Server) Run(ctx context.Context, opened func(address string)) error {
	listener, err := s.listen()
	if err != nil {
		return err
	}
	base, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cut(nil)
	httpServer := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: s.config.ReadHeaderTimeout, IdleTimeout: idleTimeout, BaseContext: func(net.Listener) context.Context { return base },
		ErrorLog: slog.NewLogLogger(s.logger.Handler(), slog.LevelWarn),
	}
	done := make(chan error, 1)
	go func() { done <- httpServer.Serve(listener) }()
	go s.responses.Keep(base, s.config.ResponsesRetention)
	if opened != nil {
		opened(listener.Addr().String())
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	s.draining.Store(true)
	s.logger.Info("draining", "timeout", s.config.DrainTimeout.String())
	patience, stop := context.WithTimeout(context.Background(), s.config.DrainTimeout)
	defer stop()
	err = httpServer.Shutdown(patience)
	if errors.Is(err, context.DeadlineExceeded) {
		s.responses.Close(patience) // before those are cut who follow what is made in the background: they are told its end
		cut(apierror.New(apierror.Overloaded, "", "The server is shutting down"))
		last, stop := context.WithTimeout(context.Background(), 2*time.Second)
		defer stop()
		if err = httpServer.Shutdown(last); err != nil {
			err = httpServer.Close()
		}
	}
	<-done
	s.responses.Close(patience)
	if s.store != nil {
		err = errors.Join(err, s.store.Close())
	}
	last, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if lost := s.tracer.Close(last); lost != nil {
		s.logger.Warn("spans are lost", "error", lost) // a collector that is gone is no failure of the server
	}
	return errors.Join(err, s.engine.Close())
}

// idleTimeout is how long a connection is kept on which no request comes: longer than load balancers keep theirs, a
// minute as a rule, so that it is they who close it and no request is lost on the way.
const idleTimeout = 2 * time.Minute

// listen opens the port, or the socket.
func (s *Server) listen() (net.Listener, error) {
	c := s.config
	settings, err := s.tls()
	if err != nil {
		return nil, err
	}
	network, address := "tcp", net.JoinHostPort(c.Host, strconv.Itoa(c.Port))
	if c.UDS != "" {
		network, address = "unix", c.UDS
	}
	listener, err := net.Listen(network, address)
	if err != nil || settings == nil {
		return listener, err
	}
	return tls.NewListener(listener, settings), nil
}

// tls is nil where the server speaks plain HTTP.
func (s *Server) tls() (*tls.Config, error) {
	c := s.config
	if c.SSLCert == "" {
		return nil, nil
	}
	certificate, err := tls.LoadX509KeyPair(c.SSLCert, c.SSLKey)
	if err != nil {
		return nil, fmt.Errorf("--ssl-certfile: %w", err)
	}
	settings := &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"http/1.1"}}
	if c.SSLClientCAs != "" {
		data, err := os.ReadFile(c.SSLClientCAs)
		if err != nil {
			return nil, fmt.Errorf("--ssl-ca-certs: %w", err)
		}
		settings.ClientCAs = x509.NewCertPool()
		if !settings.ClientCAs.AppendCertsFromPEM(data) {
			return nil, fmt.Errorf("--ssl-ca-certs: expected certificates in %s, found none", c.SSLClientCAs)
		}
		settings.ClientAuth = [...]tls.ClientAuthType{tls.NoClientCert, tls.VerifyClientCertIfGiven, tls.RequireAndVerifyClientCert}[c.SSLCertReqs]
	}
	return settings, nil
}
