import { expect, test } from 'vitest'
import type { Agent } from '../../../src/agents/agent.ts'
import { AgentInputError } from '../../../src/agents/errors.ts'
import { defineAgent } from '../../../src/agents/function/define-agent.ts'
import { textOf } from '../../../src/messages/index.ts'
import type { AgentEvent } from '../../../src/messages/thread-events/index.ts'
import {
  answers,
  ask,
  input,
  messagesIn,
  newThread,
  outline,
  run,
  stateOf,
  type Thread,
  taskOf,
  turn,
} from '../run.ts'

const asked = (events: readonly AgentEvent[]) =>
  events
    .filter(({ method }) => method === 'input.requested')
    .map(({ namespace, data }) => ({
      namespace,
      ...(data as { interrupt_id: string; payload: unknown; value: unknown }),
    }))

const pending = async (agent: Agent, thread: Thread) =>
  (await stateOf(agent, thread)).tasks.flatMap(({ interrupts }) => interrupts)

const texts = async (agent: Agent, thread: Thread) =>
  messagesIn((await stateOf(agent, thread)).values).map(({ content }) => content)

const started = (events: readonly AgentEvent[]) =>
  events.filter(
    ({ method, data }) => method === 'messages' && (data as { event: string }).event === 'message-start',
  )

test('an interrupt ends the attempt, and its answer runs the function again', async () => {
  let attempts = 0
  const agent = defineAgent({
    async run({ interrupt, message, input: given }) {
      attempts++
      const answer = await interrupt<string>({ question: 'Sure?' })
      await message(`${answer}! ${JSON.stringify(given.topic)}`)
    },
  })
  const thread = newThread()
  const first = await run(agent, thread, input({ topic: 'x', messages: ['go'] }))
  expect(outline(first)).toEqual([
    'checkpoints [] input',
    'values []',
    'tasks []',
    'input.requested []',
    'tasks []',
  ])
  const [question] = asked(first)
  expect(question).toMatchObject({ payload: { question: 'Sure?' }, value: { question: 'Sure?' } })
  const state = await stateOf(agent, thread)
  expect(state.next).toEqual(['agent'])
  expect(state.tasks).toMatchObject([
    {
      name: 'agent',
      path: ['__pregel_pull', 'agent'],
      interrupts: [{ id: question!.interrupt_id, value: { question: 'Sure?' } }],
    },
  ])
  const second = await run(agent, thread, answers({ [question!.interrupt_id]: 'Yes' }))
  expect(asked(second)).toEqual([])
  expect(await texts(agent, thread)).toEqual(['go', 'Yes! "x"'])
  expect(await stateOf(agent, thread)).toMatchObject({ next: [], tasks: [] })
  expect(attempts).toBe(2)
})

test('events from before an interrupt are not sent again', async () => {
  const agent = defineAgent({
    async run({ interrupt, message, tool, custom, subagent }) {
      await message('Before.')
      await custom('progress', 1)
      await tool('look', { at: 'x' }, async ({ output, custom: tell }) => {
        await output('…')
        await tell('inner', 1)
        return 'seen'
      })
      await subagent('helper', 'Help', async ({ message: say, custom: tell }) => {
        await tell('sub', 1)
        await say('Helping.')
      })
      await interrupt('Go on?')
      await custom('progress', 2)
      await message('After.')
    },
  })
  const thread = newThread()
  const [question] = asked(await run(agent, thread, ask))
  const before = await texts(agent, thread)
  const second = await run(agent, thread, answers({ [question!.interrupt_id]: true }))
  expect(outline(second)).toEqual([
    'checkpoints [] loop',
    'values []',
    'tasks []',
    'custom []',
    'messages [] message-start',
    'messages [] content-block-start',
    'messages [] content-block-delta',
    'messages [] content-block-finish',
    'messages [] message-finish',
    'updates [] agent',
    'tasks []',
    'checkpoints [] loop',
    'values []',
  ])
  expect(await texts(agent, thread)).toEqual([...before, 'After.'])
})

