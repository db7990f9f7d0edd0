// Package cli is the operator's and the agent's command line as a library. The program pawl is made of it, and so is, in ten
// lines, the tool of a service that has machines of its own:
//
//	func main() {
//		cli.Main(cli.Tool{Name: "desk", Machines: []machine.Definition{refund.Machine}})
//	}
//
// Commands that read work on the records of the store, so they also work for machines that are not compiled in. They work beside a
// service, too: when another process has the store open, they read through the socket that it offers (package holder). Commands
// that change something need the store for themselves, and say who holds it when they cannot have it.
//
// # Exit codes
//
//	0    done
//	1    failed: the disk, the network, or a fault of the program
//	2    used wrongly: a flag, an argument or an input file is malformed
//	3    not found: no such store, task, version, machine or key
//	4    refused: the rules of the machine do not allow it
//	5    conflict: it has changed meanwhile, or is there already; read again
//	6    locked: another process has the store open, and this needs the store itself
//	7    corrupt: stored bytes are damaged, or verify found something
//	8    newer: a later version of pawl wrote the store
//	9    uncertain: the change may have landed; read before trying again
//	130  interrupted
//
// Results go to standard output, everything else to standard error. With -o json or -o jsonl an error is one line of JSON as well:
// {"error":{"code":"not_found","exit":3,"text":"..."}}.
package cli
