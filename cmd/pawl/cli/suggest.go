package cli

import (
	"strings"
)

// nearest adds to an error the name that was probably meant.
func nearest(err error, typed string, names []string) error {
	best, distance := "", 1+max(1, len([]rune(typed))/3)
	for _, n := range names {
		d := editDistance(typed, n)
		if len(typed) > 1 && strings.HasPrefix(n, typed) {
			d = min(d, 1)
		}
		if d < distance {
			best, distance = n, d
		}
	}
	if best == "" || best == typed {
		return err
	}
	return hint(err, "did you mean %s?", printable(best))
}

// editDistance is the least number of letters to insert, remove, replace or swap with their neighbour that makes b of a.
func editDistance(a, b string) int {
	x, y := []rune(a), []rune(b)
	if len(x) > maxTyped || len(y) > maxTyped {
		return maxTyped
	}
	before, last := make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row := make([]int, len(y)+1)
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(y)]
}

// maxTyped is how many letters of a name are compared; whoever mistypes a longer one copies it the next time.
const maxTyped = 160
