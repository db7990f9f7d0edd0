package retail_test

import (
	"fmt"
	"testing"

	"github.com/pawlgo/pawl/examples/retail/retail"
)

func TestX(t *testing.T) { fmt.Println(retail.Machine.Mermaid("")) }
