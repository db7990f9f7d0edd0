package store

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// ImportedPrefix begins the names of the resources that mark imported tasks.
const ImportedPrefix = "pawl.imported/"

// Imported marks a task that came out of another store and took from resources there, or may have: they are not imported, so somebody
// has to count here what it took. Import writes the mark with the task, as the resource [ImportedResource]; whoever counts swaps it in the
// commit that counts. Until then the task is neither pruned nor erased ([ErrUncounted]): its history is all that tells. The zero Imported
// is that of a task that brought nothing, or was never imported.
type Imported struct {
	Tip     Tip  // with which it was imported
	Parts   int  // how much of what it took up to there is in this store's resources, where that takes several commits
	Counted bool // all of it is
}

// ImportedResource is the name of a task's mark.
func ImportedResource(task string) string { return ImportedPrefix + task }

// importedMark is an Imported as it is stored.
type importedMark struct {
	Version uint64  `json:"version"`
	Hash    hexHash `json:"hash"`
	Parts   int     `json:"parts,omitempty"`
	Counted bool    `json:"counted"`
}

// Encode is the value of the mark.
func (i Imported) Encode() []byte {
	b, err := json.Marshal(importedMark{i.Tip.Version, i.Tip.Hash, i.Parts, i.Counted})
	if err != nil {
		panic(fmt.Sprintf("store: a mark does not encode: %v", err)) // four plain fields always do
	}
	return b
}

// ReadImported reads the value of a mark; no bytes are the zero Imported. ErrCorrupt if they are no mark.
func ReadImported(value []byte) (Imported, error) {
	if len(value) == 0 {
		return Imported{}, nil
	}
	var m importedMark
	d := json.NewDecoder(bytes.NewReader(value))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil || m.Version == 0 || m.Parts < 0 {
		return Imported{}, fmt.Errorf("the mark of an imported task: %w", ErrCorrupt)
	}
	return Imported{Tip{m.Version, m.Hash}, m.Parts, m.Counted}, nil
}

// Uncounted tells whether the task took something that is not counted here.
func (i Imported) Uncounted() bool { return i.Tip.Version > 0 && !i.Counted }
