// What every client does with the server, whichever library it is made of: it lists, calls each tool well and badly, reads
// the block as a resource and as a prompt, and wants each refusal to be a result that a model can act on.
import assert from 'node:assert/strict';

const reads = ['task_find', 'task_history', 'task_project', 'task_report', 'working_state_get'];
const writes = ['task_propose', 'working_state_clear', 'working_state_clear_handoff', 'working_state_handoff', 'working_state_set'];

// setting reads what the test says about the server: {transport, command, args, url, token, task, scopes}.
export function setting() {
  return JSON.parse(process.env.PAWL_CLIENT_SETTING);
}

// run drives a connected client.
export async function run(client, { task, readOnly }) {
  const call = async (name, args) => {
    const result = await client.callTool({ name, arguments: args });
    assert.equal(result.content.length, 1);
    assert.equal(result.content[0].type, 'text');
    assert.equal(result.structuredContent.ok, result.isError !== true, JSON.stringify(result));
    return result;
  };
  const ok = async (name, args) => {
    const result = await call(name, args);
    assert.ok(!result.isError, result.content[0].text);
    return result.structuredContent;
  };
  const refused = async (code, name, args) => {
    const result = await call(name, args);
    assert.ok(result.isError, `${name} was not refused`);
    assert.equal(result.structuredContent.refusal.code, code, result.content[0].text);
    assert.match(result.content[0].text, new RegExp(code));
    return result.structuredContent.refusal;
  };

  const { tools } = await client.listTools();
  const names = tools.map((t) => t.name).sort();
  assert.deepEqual(names, (readOnly ? reads : [...reads, ...writes]).sort());
  for (const tool of tools) {
    assert.equal(tool.inputSchema.additionalProperties, false, tool.name);
    assert.equal(tool.outputSchema.type, 'object', tool.name);
    assert.equal(typeof tool.annotations.destructiveHint, 'boolean', tool.name);
  }
  if (readOnly) {
    for (const name of writes) {
      await refused('scope', name, {});
    }
    await ok('working_state_get', {});
    return { tools: names.length };
  }
  await state(client, ok, refused);
  await taskTools(ok, refused, task);
  await assert.rejects(client.callTool({ name: 'freeze', arguments: {} }), /unknown tool|not found/i);
  return { tools: names.length };
}

async function state(client, ok, refused) {
  const before = (await ok('working_state_get', {})).version;
  const key = `stop_loss.${process.pid}`;
  const first = await ok('working_state_set', { key, value: '262', reason: 'exit on break', ttl_hours: 4.5 });
  assert.equal(first.version, before + 1);
  assert.equal(first.superseded, null);
  const conflict = await refused('cas_conflict', 'working_state_set', { key, value: '254', reason: 'r', expected_value: '260' });
  assert.equal(conflict.details.current, '262');
  await refused('wrong_type', 'working_state_set', { key, value: '257', reason: 'r', expected_value: 262 });
  await refused('unknown_field', 'working_state_set', { key, value: '257', reason: 'r', agent: 'boss' });
  await refused('missing_field', 'working_state_set', { key });
  await refused('bad_key', 'working_state_set', { key: 'Bad.Key', value: '1', reason: 'r' });
  await ok('working_state_set', { key, value: '257', reason: 'lowered', expected_value: '262', expected_version: first.version });

  const { resources } = await client.listResources();
  assert.deepEqual(resources.map((r) => r.uri).sort(), ['pawl://working-state/block', 'pawl://working-state/recent-actions']);
  const block = await client.readResource({ uri: 'pawl://working-state/block' });
  assert.match(block.contents[0].text, new RegExp(`${key} = "257"`));
  const prompt = await client.getPrompt({ name: 'working_state' });
  assert.equal(prompt.messages[0].content.text, block.contents[0].text);
  assert.match(prompt.messages[1].content.text, /cas_conflict/);

  await refused('handoff_rule_violation', 'working_state_handoff', { note: 'done', status: 'complete' });
  await ok('working_state_handoff', { note: 'watch the close', status: 'continue', next_steps: 'look at 13:20' });
  await ok('working_state_clear_handoff', { reason: 'read' });
  await refused('handoff_not_found', 'working_state_clear_handoff', { reason: 'again' });
  assert.equal((await ok('working_state_clear', { key, reason: 'sold' })).retired_value, '257');
  await refused('key_not_found', 'working_state_clear', { key, reason: 'again' });
  const after = await ok('working_state_get', { history_limit: 2 });
  assert.equal(after.history.length, 2);
  assert.deepEqual(Object.keys(after.states).filter((k) => k === key), []);
}

async function taskTools(ok, refused, task) {
  const { tasks } = await ok('task_find', { which: 'waiting' });
  assert.ok(tasks.some((t) => t.task_id === task && t.waits_for === 'you'), JSON.stringify(tasks));
  const report = await ok('task_report', { task_id: task });
  assert.deepEqual(report.decisions, ['interpret_reply']);
  const decision = 'interpret_reply';
  await refused('not_shown', 'task_propose', { task_id: task, state_version: 999, decision, event: 'ask_again', payload: { text: 'x' } });
  const view = await ok('task_project', { task_id: task, decision });
  const answer = { task_id: task, state_version: view.state_version, decision };
  const confirm = { order_id: '123', amount: { minor: 4300, currency: 'EUR' } };
  const asked = await refused('ask', 'task_propose', { ...answer, event: 'confirm_refund', payload: confirm });
  assert.ok(asked.question);
  await refused('offer_differs', 'task_propose', { ...answer, event: 'confirm_refund', payload: { ...confirm, order_id: '124' } });
  await refused('not_allowed', 'task_propose', { ...answer, event: 'issue_refund', payload: {} });
  const done = await ok('task_propose', { ...answer, event: 'ask_again', payload: { text: 'Shall I?' } });
  assert.equal(done.state_version, view.state_version + 1);
  await refused('no_task', 'task_report', { task_id: 'another' });
  const history = await ok('task_history', { task_id: task });
  assert.equal(history.entries.at(-1).event, 'ask_again');
  assert.ok(history.refused.some((r) => r.code === 'ask' && r.yours));
}