test('a completed message and a completed tool are what they were, whatever the second attempt would make of them', async () => {
  let attempts = 0
  const agent = defineAgent({
    async run({ interrupt, message, tool }) {
      attempts++
      const said = await message(`Attempt ${attempts}`)
      const counted = await tool('count', {}, () => attempts)
      await interrupt('Go on?')
      await message(`${textOf(said)} counted ${counted} in ${attempts}`)
    },
  })
  const thread = newThread()
  const first = await run(agent, thread, ask)
  const second = await run(agent, thread, answers({ [asked(first)[0]!.interrupt_id]: true }))
  expect(started(second)).toHaveLength(1)
  expect((await texts(agent, thread)).filter((text) => typeof text === 'string')).toEqual([
    'go',
    'Attempt 1',
    '1',
    'Attempt 1 counted 1 in 2',
  ])
})

test('an interrupt after an answered one keeps the earlier answer', async () => {
  const agent = defineAgent({
    async run({ interrupt, message }) {
      const name = await interrupt<string>('Name?')
      const age = await interrupt<number>('Age?')
      await message(`${name} ${age}`)
    },
  })
  const thread = newThread()
  const [first] = asked(await run(agent, thread, ask))
  const [second] = asked(await run(agent, thread, answers({ [first!.interrupt_id]: 'Ada' })))
  expect(second!.interrupt_id).not.toBe(first!.interrupt_id)
  expect(await pending(agent, thread)).toEqual([{ id: second!.interrupt_id, value: 'Age?' }])
  await run(agent, thread, answers({ [second!.interrupt_id]: 36 }))
  expect(await texts(agent, thread)).toEqual(['go', 'Ada 36'])
})

const parallel = defineAgent({
  async run({ interrupt, message }) {
    const given = await Promise.all([interrupt<string>('A?'), interrupt<string>('B?')])
    await message(given.join(' '))
  },
})

test('parallel interrupts can be answered together', async () => {
  const thread = newThread()
  const [a, b] = asked(await run(parallel, thread, ask))
  await run(parallel, thread, answers({ [a!.interrupt_id]: 'x', [b!.interrupt_id]: 'y' }))
  expect(await texts(parallel, thread)).toEqual(['go', 'x y'])
})

test('an interrupt without an answer stays pending and keeps its id', async () => {
  const thread = newThread()
  const [a, b] = asked(await run(parallel, thread, ask))
  const again = asked(await run(parallel, thread, answers({ [b!.interrupt_id]: 'y' })))
  expect(again).toEqual([a])
  expect(await pending(parallel, thread)).toEqual([{ id: a!.interrupt_id, value: 'A?' }])
  await run(parallel, thread, answers({ [a!.interrupt_id]: 'x' }))
  expect(await texts(parallel, thread)).toEqual(['go', 'x y'])
})

test('interrupts in tools and subagents are raised in their namespaces and can be answered one by one', async () => {
  const agent = defineAgent({
    async run({ tool, subagent, message }) {
      const results = await Promise.all([
        tool('delete', { file: 'a' }, ({ interrupt }) => interrupt<string>('Delete a?')),
        subagent('writer', 'Write', async ({ tool: inner, message: say }) => {
          await say('Writing.')
          const where = await inner('save', {}, ({ interrupt }) => interrupt<string>('Where to?'))
          return `saved in ${where}`
        }),
        tool('list', {}, () => 'nothing'),
      ])
      await message(results.join(', '))
    },
  })
  const thread = newThread()
  const first = await run(agent, thread, ask)
  const questions = asked(first)
  expect(questions.map(({ payload }) => payload)).toEqual(['Delete a?', 'Where to?'])
  const state = await agent.getState(thread, { subgraphs: true })
  const waiting = state!.tasks.filter(({ interrupts }) => interrupts.length > 0)
  expect(waiting).toMatchObject([
    { name: 'tools', path: ['__pregel_push', 0], interrupts: [{ value: 'Delete a?' }], state: null },
    {
      name: 'tools',
      path: ['__pregel_push', 1],
      interrupts: [{ value: 'Where to?' }],
      checkpoint: { checkpointNs: questions[1]!.namespace[0] },
    },
  ])
  expect(
    messagesIn(waiting[1]!.state!.values)
      .map(({ content }) => content)
      .slice(0, 2),
  ).toEqual(['Write', 'Writing.'])
  // A waiting namespace is never completed, because some clients take that for the end of the run.
  const lifecycle = first.filter(({ method }) => method === 'lifecycle')
  const endings = lifecycle.filter(({ data }) => (data as { event: string }).event !== 'started')
  expect(endings.map(({ namespace, data }) => [namespace.length, (data as { event: string }).event])).toEqual(
    [
      [1, 'completed'],
      [2, 'interrupted'],
      [1, 'interrupted'],
      [1, 'interrupted'],
    ],
  )
  const lastQuestion = first.findLastIndex(({ method }) => method === 'input.requested')
  expect(
    first.slice(lastQuestion).every(({ data }) => (data as { event?: string }).event !== 'completed'),
  ).toBe(true)

  const [erase, where] = questions.map(({ interrupt_id: id }) => id)
  const second = await run(agent, thread, answers({ [where!]: '/tmp' }))
  expect(asked(second).map(({ interrupt_id: id }) => id)).toEqual([erase])
  const third = await run(agent, thread, answers({ [erase!]: 'yes' }))
  expect((await texts(agent, thread)).at(-1)).toBe('yes, saved in /tmp, nothing')
  const namespaces = (events: readonly AgentEvent[]) => new Set(events.flatMap(({ namespace }) => namespace))
  for (const namespace of namespaces(third)) expect(namespaces(first)).toContain(namespace)
})

