package projection_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	projection "github.com/pawlgo/pawl/context"
)

func TestShow(t *testing.T) {
	d := define(t, deskSpec())
	v := viewOf(t, d, waiting(t), noon.Add(90*time.Minute), projection.Quote{Origin: "customer", Text: "yes?"})
	t.Log("\n"+v.Markdown(), "\n", string(v.JSON()), "\n", string(v.Schema()))
	t.Log(string(v.OpenAITools()), "\n", string(v.OpenAIFormat()), "\n", string(v.AnthropicTools(true)), "\n", string(v.MCPTools()))
	_, err := v.Read([]byte(`{"event":"ask","payload":{"text":"","Text":1}}`))
	r, _ := v.Refusal(err)
	v, err = v.After(r)
	require.NoError(t, err)
	t.Log(v.Markdown())
}
