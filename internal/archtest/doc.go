// Package archtest holds the architecture of this module as a test: who may import whom, and the few rules of
// style that a reader relies on and that no linter checks.
//
// It parses the files itself. A test that asks `go list` stays green from the test cache after a forbidden
// import was added, because the cache sees only the files that the test process opens.
//
// The import rules are in table.go. Everything that breaks a rule is reported at once, with its place and with
// what to do instead. Run it with: go test ./internal/archtest
package archtest