test('a tool that runs beside an interrupt finishes before the attempt ends', async () => {
  const agent = defineAgent({
    async run({ tool, interrupt }) {
      await Promise.all([
        tool('ask', {}, ({ interrupt: askInside }) => askInside('?')),
        tool('work', {}, async () => {
          for (let at = 0; at < 50; at++) await turn()
          return 'worked'
        }),
      ])
      await interrupt('never reached')
    },
  })
  const thread = newThread()
  const events = await run(agent, thread, ask)
  expect(asked(events).map(({ payload }) => payload)).toEqual(['?'])
  expect(await texts(agent, thread)).toContain('worked')
})

test('a function that catches the rejection of interrupt is suspended too, and writes nothing', async () => {
  const agent = defineAgent({
    async run({ interrupt, message }) {
      try {
        const answer = await interrupt<string>('Sure?')
        await message(answer)
      } catch {
        await message('Something went wrong.').catch(() => {})
      }
    },
  })
  const thread = newThread()
  const [question] = asked(await run(agent, thread, ask))
  expect(await texts(agent, thread)).toEqual(['go'])
  await run(agent, thread, answers({ [question!.interrupt_id]: 'fine' }))
  expect(await texts(agent, thread)).toEqual(['go', 'fine'])
})

test('an error caused by an interrupt suspends the attempt, and any other error fails it', async () => {
  const wrapping = defineAgent({
    async run({ interrupt }) {
      await interrupt('?').catch((cause: unknown) => {
        throw new Error('the tool failed', { cause })
      })
    },
  })
  expect(asked(await run(wrapping, newThread(), ask))).toHaveLength(1)
  const failing = defineAgent({
    async run({ interrupt }) {
      await interrupt('?').catch(() => {})
      throw new Error('kaput')
    },
  })
  await expect(run(failing, newThread(), ask)).rejects.toThrow('kaput')
})

test('an update that comes with the answers is part of the first values', async () => {
  const thread = newThread()
  const [a, b] = asked(await run(parallel, thread, ask))
  const events = await run(parallel, thread, {
    kind: 'resume',
    answers: { [a!.interrupt_id]: 1, [b!.interrupt_id]: 2 },
    update: [
      ['note', 'seen'],
      ['messages', [{ type: 'human', content: 'hurry', id: 'h2' }]],
    ],
  })
  const [, values] = events
  expect(values).toMatchObject({ method: 'values', data: { note: 'seen' } })
  expect(await texts(parallel, thread)).toEqual(['go', 'hurry', '1 2'])
})

test('state that is set before an interrupt is there after its answer', async () => {
  let plans = 0
  const agent = defineAgent({
    async run(context) {
      if (context.state.plan === undefined) await context.setState({ plan: `plan ${++plans}` })
      await context.interrupt({ approve: context.state.plan })
      await context.message(`Doing ${context.state.plan}`)
    },
  })
  const thread = newThread()
  const [question] = asked(await run(agent, thread, ask))
  await run(agent, thread, answers({ [question!.interrupt_id]: true }))
  expect(await texts(agent, thread)).toEqual(['go', 'Doing plan 1'])
})

test('messages that a function adds without ids are not added twice', async () => {
  const agent = defineAgent({
    async run({ setState, interrupt }) {
      await setState({ messages: [{ role: 'system', content: 'note' }] })
      await interrupt('?')
    },
  })
  const thread = newThread()
  const [question] = asked(await run(agent, thread, ask))
  await run(agent, thread, answers({ [question!.interrupt_id]: true }))
  expect(await texts(agent, thread)).toEqual(['go', 'note'])
})

