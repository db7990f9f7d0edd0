package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"

	"github.com/pawlgo/pawl/machine"
)

// missingProgram is run by the go tool, from the sources that pawl belongs to.
const missingProgram = "github.com/pawlgo/pawl/cmd/pawl/tabletest"

// missing writes the rows that a table still needs. Whoever writes tables has the go tool and stands in a module that knows pawl;
// nobody else's binary needs the test libraries that come with them.
func missing(d machine.Definition, path string) (string, error) {
	if _, err := os.Stat(path); err != nil {
		return "", err
	}
	var out, errs bytes.Buffer
	c := exec.Command("go", "run", missingProgram, d.Name(), path)
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("tables are read by the go tool, which is not there: %v", err)
	case err != nil:
		return "", errors.New(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(errs.String()), "exit status 1")))
	}
	return out.String(), nil
}
