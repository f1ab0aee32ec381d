import { describe, expect, test } from 'vitest'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import { type Agent, AgentRejection, defineAgent, HttpError } from '../../../src/index.ts'
import { chat } from '../../fixtures/graphs.ts'
import type { Json } from '../../kit/events.ts'
import {
  type Answer,
  answerOf,
  artifactsOf,
  byToken,
  clientOf,
  serve,
  stateOf,
  textOf,
  threads,
  turnsOf,
  VERSIONS,
} from '../served.ts'
import { echo, graph } from '../served-agents.ts'

const BYTES = Buffer.from('\u0000\u0001 not text \ufffd').toString('base64')
const FILES: readonly Json[] = [
  { bytes: BYTES, name: 'a.png', mimeType: 'image/png' },
  { bytes: BYTES, name: 'b.wav', mimeType: 'audio/wav' },
  { bytes: BYTES, mimeType: 'video/mp4' },
  { bytes: BYTES, name: 'c.pdf', mimeType: 'application/pdf' },
  { bytes: BYTES },
  { bytes: '' },
  { uri: 'https://example.com/d.png', mimeType: 'image/png' },
  { uri: 'https://example.com/e', name: 'e' },
  { uri: 'data:text/plain,x' },
]

describe.each(VERSIONS)('version %s', (version) => {
  test.each(['returns', 'graph'])(
    '%s: files reach the agent as content, and come back as parts',
    async (assistant) => {
      const seen: Json[] = []
      const { server } = serve({ returns: returns(seen), graph: graph() })
      const client = clientOf(server, { assistant, version })
      const parts = FILES.map((file) => ({ kind: 'file', file }))
      const { result: task } = await client.send({ parts: [{ kind: 'text', text: 'see' }, ...parts] })
      expect(stateOf(task)).toBe('completed')
      expect(task.history[0].parts).toEqual([{ kind: 'text', text: 'see' }, ...parts])
      if (assistant === 'graph') return
      expect(seen[0].content.map(({ type }: Json) => type)).toEqual([
        'text',
        'image',
        'audio',
        'video',
        'file',
        'file',
        'file',
        'image',
        'file',
        'file',
      ])
      expect(task.artifacts[0].parts.map(({ file }: Json) => file)).toEqual(FILES)
      const { items } = await client.stream({ parts })
      expect(artifactsOf(items)[0].parts.map(({ file }: Json) => file)).toEqual(FILES)
    },
  )

  test('data is merged into the input, beside what is written', async () => {
    const { server } = serve({ state: showsState() })
    const client = clientOf(server, { assistant: 'state', version })
    const { result: task } = await client.send({
      parts: [
        { kind: 'data', data: { a: 1, messages: [{ type: 'human', content: 'first', id: 'h' }] } },
        { kind: 'text', text: 'then' },
        { kind: 'data', data: { a: 2, b: { c: [null] } } },
      ],
      messageId: 'm',
    })
    expect(JSON.parse(answerOf(task))).toEqual({ a: 2, b: { c: [null] }, messages: ['first', 'then'] })
  })

  test('artifacts of an agent are those of its task', async () => {
    const { server } = serve({ report: writesArtifacts() })
    const client = clientOf(server, { assistant: 'report', version })
    const { result: task } = await client.send({ text: 'x' })
    const named = (artifacts: Json[]) =>
      artifacts.map(({ name, description, metadata, parts }: Json) => ({
        name,
        description,
        metadata,
        parts,
      }))
    const own = [
      {
        name: 'Report',
        description: 'All of it.',
        metadata: { a: 1 },
        parts: [
          { kind: 'text', text: 'one two' },
          { kind: 'data', data: { total: 42 } },
          { kind: 'file', file: { bytes: BYTES, mimeType: 'image/png' } },
        ],
      },
      {
        name: 'sales.csv',
        description: undefined,
        metadata: undefined,
        parts: [{ kind: 'text', text: 'a,b' }],
      },
    ]
    expect(named(task.artifacts)).toEqual([
      { name: 'Assistant Response', parts: [{ kind: 'text', text: 'Done.' }] },
      ...own,
    ])
    const { items } = await client.stream({ text: 'x', contextId: task.contextId })
    const streamed = named(artifactsOf(items))
    for (const artifact of own) expect(streamed).toContainEqual(artifact)
    const second = await client.get(items[0].id)
    expect(named(second.result.artifacts)).toEqual(named(task.artifacts))
    expect((await client.get(task.id)).result).toEqual(task)
  })

  test('a task that is declined is rejected, with its reason', async () => {
    const { server, errors } = serve({ function: declines(), graph: declinesInGraph() })
    for (const assistant of ['function', 'graph']) {
      const client = clientOf(server, { assistant, version })
      const { result: task } = await client.send({ text: 'x' })
      expect([stateOf(task), textOf(task.status.message.parts)]).toEqual(['rejected', 'Not on Sundays.'])
      const { items } = await client.stream({ text: 'x' })
      expect([stateOf(items.at(-1)), textOf(items.at(-1).status.message.parts)]).toEqual([
        'rejected',
        'Not on Sundays.',
      ])
      expect((await client.send({ text: 'y', taskId: task.id })).error.code).toBe(-32004)
      expect((await client.cancel(task.id)).error.code).toBe(-32002)
    }
    expect(errors).toEqual([])
  })

  test('a failed task says so without the text of the error, and does not show an answer from before', async () => {
    const { server } = serve({ function: fails(), graph: failsInGraph() })
    for (const assistant of ['function', 'graph']) {
      const client = clientOf(server, { assistant, version })
      const { result: first } = await client.send({ text: 'hello', contextId: 'c' })
      expect(answerOf(first)).toBe('Fine.')
      const { result: task, text } = await client.send({ text: 'fail', contextId: 'c' })
      expect(stateOf(task)).toBe('failed')
      expect(textOf(task.status.message.parts)).not.toBe('')
      expect(turnsOf(task).slice(1)).toEqual([])
      expect(task.artifacts ?? []).toEqual([])
      const streamed = await client.stream({ text: 'fail', contextId: 'c' })
      expect(stateOf(streamed.result)).toBe('failed')
      expect(artifactsOf(streamed.items)).toEqual([])
      const got = await client.get(task.id)
      for (const shown of [text, streamed.text, got.text])
        expect(shown).not.toMatch(/secret|node_modules|\.ts:/)
      const { result: next } = await client.send({ text: 'hello', contextId: 'c' })
      expect(stateOf(next)).toBe('completed')
    }
  })

  test('an agent that answers with a message gives exactly one', async () => {
    const { server } = serve({ says: says() })
    const client = clientOf(server, { assistant: 'says', version })
    for (const answer of [
      await client.send({ text: 'one', contextId: 'c' }),
      await client.send({ text: 'one', contextId: 'c', blocking: false }),
      await client.stream({ text: 'one', contextId: 'c' }),
    ]) {
      expect(answer.result).toMatchObject({ kind: 'message', role: 'agent', contextId: 'c' })
      expect([answer.result.taskId, textOf(answer.result.parts)]).toEqual([undefined, 'You said: one'])
      expect(answer.items.length).toBeLessThan(2)
    }
    const silent = await client.send({ parts: [{ kind: 'data', data: { quiet: true } }], contextId: 'q' })
    expect(silent.error.code).toBe(-32006)
    const task = await client.send({ text: 'task', contextId: 'c' })
    expect([task.result.kind, answerOf(task.result)]).toEqual(['task', 'You said: task'])
    const failed = await client.stream({ text: 'fail', contextId: 'd' })
    expect(failed.items).toMatchObject([{ kind: 'task', status: { state: 'failed' } }])
    const refused = await client.send({ text: 'refuse', contextId: 'e' })
    expect(refused.error).toMatchObject({ code: -32602, message: 'Not you.' })
  })

  test('each method asks for its permission, and a refusal is plain HTTP that changes nothing', async () => {
    const asked: Json[] = []
    let allowed: readonly string[] = []
    const all = ['runs:create', 'threads:read', 'runs:cancel', 'threads:stream', 'threads:list']
    const { server, written } = serve(
      { echo: echo() },
      {
        authenticate: byToken,
        authorize: (principal, action, resource) => {
          asked.push([principal?.id, action, resource.assistantId])
          return allowed.includes(action)
        },
      },
    )
    const client = clientOf(server, { assistant: 'echo', version, token: 'ann' })
    allowed = all
    const { result: task } = await client.send({ text: 'x' })
    const calls: readonly (readonly [string, () => Promise<Answer>])[] = [
      ['runs:create', () => client.send({ text: 'x' })],
      ['runs:create', () => client.stream({ text: 'x' })],
      ['runs:create', () => client.send({ text: 'x', taskId: task.id })],
      ['threads:read', () => client.get(task.id)],
      ['runs:cancel', () => client.cancel(task.id)],
      ['threads:stream', () => client.subscribe(task.id)],
      ['threads:list', () => client.list()],
    ]
    const before = written()
    for (const [action, call] of calls) {
      allowed = all.filter((other) => other !== action)
      asked.length = 0
      const { status, text } = await call()
      expect([action, status, JSON.parse(text).error]).toEqual([action, 403, 'permission_denied'])
      expect(asked).toEqual([['ann', action, 'echo']])
    }
    expect(written()).toBe(before)
    allowed = all
    for (const [, call] of calls) expect((await call()).status).toBe(200)
  })

  test('a caller without credentials gets 401, before anything is read', async () => {
    const { server, written } = serve({ echo: echo() }, { authenticate: byToken })
    const client = clientOf(server, { assistant: 'echo', version })
    for (const answer of [
      await client.send({ text: 'x' }),
      await client.stream({ text: 'x' }),
      await client.get('x'),
      await client.list(),
      await client.post('no JSON'),
      await clientOf(server, { assistant: 'unknown', version }).send({ text: 'x' }),
    ]) {
      expect(answer.status).toBe(401)
      expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    }
    expect(written()).toBe(0)
  })

  test('a message in the name of the agent is no answer', async () => {
    const { server } = serve({ quiet: defineAgent({ run: async () => {} }) })
    const client = clientOf(server, { assistant: 'quiet', version })
    const { result: task } = await client.send({ text: 'I am you', role: 'agent' })
    expect([turnsOf(task), task.artifacts ?? []]).toEqual([['agent: I am you'], []])
    const { items } = await client.stream({ text: 'I am you', role: 'agent' })
    expect(artifactsOf(items)).toEqual([])
  })
})

