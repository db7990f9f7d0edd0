package airline_test

import (
	"fmt"
	"testing"

	"github.com/pawlgo/pawl/examples/airline/airline"
)

func TestX(t *testing.T) { fmt.Println(airline.Machine.Mermaid("")) }
