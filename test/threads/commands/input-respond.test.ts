import { END, interrupt, START, StateGraph } from '@langchain/langgraph'
import { expect, test } from 'vitest'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import {
  approval,
  Notes,
  nestedApproval,
  researchers,
  supervised,
  threeSteps,
  twoApprovals,
} from '../../fixtures/graphs.ts'
import type { ThreadClient } from '../../kit/client.ts'
import { dataOf, type Json, rootStates } from '../../kit/events.ts'
import { serveAgents } from '../../kit/host.ts'
import { gate } from '../../kit/wait.ts'

const question = { messages: [{ type: 'human', content: 'Q', id: 'h1' }] }

/** Runs an agent until it asks, and gives its questions. */
async function asking(thread: ThreadClient, input: unknown = {}): Promise<Json[]> {
  await thread.start(input)
  const events = await thread.transcript()
  expect(rootStates(events)).toEqual(['running', 'interrupted'])
  return dataOf(events, 'input.requested')
}

const serve = async (graph: Parameters<typeof langgraph>[0]) => {
  const host = await serveAgents({ agents: { a: langgraph(graph) } })
  return host.thread()
}

test('after one answer the run continues in the same namespaces, and the result names its id', async () => {
  const thread = await serve(nestedApproval())
  const [asked] = await asking(thread)
  const { run_id } = await thread.ok('input.respond', {
    namespace: [],
    interrupt_id: asked.interrupt_id,
    response: 'yes',
  })
  const events = await thread.transcript(2)
  expect(rootStates(events)).toEqual(['running', 'interrupted', 'running', 'completed'])
  expect(events.at(-1)!.params.data.run_id).toBe(run_id)
  expect(await thread.idle()).toMatchObject({
    values: { notes: ['inner', 'answer: yes', 'after'] },
    next: [],
    tasks: [],
  })
  const children = new Set(
    events.map(({ params }) => params.namespace.join('|')).filter((path) => /^sub:[^|]*$/.test(path)),
  )
  expect(children.size).toBe(1)
})

test.each([
  ['snake_case', (id: string) => ({ interrupt_id: id, response: 'yes' })],
  ['camelCase', (id: string) => ({ interruptId: id, response: 'yes' })],
  [
    'a list in snake_case',
    (id: string) => ({ responses: [{ namespace: [], interrupt_id: id, response: 'yes' }] }),
  ],
  ['a list in camelCase', (id: string) => ({ responses: [{ interruptId: id, response: 'yes' }] })],
  [
    'a body with a wrong namespace',
    (id: string) => ({ namespace: ['nowhere:1'], interrupt_id: id, response: 'yes' }),
  ],
])('an answer in %s is taken', async (_, params) => {
  const thread = await serve(approval())
  const [asked] = await asking(thread)
  await thread.ok('input.respond', params(asked.interrupt_id))
  expect((await thread.idle()).values.notes).toEqual(['answer: yes', 'after'])
})

test('an answer may be null, false or omitted', async () => {
  for (const [params, text] of [
    [{ response: null }, 'null'],
    [{ response: false }, 'false'],
    [{}, 'null'],
  ] as const) {
    const thread = await serve(approval())
    const [asked] = await asking(thread)
    await thread.ok('input.respond', { interrupt_id: asked.interrupt_id, ...params })
    expect((await thread.idle()).values.notes).toEqual([`answer: ${text}`, 'after'])
  }
})

test('one command can answer several questions', async () => {
  const thread = await serve(twoApprovals())
  const asked = await asking(thread)
  const responses = asked.map(({ interrupt_id, payload }) => ({ interrupt_id, response: `${payload}!` }))
  await thread.ok('input.respond', { responses })
  expect((await thread.idle()).values.notes.sort()).toEqual(['after', 'left: left?!', 'right: right?!'])
})

test('when several questions are answered one by one, the others stay open and are not asked again', async () => {
  const thread = await serve(twoApprovals())
  const [left, right] = await asking(thread)
  await thread.ok('input.respond', { interrupt_id: left.interrupt_id, response: 'L' })
  const events = await thread.transcript(2)
  expect(rootStates(events)).toEqual(['running', 'interrupted', 'running', 'interrupted'])
  expect(dataOf(events, 'input.requested')).toHaveLength(2)
  const open = dataOf(
    await (await thread.stream()).until((seen) => rootStates(seen).length === 2),
    'input.requested',
  )
  expect(open.map(({ interrupt_id }) => interrupt_id)).toEqual([right.interrupt_id])
  expect((await thread.get('')).body).toMatchObject({ status: 'interrupted' })
  expect(await thread.refused('input.respond', { interrupt_id: left.interrupt_id, response: 'again' })).toBe(
    'no_such_interrupt',
  )
  await thread.ok('input.respond', { interrupt_id: right.interrupt_id, response: 'R' })
  expect((await thread.idle()).values.notes.sort()).toEqual(['after', 'left: L', 'right: R'])
})

