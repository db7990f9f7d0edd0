package canon

import "unicode"

// fold gives keys that encoding/json would take for one another the same text: Unicode simple
// folding, with ASCII letters in lower case so that the usual key is its own folding.
func fold(key string) string {
	if folded(key) {
		return key
	}
	out := make([]rune, 0, len(key))
	for _, r := range key {
		out = append(out, foldRune(r))
	}
	return string(out)
}

func folded(key string) bool {
	for i := range len(key) {
		if c := key[i]; c >= 0x80 || 'A' <= c && c <= 'Z' {
			return false
		}
	}
	return true
}

func foldRune(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	if 'A' <= least && least <= 'Z' {
		return least + 'a' - 'A'
	}
	return least
}

// keySet holds the keys of one object.
type keySet struct {
	few  []foldedKey
	many map[string]string // folded to key, once there are more than fewKeys
}

type foldedKey struct{ folded, key string }

const fewKeys = 16

// add returns the code of the fault if the key is there already, or a case variant of it.
func (s *keySet) add(key string) (code string) {
	f := fold(key)
	if former, ok := s.find(f); ok {
		if former == key {
			return CodeDuplicateKey
		}
		return CodeCaseVariantKey
	}
	if len(s.few) < fewKeys {
		s.few = append(s.few, foldedKey{f, key})
		return ""
	}
	if s.many == nil {
		s.many = map[string]string{}
	}
	s.many[f] = key
	return ""
}

func (s *keySet) find(f string) (string, bool) {
	for _, k := range s.few {
		if k.folded == f {
			return k.key, true
		}
	}
	key, ok := s.many[f]
	return key, ok
}
