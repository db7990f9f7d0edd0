package projection

import "github.com/rivo/uniseg"

// cutText is the longest beginning of s of at most n bytes that ends where a user-perceived character ends. A character
// that is longer than n by itself is left out.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	const ahead = 256 // enough to see that a character goes on; a longer one is left out
	window := s[:min(len(s), n+ahead)]
	rest, state, end := window, -1, 0
	for len(rest) > 0 {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if end+len(cluster) > n {
			break
		}
		end += len(cluster)
	}
	return s[:end]
}