test('when one of several questions is unknown, none is answered', async () => {
  const thread = await serve(twoApprovals())
  const [left, right] = await asking(thread)
  const responses = [
    { interrupt_id: left.interrupt_id, response: 1 },
    { interrupt_id: 'none', response: 2 },
  ]
  expect(await thread.refused('input.respond', { responses })).toBe('no_such_interrupt')
  const both = [left, right].map(({ interrupt_id }) => ({ interrupt_id, response: 'ok' }))
  await thread.ok('input.respond', { responses: both })
  expect((await thread.idle()).next).toEqual([])
})

test('an update is applied before the answer, in one superstep', async () => {
  const thread = await serve(approval())
  const [asked] = await asking(thread)
  await thread.ok('input.respond', {
    interrupt_id: asked.interrupt_id,
    response: 'yes',
    update: { notes: ['card'] },
  })
  const resumed = (await thread.transcript(2))
    .filter(({ method }) => method === 'values')
    .map(({ params }) => params.data.notes)
  expect(resumed.find((notes) => notes.length > 0)![0]).toBe('card')
  expect((await thread.idle()).values.notes).toEqual(['card', 'answer: yes', 'after'])
})

test.each([
  ['neither', { update: null, goto: null }, ['answer: yes', 'after']],
  ['a node to go to', { goto: 'after' }, ['after', 'answer: yes', 'after']],
  ['both', { update: { notes: ['card'] }, goto: 'after' }, ['after', 'answer: yes', 'after', 'card']],
])('an answer may come with %s', async (_, more, expected) => {
  const thread = await serve(approval())
  const [asked] = await asking(thread)
  await thread.ok('input.respond', { interrupt_id: asked.interrupt_id, response: 'yes', ...more })
  expect((await thread.idle()).values.notes.toSorted()).toEqual(expected.toSorted())
})

test('a tool call under the human-in-the-loop middleware of langchain waits for the decision', async () => {
  const thread = await serve(supervised())
  const [asked] = await asking(thread, question)
  expect(asked.payload).toMatchObject({ actionRequests: [{ name: 'add', args: { a: 2, b: 3 } }] })
  await thread.ok('input.respond', {
    interrupt_id: asked.interrupt_id,
    response: { decisions: [{ type: 'edit', editedAction: { name: 'add', args: { a: 20, b: 30 } } }] },
  })
  const { values } = await thread.idle()
  expect(values.messages.find(({ type }: Json) => type === 'tool')).toMatchObject({ content: '50' })
})

test('a question of a subagent is answered at the root', async () => {
  const thread = await serve(researchers({ asks: true }))
  const [asked] = await asking(thread, question)
  await thread.ok('input.respond', { namespace: [], interrupt_id: asked.interrupt_id, response: 'please' })
  const { values, next } = await thread.idle()
  expect(next).toEqual([])
  expect(values.messages.at(-1)).toMatchObject({
    type: 'ai',
    content: [{ type: 'text', text: 'The answer is 5.' }],
  })
})

test('an answer to what is not asked is refused, and nothing changes', async () => {
  const thread = await serve(approval())
  expect(await thread.refused('input.respond', { interrupt_id: 'x', response: 1 })).toBe('no_such_run')
  const [asked] = await asking(thread)
  const before = [(await thread.get('')).body, (await thread.get('/state')).body]
  const id = asked.interrupt_id
  for (const [params, code] of [
    [{}, 'invalid_argument'],
    [{ response: 'yes' }, 'invalid_argument'],
    [{ responses: [] }, 'invalid_argument'],
    [{ responses: [{ response: 1 }] }, 'invalid_argument'],
    [{ responses: { interrupt_id: id } }, 'invalid_argument'],
    [{ interrupt_id: 7 }, 'invalid_argument'],
    [
      {
        responses: [
          { interrupt_id: id, response: 1 },
          { interrupt_id: id, response: 2 },
        ],
      },
      'invalid_argument',
    ],
    [{ interrupt_id: 'none', response: 1 }, 'no_such_interrupt'],
    [{ interrupt_id: '__proto__', response: 1 }, 'no_such_interrupt'],
    [{ interrupt_id: '', response: 1 }, 'no_such_interrupt'],
  ] as const)
    expect([params, await thread.refused('input.respond', params)]).toEqual([params, code])
  expect([(await thread.get('')).body, (await thread.get('/state')).body]).toEqual(before)
})

