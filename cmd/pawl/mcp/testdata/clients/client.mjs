// The official client of the sessionless era: @modelcontextprotocol/client. It negotiates the newest version by itself.
import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { run, setting } from './scenario.mjs';

const s = setting();
const client = new Client({ name: 'client', version: '1' }, { versionNegotiation: { mode: 'auto' } });
const transport = s.url
  ? new StreamableHTTPClientTransport(new URL(s.url), { requestInit: { headers: { Authorization: `Bearer ${s.token}` } } })
  : new StdioClientTransport({ command: s.command, args: s.args, env: s.env, stderr: 'inherit' });
await client.connect(transport);
const version = client.getNegotiatedProtocolVersion();
assert.equal(version, '2026-07-28');
const result = await run(client, s);
await client.close();
console.log(JSON.stringify({ client: 'client', version, ...result }));
