package workingstate

import (
	"github.com/pawlgo/pawl/guard"
)

// ProofKind is the kind of thing that a proof is about: a test run, an entry of a ledger, named by its id there.
const ProofKind = "proof"

// Proof is what a verifier says about one id: whether it shows that work is done, and in words what it saw.
type Proof struct {
	Accepted bool   `json:"accepted"`
	Says     string `json:"says"`
}

// NewProof is the fact that a verifier evidences. It is observed for the commit that uses it, and kept in that commit's
// history only. Put it into [Options] and give the controller a resume.Pull of it.
func NewProof(verifier guard.Source) guard.Fact[Proof] {
	return guard.NewFact[Proof]("proof", verifier, guard.About(ProofKind), guard.Volatile())
}

// proven demands that complete names a proof which the verifier accepts.
func proven(fact guard.Fact[Proof]) func(Case[Handoff]) guard.Verdict {
	return func(c Case[Handoff]) guard.Verdict {
		id := opt(c.Payload.Proof)
		switch {
		case id == "" && Status(opt(c.Payload.Status)) != Complete:
			return guard.Allow()
		case id == "":
			return guard.Deny(CodeProofNeeded, "complete must name a proof that "+fact.Info().Source+" accepts")
		case len(id) > MaxProofID:
			return guard.Deny(CodeRule, "the id of a proof has at most 200 bytes").With("field", "proof").With("use", Complete)
		}
		if p, _ := fact.Of(id).Get(c); !p.Accepted {
			return guard.Deny(CodeProofRefused, "the verifier does not accept this proof").
				With("proof", id).With("verifier", fact.Info().Source).With("says", head(p.Says, MaxReason))
		}
		return guard.Allow()
	}
}

// unproven refuses a proof where nothing could verify it: it must not look like one.
func unproven(c Case[Handoff]) guard.Verdict {
	if c.Payload.Proof == nil {
		return guard.Allow()
	}
	return guard.Deny(CodeNoVerifier, "nothing here verifies proofs: say it in evidence, as a claim")
}
