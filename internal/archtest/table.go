package archtest

import "strings"

// Module is the path of the module whose rules these are.
const Module = "github.com/pawlgo/pawl"

// Modules that the rules name. An import path belongs to the one it equals or continues after a slash.
const (
	cobra     = "github.com/spf13/cobra"
	mcpSDK    = "github.com/modelcontextprotocol/go-sdk"
	otel      = "go.opentelemetry.io/otel"
	openai    = "github.com/openai/openai-go"
	schemas   = "github.com/google/jsonschema-go"
	pebble    = "github.com/cockroachdb/pebble/v2"
	pflag     = "github.com/spf13/pflag"
	pretty    = "github.com/jedib0t/go-pretty/v6"
	stateless = "github.com/qmuntal/stateless"
	term      = "golang.org/x/term"
	uniseg    = "github.com/rivo/uniseg"
	validator = "github.com/go-playground/validator/v10"
)

// row says what the shipped files of a package may import beyond the standard library.
type row struct {
	pkg     string   // a path in the module, "." for its root; "x/..." is x and everything below
	may     []string // paths in the module, or the paths of other modules
	family  bool     // also what lies below the same first two path elements
	any     bool     // no limit
	instead string   // what to do instead of adding an import
}

var (
	machinery = []string{"internal/canon", "internal/clock", "internal/engine", "internal/visible"}
	public    = []string{"guard", "machine", "machine/workingstate", "machine/workingstate/files", "context", "store", "store/pebblestore", "store/personal",
		"resume", "resume/cumulative", "resume/httpeffect", "resume/telemetry"}
)

// table is read from the top; the first row that matches a package holds. A package without a row is a fault.
// Test files and test packages are exempt: see testPackage, shipped.
var table = []row{
	{pkg: "internal/canon", instead: "canonical encoding stands on the standard library alone; take what is needed as an argument"},
	{pkg: "internal/visible", instead: "it writes text on the standard library alone; take what is needed as an argument"},
	{pkg: "internal/clock", instead: "the clock stands on the standard library alone; take what is needed as an argument"},
	{pkg: "guard", may: []string{validator, "internal/canon"},
		instead: "a guard judges the scene it is handed; move what knows tasks, stores or models up into machine or resume"},
	{pkg: "internal/engine", may: []string{stateless},
		instead: "the engine only wraps stateless; pass values in from machine"},
	{pkg: "machine", may: join(machinery, "guard"),
		instead: "the step is pure: return an offer, an effect or a timer as data and let resume act on it"},
	{pkg: "context", may: []string{"machine", "guard", "internal/canon", uniseg},
		instead: "a projection reads the snapshot it is given; let resume load it and pass it in"},
	{pkg: "machine/workingstate", may: []string{"machine", "guard", "context"},
		instead: "take a small interface, as its Committer is, and let the caller pass a controller in"},
	{pkg: "machine/workingstate/files", may: []string{"machine", "guard", "machine/workingstate"},
		instead: "the files are a copy that people read: take the committer, and leave what is true to the store"},
	{pkg: "store", may: []string{"internal/canon"},
		instead: "a store holds bytes and versions and knows no machine; encode in resume and pass bytes down"},
	{pkg: "store/personal", may: []string{"store"},
		instead: "it wraps any store and knows no machine: what is personal is named by the program"},
	{pkg: "store/pebblestore", may: []string{"store", pebble},
		instead: "what every store needs belongs into store; what only a controller knows stays in resume"},
	{pkg: "resume", may: join(machinery, "machine", "guard", "context", "store"),
		instead: "the controller takes a store.Store, observers and handlers; let the program choose and pass the implementation"},
	{pkg: "resume/telemetry", may: []string{"resume", otel},
		instead: "it hands the controller's signals to the API of OpenTelemetry; an SDK is the program's to choose"},
	{pkg: "resume/cumulative", may: []string{"machine"},
		instead: "it tells what a figure means; what follows from that is the controller's"},
	{pkg: "resume/httpeffect", may: []string{"machine"},
		instead: "it tells what an answer means; what follows from that is the controller's"},
	{pkg: "examples/refund/model", may: join(public, openai), family: true,
		instead: "an example uses the public packages as a stranger would; declare a dependency it really shows in this table"},
	{pkg: "examples/retail/...", may: join(public, "examples/replay", "examples/replay/replaytest", "examples/usd"), family: true,
		instead: "the retail desk shares its replay runner and its money with the airline's, and nothing else"},
	{pkg: "examples/airline/...", may: join(public, "examples/replay", "examples/replay/replaytest", "examples/usd"), family: true,
		instead: "the airline's desk shares its replay runner and its money with the retail desk, and nothing else"},
	{pkg: "examples/trading/...", may: join(public, "examples/child"), family: true,
		instead: "the trading desk shares with the refund desk how a part of it runs as a process of its own, and nothing else"},
	{pkg: "examples/refund/...", may: join(public, "examples/child"), family: true,
		instead: "the refund desk shares with the trading desk how a part of it runs as a process of its own, and nothing else"},
	{pkg: "examples/...", may: public, family: true,
		instead: "an example uses the public packages as a stranger would; put a model client into a model package of its own"},
	{pkg: "cmd/pawl/mcp/command", may: join(public, "cmd/pawl/cli", "cmd/pawl/mcp", cobra),
		instead: "the command only reads flags; what a service needs as well belongs into cmd/pawl/mcp"},
	{pkg: "cmd/pawl/mcp", may: join(public, mcpSDK, schemas),
		instead: "a service serves its own machines with this package: it takes a controller and knows no command line"},
	{pkg: "cmd/pawl/holder", may: []string{"store"},
		instead: "a service links this package beside its store: keep the command line, and all that it needs, out of it"},
	{pkg: "cmd/pawl/cli", may: join(public, "cmd/pawl/holder", cobra, pflag, pretty, term),
		instead: "a service builds its own tool with this package: what brings a server or a provider comes in through Tool.Commands"},
	{pkg: "cmd/pawl", may: join(public, cobra), family: true,
		instead: "the program only says of which parts it is made; put what it does into cmd/pawl/cli"},
	{pkg: "cmd/...", may: public, family: true,
		instead: "a command uses the public packages as a stranger would; declare a dependency it really needs in this table"},
	{pkg: "internal/sim/...", any: true},
	{pkg: "internal/bench/...", any: true},
	{pkg: "internal/archtest", any: true},
	{pkg: ".", instead: "the root of the module holds documentation and its tests only"},
}

