package store

import (
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx
	_ "modernc.org/sqlite"             // the driver sqlite
)

// Open opens a store by its address:
//
//   - "sqlite:PATH", or a path alone: a file, which is made if it is not there, with the folder that it is in;
//   - "postgres://…" or "postgresql://…": a PostgreSQL database;
//   - "memory": nothing is kept when the process ends.
func Open(address string) (Store, error) {
	switch {
	case address == "memory":
		// One connection, since each would have a memory of its own.
		return openSQLite(":memory:", 1)
	case strings.HasPrefix(address, "postgres://"), strings.HasPrefix(address, "postgresql://"):
		db, err := sql.Open("pgx", address)
		if err != nil {
			return nil, fmt.Errorf("the store cannot be opened: %w", err)
		}
		return open(db)
	}
	path := strings.TrimPrefix(address, "sqlite:")
	if path == "" {
		return nil, fmt.Errorf("the store %q names no file: expected sqlite:PATH, postgres://… or memory", address)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("the store cannot be opened: %w", err)
	}
	// A connection that writes waits for the other; readers are not kept waiting.
	return openSQLite("file:"+(&url.URL{Path: path}).EscapedPath(), 8)
}

// openSQLite opens a database of SQLite's. Its log is written to the disk with every transaction, so that neither the end
// of the process nor that of the machine loses one.
func openSQLite(name string, connections int) (Store, error) {
	separator := "?"
	if strings.Contains(name, "?") {
		separator = "&"
	}
	db, err := sql.Open("sqlite", name+separator+"_txlock=immediate&_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return nil, fmt.Errorf("the store cannot be opened: %w", err)
	}
	db.SetMaxOpenConns(connections)
	if connections == 1 {
		db.SetConnMaxLifetime(0)
		db.SetMaxIdleConns(1)
	}
	return open(db)
}
