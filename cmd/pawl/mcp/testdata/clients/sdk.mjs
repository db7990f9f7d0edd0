// The official client of the protocol's session era: @modelcontextprotocol/sdk.
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { run, setting } from './scenario.mjs';

const s = setting();
const client = new Client({ name: 'sdk', version: '1' });
const transport = s.url
  ? new StreamableHTTPClientTransport(new URL(s.url), { requestInit: { headers: { Authorization: `Bearer ${s.token}` } } })
  : new StdioClientTransport({ command: s.command, args: s.args, env: s.env, stderr: 'inherit' });
await client.connect(transport);
assert.equal(client.getServerVersion().name, 'pawl');
const result = await run(client, s);
if (s.url) {
  assert.ok(transport.sessionId, 'the session era has sessions');
  assert.equal(transport.protocolVersion, '2025-11-25');
}
await client.close();
console.log(JSON.stringify({ client: 'sdk', ...result }));
