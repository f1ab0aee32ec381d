import fc from 'fast-check'
import { MAX_BODY, type Sent } from './local.ts'

const TEMPLATES: Readonly<Record<string, unknown>> = {
  'run.start': {
    assistant_id: 'chat',
    input: { messages: [{ type: 'human', content: 'Q', id: 'h1' }] },
    config: { configurable: { checkpoint_id: 'x' }, recursion_limit: 5, tags: ['a'], metadata: { a: 1 } },
    metadata: { b: 2 },
    multitaskStrategy: 'interrupt',
  },
  'input.respond': {
    responses: [{ interrupt_id: 'x', response: 1, namespace: [] }],
    update: { a: 1 },
    goto: 'x',
  },
  'input.inject': { message: { role: 'user', content: 'x', name: 'n' } },
  'state.get': { namespace: ['a:1'], keys: ['messages'] },
  'state.listCheckpoints': { namespace: [], limit: 3, before: 'x' },
  'state.fork': { checkpoint_id: 'x', input: {}, config: {} },
  'agent.getTree': { run_id: 'x' },
  'subscription.subscribe': { channels: ['values'] },
  '/stream/events': { channels: ['values'], namespaces: [['a']], depth: 1, since: 3, since_event_id: '1-1' },
  '/state': {
    values: { notes: ['x'] },
    checkpoint: { checkpoint_id: 'x', checkpoint_ns: '' },
    as_node: 'ask',
  },
  '/state/checkpoint': { checkpoint: { checkpoint_id: 'x', checkpoint_ns: 'a|b' }, subgraphs: true },
  '/history': {
    limit: 3,
    before: { configurable: { checkpoint_id: 'x' } },
    metadata: { a: 1 },
    checkpoint: { checkpoint_ns: 'x' },
  },
  '/threads': { thread_id: 't2', metadata: { a: 1 }, if_exists: 'raise' },
  '/threads/search': {
    metadata: { a: 1 },
    values: { a: 1 },
    ids: ['x'],
    status: 'idle',
    limit: 3,
    offset: 1,
    sort_by: 'status',
    sort_order: 'asc',
  },
  '': { metadata: { a: 1 } },
}

export const weird = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    -1,
    1.5,
    1e308,
    '',
    'x'.repeat(300),
    [],
    {},
    '__proto__',
    '\u0000',
    '\ud800',
  ),
)

/** A template with some of its values replaced, removed or extended. */
export const spoilt = (template: unknown): fc.Arbitrary<unknown> => {
  if (Array.isArray(template)) return fc.oneof(fc.tuple(...template.map(spoilt)), weird)
  if (typeof template !== 'object' || template === null)
    return fc.oneof({ weight: 3, arbitrary: fc.constant(template) }, { weight: 1, arbitrary: weird })
  const fields = Object.fromEntries(Object.entries(template).map(([key, value]) => [key, spoilt(value)]))
  const added = fc.dictionary(
    fc.constantFrom('__proto__', 'constructor', 'toString', 'extra', 'config'),
    weird,
    { maxKeys: 1 },
  )
  const whole = fc
    .tuple(fc.record(fields, { requiredKeys: [] }), added)
    .map(([own, more]) => ({ ...own, ...more }))
  return fc.oneof({ weight: 6, arbitrary: whole }, { weight: 1, arbitrary: weird })
}

const id = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('t', 'waits', 'unknown') },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }) },
)

const command = fc
  .constantFrom(...Object.keys(TEMPLATES).filter((name) => !name.startsWith('/') && name !== ''))
  .chain((method) =>
    fc.record({
      method: fc.constant('POST'),
      path: id.map((threadId) => `/threads/${encodeURIComponent(threadId)}/commands`),
      body: fc
        .record({
          id: fc.oneof(fc.nat(), weird),
          method: fc.oneof(
            { weight: 9, arbitrary: fc.constant<unknown>(method) },
            { weight: 1, arbitrary: weird },
          ),
          params: spoilt(TEMPLATES[method]),
        })
        .map((value) => JSON.stringify(value)),
    }),
  )

const rest = fc.constantFrom('/stream/events', '/state', '/state/checkpoint', '/history', '').chain((path) =>
  fc.record({
    method: path === '' ? fc.constant('PATCH') : fc.constant('POST'),
    path: id.map((threadId) => `/threads/${encodeURIComponent(threadId)}${path}`),
    body: spoilt(TEMPLATES[path]).map((value) => JSON.stringify(value)),
  }),
)

const records = fc.constantFrom('/threads', '/threads/search').chain((path) =>
  fc.record({
    method: fc.constant('POST'),
    path: fc.constantFrom(path, path === '/threads' ? path : '/threads/count'),
    body: spoilt(TEMPLATES[path]).map((value) => JSON.stringify(value)),
  }),
)

const query = fc.record({
  method: fc.constantFrom('GET', 'DELETE', 'PUT', 'OPTIONS', 'HEAD'),
  path: fc
    .tuple(
      fc.constantFrom(
        '/threads',
        '/threads/t',
        '/threads/t/state',
        '/threads/t/history',
        '/threads/t/state/x',
        '/threads/t/runs/x/cancel',
        '/threads/x/nothing',
      ),
      fc.dictionary(
        fc.constantFrom('limit', 'offset', 'before', 'subgraphs', 'wait', 'action'),
        fc.string(),
        { maxKeys: 3 },
      ),
    )
    .map(([path, params]) => `${path}?${new URLSearchParams(params)}`),
})

const garbage = fc.record({
  method: fc.constantFrom('POST', 'PATCH', 'PUT'),
  path: fc.constantFrom(
    '/threads',
    '/threads/t/commands',
    '/threads/t/stream',
    '/threads/t/state',
    '/threads/t/history',
    '/threads/search',
    '/threads/t',
  ),
  body: fc.oneof(
    fc.uint8Array({ maxLength: 60 }).map((bytes) => new Uint8Array(bytes)),
    fc.string(),
    fc.constantFrom('{', '[', '"', '{"id":1', '\ufeff{}', '[1,]', 'NaN', '{"a":1}{"b":2}', '\u0000'),
    fc.constantFrom(
      '['.repeat(500),
      '{"a":'.repeat(500),
      `${'['.repeat(101)}${']'.repeat(101)}`,
      JSON.stringify('x'.repeat(MAX_BODY)),
    ),
    fc.constant(new Uint8Array([0x22, 0xff, 0xfe, 0x22])),
    fc.constant(new Uint8Array([0xed, 0xa0, 0x80])),
  ),
})

/** Valid requests, damaged ones and random bytes. */
export const anything: fc.Arbitrary<Sent> = fc.oneof(
  { weight: 5, arbitrary: command },
  { weight: 4, arbitrary: rest },
  { weight: 1, arbitrary: records },
  { weight: 1, arbitrary: query },
  { weight: 1, arbitrary: garbage },
)
