import fc from 'fast-check'
import { spoilt, weird } from '../threads/arbitraries.ts'
import { MAX_BODY } from '../threads/local.ts'

/** What stands for the ids of what there is, in paths and in bodies. */
export const KNOWN = { run: 'THE-RUN', cron: 'THE-CRON' } as const

const run = {
  assistant_id: 'chat',
  input: { messages: [{ type: 'human', content: 'Q', id: 'h1' }] },
  config: { configurable: { a: 1 }, recursion_limit: 5, tags: ['a'] },
  context: { a: 1 },
  metadata: { b: 2 },
  stream_mode: ['values', 'messages-tuple'],
  stream_subgraphs: true,
  interrupt_before: ['model'],
  interrupt_after: '*',
  multitask_strategy: 'reject',
  on_disconnect: 'continue',
  if_not_exists: 'create',
  durability: 'exit',
  feedback_keys: ['a'],
}
const command = {
  assistant_id: 'ask',
  command: { resume: 'yes', update: { notes: ['x'] }, goto: { node: 'after', input: {} } },
  checkpoint: { checkpoint_id: 'x', checkpoint_ns: 'a|b', checkpoint_map: {} },
  webhook: 'https://192.0.2.1/hook',
  on_completion: 'keep',
}
const cron = {
  ...run,
  schedule: '0 0 29 2 *',
  timezone: 'Europe/Berlin',
  end_time: '2999-01-01T00:00:00Z',
  enabled: false,
  on_run_completed: 'keep',
}
const search = {
  assistant_id: 'chat',
  thread_id: 't',
  graph_id: 'chat',
  name: 'chat',
  metadata: { a: 1 },
  enabled: true,
  limit: 3,
  offset: 1,
  sort_by: 'created_at',
  sort_order: 'asc',
  select: ['metadata'],
}
const assistant = {
  graph_id: 'chat',
  name: 'mine',
  description: 'x',
  config: { configurable: { a: 1 } },
  context: { a: 1 },
  metadata: { a: 1 },
  if_exists: 'do_nothing',
}
const store = {
  namespace: ['a', 'b'],
  key: 'k',
  value: { text: 'x' },
  index: ['text'],
  ttl: 5,
  namespace_prefix: ['a'],
  filter: { text: { $eq: 'x' } },
  query: 'x',
  prefix: ['a', '*'],
  suffix: ['b'],
  max_depth: 2,
  limit: 3,
  offset: 1,
  refresh_ttl: true,
}

/** Bodies that a route takes, by the words of its path. */
function templatesOf(pattern: string): readonly object[] {
  if (pattern.startsWith('/store')) return [store]
  if (pattern.includes('crons')) return /search|count/.test(pattern) ? [search] : [cron]
  if (pattern.endsWith('/batch')) return [[run], [command, run]]
  if (pattern.endsWith('/cancel')) return [{ thread_id: 't', run_ids: [KNOWN.run], status: 'all' }]
  if (pattern.startsWith('/assistants'))
    return /search|count|versions/.test(pattern) ? [search] : [{ ...assistant, version: 1 }]
  return [run, command]
}

const id = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('t', 'waits', 'unknown', 'chat', KNOWN.run, KNOWN.cron) },
  { weight: 1, arbitrary: fc.constantFrom('%', '%00', '%ff', '%2e%2e', '%2F', '__proto__', '0'.repeat(300)) },
  {
    weight: 1,
    arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).map(encodeURIComponent),
  },
)

const query = fc.dictionary(
  fc.constantFrom(
    ...['limit', 'offset', 'status', 'metadata', 'select', 'wait', 'action', 'cancel_on_disconnect'],
    ...['stream_mode', 'xray', 'recurse', 'namespace', 'key', 'refresh_ttl', 'delete_threads'],
  ),
  fc.oneof(
    fc.constantFrom('1', 'true', 'all', 'a.b', 'values', 'rollback', '{"a":1}', '{', '-1', '1e99', '\u0000'),
    fc.string(),
  ),
  { maxKeys: 3 },
)

const headers = fc.dictionary(
  fc.constantFrom(
    'last-event-id',
    'content-type',
    'accept',
    'idempotency-key',
    'x-tenant',
    'origin',
    'traceparent',
  ),
  fc.oneof(
    fc.constantFrom('-1', '0', '1e9', 'text/plain', 'application/json', '*/*', 'null', ''),
    fc.stringMatching(/^[\x21-\x7e]{0,40}$/),
  ),
  { maxKeys: 2 },
)

const garbage = fc.oneof(
  fc.uint8Array({ maxLength: 60 }).map((bytes) => new Uint8Array(bytes)),
  fc.constantFrom('', '{', '[', '{"a":'.repeat(500), `${'['.repeat(101)}${']'.repeat(101)}`, '\u0000'),
  fc.constant(JSON.stringify('x'.repeat(MAX_BODY))),
)

/** A request for a route, and in one of ten a damaged one. */
export function requestOf(method: string, pattern: string) {
  const parts = pattern.split('/').map((part) => (part.startsWith(':') ? id : fc.constant(part)))
  const valid = fc.oneof(...templatesOf(pattern).map(spoilt), weird).map((value) => JSON.stringify(value))
  return fc.record({
    method: fc.constant(method),
    path: fc.tuple(...parts).map((words) => words.join('/')),
    query: query.map((fields) => String(new URLSearchParams(fields))),
    headers,
    body: fc.oneof({ weight: 9, arbitrary: valid }, { weight: 1, arbitrary: garbage }),
  })
}
