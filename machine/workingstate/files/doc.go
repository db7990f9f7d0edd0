// Package files keeps a copy of agents' working state in files that people read: working_state.json and
// working_state_history.jsonl, for each agent in DIR/AGENT/state. [Mirror] writes them after each commit; each file is replaced
// at once, and is either the old one or the new one, whatever crashes. The store stays the only truth: nobody reads the files
// back but an import, by [Read]. Files of that layout that other programs wrote load as well.
package files