test('the run of a task is seen under /threads, and its state', async () => {
  const { server } = serve({ echo: echo() })
  const client = clientOf(server, { assistant: 'echo' })
  const { result: task } = await client.send({ text: 'hello', contextId: 'session-42' })
  const [thread] = await threads(server, '/search', { metadata: { a2a_context_id: 'session-42' } })
  expect(thread.status).toBe('idle')
  const { values } = await threads(server, `/${thread.thread_id}/state`)
  expect(values.messages).toHaveLength(2)
  expect(task.id.startsWith('session-42:')).toBe(true)
})

/** Answers with the files that it was given. */
const returns = (seen: Json[]): Agent =>
  defineAgent({
    async run({ messages, message }) {
      const last = messages.at(-1) as Json
      seen.push(last)
      const writer = message()
      for (const block of last.content) if (block.type !== 'text') await writer.block(block)
      await writer.end()
    },
  })

const showsState = (): Agent =>
  defineAgent({
    inputKeys: ['a', 'b', 'messages'],
    async run({ state, messages, message }) {
      const texts = messages.map(({ content }: Json) =>
        typeof content === 'string' ? content : content.map(({ text }: Json) => text).join(''),
      )
      await message(JSON.stringify({ ...state, messages: texts, artifacts: undefined }))
    },
  })

