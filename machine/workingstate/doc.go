// Package workingstate is the built-in machine of an agent's working state: one authoritative table of the rules and
// commitments that hold now, and the note that one wake-up leaves for the next. It is an ordinary machine: the same
// commits, history, compare-and-set, evidence and projections. One task belongs to one agent, see [TaskID].
//
// What it holds is a claim of the agent's, never a fact. It may forbid and narrow; it triggers only what another machine
// declares that it may, with amounts from facts. [ReadNow] reads one key as a value for such a machine.
//
// [Agent] is what a tool server, a command line or a service uses. [Layout] renders what is put at the end of every
// prompt. The rules are those of the working-state specification; the case numbers in comments are its vectors.
package workingstate
