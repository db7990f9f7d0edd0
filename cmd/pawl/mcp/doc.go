// Package mcp serves one agent's working state, and the tasks that it may act on, over the Model Context Protocol: on stdin
// and stdout, or as streamable HTTP, for clients of the protocol's session era (2025-11-25 and before) and of its sessionless
// one (2026-07-28) on one URL.
//
// Who the agent is comes from the connection, from a flag or from a bearer token, and never from an argument. No tool observes,
// confirms for a person, or switches anything off: what a model says through this server is a proposal (laws 2 and 17 of
// DESIGN). A refusal is a result that the model can act on: a stable code, why, what is missing and what is permitted now.
//
// [New] makes a [Server] from a controller and the decisions that it may show, so that a service can serve its own machines.
package mcp