// documented packages need a comment on every exported symbol: the public ones, with their test packages.
var documented = join(public, "machine/machinetest", "store/storetest", "cmd/pawl/cli", "cmd/pawl/holder", "cmd/pawl/mcp")

// core packages never reach a heavy module, however many imports lie between.
var core = join(public, machinery...)

// heavy modules bring a client, a protocol or a provider with them.
var heavy = []string{
	openai,
	"github.com/anthropics/anthropic-sdk-go",
	"github.com/mark3labs/mcp-go",
	"github.com/modelcontextprotocol/go-sdk",
	cobra,
	pflag,
	pretty,
	term,
}

// testLibraries stay out of shipped code, where they would reach every user's binary.
var testLibraries = []string{
	"github.com/anishathalye/porcupine",
	"github.com/rogpeppe/go-internal",
	"github.com/stretchr/testify",
	"net/http/httptest",
	"pgregory.net/rapid",
	"testing",
}

// dependencyPage explains every module that ours imports.
const dependencyPage = "docs/dependencies.md"

// vagueNames say nothing about what a package holds.
var vagueNames = []string{"base", "common", "helper", "helpers", "misc", "shared", "util", "utils"}

// moneyWords in the name of a field or parameter mean an amount, which is never a float.
var moneyWords = []string{"amount", "balance", "minor", "money", "price", "total"}

// rowOf is the row that holds for a package.
func rowOf(pkg string) (row, bool) {
	for _, r := range table {
		tree, below := strings.CutSuffix(r.pkg, "/...")
		if pkg == tree || below && strings.HasPrefix(pkg, tree+"/") {
			return r, true
		}
	}
	return row{}, false
}

// allows tells whether the row lets pkg import a path that is not of the standard library.
func (r row) allows(pkg, imported string) bool {
	if r.any {
		return true
	}
	local, ours := inModule(imported)
	if ours && r.family && family(local) == family(pkg) {
		return true
	}
	for _, m := range r.may {
		if ours && m == local || !ours && within(imported, m) {
			return true
		}
	}
	return false
}

// testPackage tells whether a package exists for tests only, like store/storetest.
func testPackage(pkg string) bool {
	return strings.HasSuffix(pkg, "test") && pkg != "internal/archtest"
}

// tool packages serve the developers of this module and are never linked into anything of a user.
func tool(pkg string) bool {
	r, ok := rowOf(pkg)
	return ok && r.any
}

// within tells whether path is module or lies below it, in any major version.
func within(path, module string) bool {
	return path == module || strings.HasPrefix(path, module+"/")
}

// inModule is the path of one of our own packages, relative to the module.
func inModule(imported string) (string, bool) {
	if imported == Module {
		return ".", true
	}
	return strings.CutPrefix(imported, Module+"/")
}

// standard tells whether an import path is of the standard library: its first element has no dot.
func standard(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".") && imported != "C"
}

// family is the first two elements of a package's path.
func family(pkg string) string {
	parts := strings.SplitN(pkg, "/", 3)
	return strings.Join(parts[:min(2, len(parts))], "/")
}

func join(list []string, more ...string) []string {
	return append(append([]string(nil), list...), more...)
}
