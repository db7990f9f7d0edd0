package workingstate

// Codes of refusals, stable and stored (the specification, 3.5). Arguments of another JSON type are refused before, as
// [machine.CodeForm].
const (
	CodeUnknownAgent  = "unknown_agent"           // there is no such agent; for tools, see [ErrAgent]
	CodeBadKey        = "bad_key"                 // details: pattern, key
	CodeEmptyValue    = "empty_value"             // nothing is left of the value
	CodeReason        = "reason_required"         // nothing is left of the reason
	CodeTTL           = "ttl_out_of_range"        // details: min_seconds, max_hours
	CodeConflict      = "cas_conflict"            // details: current and current_version, or absent
	CodeKeyCap        = "key_cap"                 // details: cap, live, expired
	CodeKeyNotFound   = "key_not_found"           // details: key
	CodeNoteEmpty     = "note_empty"              // nothing is left of the note
	CodeStatusInvalid = "handoff_status_invalid"  // details: legal, received
	CodeStatusNeeded  = "handoff_status_required" // details: fields
	CodeTooLarge      = "handoff_too_large"       // details: bytes, cap, setting
	CodeRule          = "handoff_rule_violation"  // details: field, use
	CodeNoHandoff     = "handoff_not_found"       // there is no handoff to clear
	CodeProofNeeded   = "proof_required"          // complete must name a proof here
	CodeProofRefused  = "proof_refused"           // details: proof, verifier, says
	CodeNoVerifier    = "no_verifier"             // a proof is named, and nothing here could verify it
)
