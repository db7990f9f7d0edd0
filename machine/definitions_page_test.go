package machine_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDefinitionsPage: each line of Go, and of output, on docs/definitions.md stands in the examples that are compiled and run.
func TestDefinitionsPage(t *testing.T) {
	page, err := os.ReadFile("../docs/definitions.md")
	require.NoError(t, err)
	code, err := os.ReadFile("example_definitions_test.go")
	require.NoError(t, err)
	text := strings.ReplaceAll(string(code), "\t// ", "")
	blocks := strings.Split(string(page), "```")
	require.Greater(t, len(blocks), 20)
	for i := 1; i < len(blocks); i += 2 {
		block := strings.TrimPrefix(strings.TrimPrefix(blocks[i], "go"), "\n")
		require.Contains(t, text, block, "on docs/definitions.md, and not in the examples")
	}
}