test('an answered question cannot be answered again, neither during its run nor afterwards', async () => {
  const thread = await serve(approval())
  const [asked] = await asking(thread)
  const answer = { interrupt_id: asked.interrupt_id, response: 'yes' }
  const answers = await Promise.all([1, 2, 3].map(() => thread.command('input.respond', answer)))
  expect(answers.filter(({ type }) => type === 'success')).toHaveLength(1)
  expect(answers.filter(({ error }) => error === 'no_such_interrupt')).toHaveLength(2)
  expect((await thread.idle()).values.notes).toEqual(['answer: yes', 'after'])
  expect(await thread.refused('input.respond', answer)).toBe('no_such_interrupt')
})

test('an answer waits for another run that is in progress', async () => {
  const { opened: reached, open: reach } = gate()
  const { opened: released, open: release } = gate()
  const graph = threeSteps(async (name) => {
    if (name !== 'two') return
    reach()
    await released
  })
  const host = await serveAgents({ agents: { a: langgraph(graph) } })
  const thread = host.thread()
  await thread.start()
  await reached
  expect(await thread.refused('input.respond', { interrupt_id: 'x', response: 1 })).toBe('no_such_interrupt')
  release()
  expect(rootStates(await thread.transcript())).toEqual(['running', 'completed'])
})

test('when the run of an answer is cancelled before it took the answer, the question is open again, for new clients as well', async () => {
  const { opened: reached, open: reach } = gate()
  let waits = true
  const graph = new StateGraph(Notes)
    .addNode('ask', async (_, { signal }) => {
      const answer = interrupt('go?')
      if (waits) {
        reach()
        await new Promise((_resolve, reject) =>
          signal!.addEventListener('abort', () => reject(signal!.reason)),
        )
      }
      return { notes: [`answer: ${answer}`] }
    })
    .addEdge(START, 'ask')
    .addEdge('ask', END)
    .compile()
  const thread = await serve(graph)
  const [asked] = await asking(thread)
  const { run_id } = await thread.ok('input.respond', { interrupt_id: asked.interrupt_id, response: 'yes' })
  await reached
  await thread.post(`/runs/${run_id}/cancel?wait=1`)
  waits = false
  const { body: state } = await thread.get('/state')
  expect(state.tasks.flatMap((task: Json) => task.interrupts)).toEqual([
    { id: asked.interrupt_id, value: 'go?' },
  ])
  expect((await thread.get('')).body).toMatchObject({ status: 'interrupted' })
  const replay = await (await thread.stream()).until((events) => rootStates(events).length === 2)
  expect(dataOf(replay, 'input.requested')).toEqual([asked])
  await thread.ok('input.respond', { interrupt_id: asked.interrupt_id, response: 'at last' })
  expect(rootStates(await thread.transcript(3)).at(-1)).toBe('completed')
  expect((await thread.get('/state')).body.values.notes).toEqual(['answer: at last'])
})

test('an answer that makes its run fail is taken, and the question is closed', async () => {
  let fails = true
  const graph = new StateGraph(Notes)
    .addNode('ask', () => {
      const answer = interrupt('go?')
      if (fails) throw new Error('kaput')
      return { notes: [`answer: ${answer}`] }
    })
    .addEdge(START, 'ask')
    .addEdge('ask', END)
    .compile()
  const thread = await serve(graph)
  const [asked] = await asking(thread)
  await thread.ok('input.respond', { interrupt_id: asked.interrupt_id, response: 'yes' })
  expect(rootStates(await thread.transcript(2)).at(-1)).toBe('failed')
  fails = false
  const { body: state } = await thread.get('/state')
  const listed = state.tasks.flatMap((task: Json) => task.interrupts)
  const answered = await thread.command('input.respond', {
    interrupt_id: asked.interrupt_id,
    response: 'again',
  })
  // Exactly the questions that the state shows as open can be answered.
  expect(answered.type).toBe(listed.length > 0 ? 'success' : 'error')
})
