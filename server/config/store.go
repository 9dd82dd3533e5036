package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parlance-llm/parlance/server/store"
)

// OpenStore opens the store of responses; nil where none is wanted. Without a path SQLite's file lies where the XDG base
// directory specification puts the state of programs.
func (c *Config) OpenStore() (store.Store, error) {
	address := c.ResponsesAddress
	if address == "none" || !c.ResponsesStore {
		return nil, nil
	}
	if address == "sqlite" {
		folder := os.Getenv("XDG_STATE_HOME")
		if folder == "" {
			home, err := os.UserHomeDir()
			if err != nil {
				return nil, errorf(valueError, "--responses-store: there is no folder for the file: %v. Name one (sqlite:PATH), or use memory or none", err)
			}
			folder = filepath.Join(home, ".local", "state")
		}
		address = "sqlite:" + filepath.Join(folder, "parlance", "responses.db")
	}
	if !slices.ContainsFunc([]string{"sqlite:", "postgres://", "postgresql://"}, func(kind string) bool { return strings.HasPrefix(address, kind) }) && address != "memory" {
		return nil, errorf(valueError, "--responses-store: expected sqlite, sqlite:PATH, postgres://…, memory or none, found %q", address)
	}
	s, err := store.Open(address)
	if err != nil {
		return nil, errorf(valueError, "--responses-store: %v", err)
	}
	return s, nil
}
