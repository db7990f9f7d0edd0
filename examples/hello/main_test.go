package main

// The README shows this program with this output.
func Example() {
	main()
	// Output:
	// needs_evidence at version 1, waiting; tests_green: unknown: needs tests_green(deploy_7); permitted: ship
	// committed as version 2, waiting
	// committed as version 3, shipped
}