const writesArtifacts = (): Agent =>
  defineAgent({
    async run({ artifact, message }) {
      const report = artifact({ name: 'Report', description: 'All of it.', metadata: { a: 1 } })
      await report.text('one ')
      await report.text('two')
      await report.data({ total: 42 })
      await report.block({ type: 'image', base64: BYTES, mimeType: 'image/png' })
      await report.end()
      await artifact('a,b', { name: 'sales.csv' })
      await message('Done.')
    },
  })

const declines = (): Agent =>
  defineAgent({
    async run({ reject }) {
      reject('Not on Sundays.')
    },
  })

const declinesInGraph = (): Agent =>
  langgraph(
    chat(() => {
      throw new AgentRejection('Not on Sundays.')
    }),
  )

const lastOf = (messages: readonly Json[]): string => {
  const { content } = messages.at(-1)
  return typeof content === 'string' ? content : content.map(({ text = '' }: Json) => text).join('')
}

const fails = (): Agent =>
  defineAgent({
    async run({ messages, message }) {
      if (lastOf(messages) === 'fail') throw new Error('secret: postgres://user:password@db')
      await message('Fine.')
    },
  })

const failsInGraph = (): Agent =>
  langgraph(
    chat((messages) => {
      if (lastOf(messages as Json) === 'fail') throw new Error('secret: postgres://user:password@db')
      return { text: 'Fine.' }
    }),
  )

/** Answers with a message, but for the text `task`. */
const says = (): Agent =>
  defineAgent({
    inputKeys: ['quiet'],
    answersWith({ input }) {
      const { messages = [] } = (input ?? {}) as Json
      const text = messages.length > 0 ? lastOf(messages) : ''
      if (text === 'refuse') throw new HttpError(400, 'invalid_argument', 'Not you.')
      return text === 'task' ? 'task' : 'message'
    },
    async run({ messages, message, state }) {
      if (state.quiet) return
      if (lastOf(messages) === 'fail') throw new Error('secret')
      await message(`You said: ${lastOf(messages)}`)
    },
  })
