// Airline puts recorded conversations with customers of an airline through the airline's desk: go run ./examples/airline replays the
// few that come with it, and -data DIR those of the public benchmarks; see the README.
package main

import (
	"context"
	"embed"
	"io/fs"
	"log"
	"os"

	"github.com/pawlgo/pawl/examples/replay"
)

//go:embed testdata
var testdata embed.FS

func main() {
	small, err := fs.Sub(testdata, "testdata")
	if err != nil {
		log.Fatal(err)
	}
	os.Exit(replay.Main(context.Background(), domain, os.Args[1:], small, os.Stdout, os.Stderr))
}
