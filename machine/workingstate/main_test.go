package workingstate_test

import "flag"

// update rewrites the files of testdata; machinetest declares it when it is linked in.
func init() {
	if flag.Lookup("update") == nil {
		flag.Bool("update", false, "rewrite the files in testdata")
	}
}