test('a new input on a waiting thread starts a new run and drops the interrupts', async () => {
  const thread = newThread()
  const [a] = asked(await run(parallel, thread, ask))
  const [again] = asked(await run(parallel, thread, input({ messages: ['once more'] })))
  expect(again!.interrupt_id).not.toBe(a!.interrupt_id)
  await expect(run(parallel, thread, answers({ [a!.interrupt_id]: 1 }))).rejects.toThrow(AgentInputError)
  expect(await pending(parallel, thread)).toHaveLength(2)
})

test('a null input raises the interrupts again with the same ids', async () => {
  const thread = newThread()
  const first = asked(await run(parallel, thread, ask))
  expect(asked(await run(parallel, thread, input(null)))).toEqual(first)
})

test('an interrupt without an answer stays pending when the attempt fails or is cancelled', async () => {
  let attempts = 0
  const agent = defineAgent({
    async run({ interrupt, setState, message, custom }) {
      attempts++
      await setState({ attempts })
      if (attempts === 2) throw new Error('kaput')
      if (attempts === 3) {
        await custom('third')
        await new Promise(() => {})
      }
      await message((await Promise.all([interrupt('A?'), interrupt('B?')])).join(' '))
    },
  })
  const thread = newThread()
  const [a, b] = asked(await run(agent, thread, ask)).map(({ interrupt_id: id }) => id)
  await expect(run(agent, thread, answers({ [b!]: 'y' }))).rejects.toThrow('kaput')
  expect(await pending(agent, thread)).toEqual([{ id: a, value: 'A?' }])
  expect((await stateOf(agent, thread)).values.attempts).toBe(1)

  const stop = new AbortController()
  const events: AgentEvent[] = []
  const cancelled = (async () => {
    for await (const event of agent.stream(taskOf(thread, input(null), { signal: stop.signal }))) {
      events.push(event)
      if (event.method === 'custom') stop.abort('enough')
    }
  })()
  await expect(cancelled).rejects.toBe('enough')
  expect(await pending(agent, thread)).toEqual([{ id: a, value: 'A?' }])
  await run(agent, thread, answers({ [a!]: 'x' }))
  expect(await texts(agent, thread)).toEqual(['go', 'x y'])
})

test('calls in the same turn as an interrupt take effect, and later calls wait for the answer', async () => {
  const agent = defineAgent({
    async run({ interrupt, message }) {
      const later = interrupt<string>('?')
      await message('Meanwhile.')
      await message('Later.')
      await message(await later)
    },
  })
  const thread = newThread()
  const [question] = asked(await run(agent, thread, ask))
  expect(await texts(agent, thread)).toEqual(['go', 'Meanwhile.'])
  const second = await run(agent, thread, answers({ [question!.interrupt_id]: 'Well.' }))
  expect(started(second)).toHaveLength(2)
  expect(await texts(agent, thread)).toEqual(['go', 'Meanwhile.', 'Later.', 'Well.'])
})

test('an interrupt that the second attempt does not raise again is withdrawn', async () => {
  let attempts = 0
  const agent = defineAgent({
    async run({ interrupt }) {
      attempts++
      await Promise.all([interrupt('A?'), ...(attempts === 1 ? [interrupt('B?')] : [])])
    },
  })
  const thread = newThread()
  const [a] = asked(await run(agent, thread, ask))
  await run(agent, thread, { kind: 'resume', answers: { [a!.interrupt_id]: 1 }, update: { skip: true } })
  await agent.updateState(thread, { values: { skip: false } })
  expect((await pending(agent, thread)).map(({ value }) => value)).toEqual([])
})

test.each([
  ['an unknown interrupt', { nope: 1 }, undefined, 'nope'],
  ['a goto', {}, 'tools', 'no nodes'],
])('a resume with %s is refused before anything is written', async (_, given, goto, text) => {
  const thread = newThread()
  await run(parallel, thread, ask)
  const before = await stateOf(parallel, thread)
  await expect(run(parallel, thread, { kind: 'resume', answers: given, goto })).rejects.toThrow(text)
  expect(await stateOf(parallel, thread)).toEqual(before)
})

test('an answer is refused where no interrupt waits', async () => {
  const thread = newThread()
  await expect(run(parallel, thread, answers({ x: 1 }))).rejects.toThrow(AgentInputError)
})
