import { afterEach, beforeEach, expect, test } from 'vitest'
import { type AgentContext, defineAgent } from '../../../src/agents/function/define-agent.ts'
import type { AgentEvent } from '../../../src/messages/thread-events/index.ts'
import { openaiChat } from '../../../src/models/formats/index.ts'
import { FencedError } from '../../../src/storage/errors.ts'
import { memoryCheckpointer } from '../../../src/storage/memory/checkpointer.ts'
import { gate } from '../../kit/wait.ts'
import { ask, messagesIn, newThread, outline, run, stateOf, taskOf, turn } from '../run.ts'

const unhandled: unknown[] = []
const note = (reason: unknown) => unhandled.push(reason)
beforeEach(() => process.on('unhandledRejection', note))
afterEach(async () => {
  await turn()
  await turn()
  process.off('unhandledRejection', note)
  expect(unhandled.splice(0)).toEqual([])
})

const BIG_TEXT = 'x'.repeat(512 * 1024)

test('the error of a function that throws comes after its events', async () => {
  const agent = defineAgent({
    async run({ message, subagent }) {
      void message().text('half a')
      await subagent('helper', 'Help', async ({ message: say }) => {
        void say().text('half b')
        throw new RangeError('kaput')
      })
    },
  })
  const events: AgentEvent[] = []
  const failed = (async () => {
    for await (const event of agent.stream(taskOf(newThread(), ask))) events.push(event)
  })()
  await expect(failed).rejects.toBeInstanceOf(RangeError)
  expect(outline(events).slice(-9)).toEqual(
    [
      'messages [tools] error',
      'tools [tools] tool-error',
      'updates [] agent',
      'lifecycle [tools] completed',
      'checkpoints [] loop',
      'values []',
      'messages [] error',
      'tasks []',
    ].toSpliced(0, 0, 'messages [tools] content-block-delta'),
  )
})

test('a function that throws while a tool runs fails the namespace of that tool', async () => {
  const never = gate()
  const agent = defineAgent({
    async run({ tool }) {
      void tool('slow', {}, () => never.opened)
      await tool('quick', {}, () => 1)
      throw new Error('kaput')
    },
  })
  const events: AgentEvent[] = []
  const failed = (async () => {
    for await (const event of agent.stream(taskOf(newThread(), ask))) events.push(event)
  })()
  await expect(failed).rejects.toThrow('kaput')
  const lifecycle = events
    .filter(({ method }) => method === 'lifecycle')
    .map(({ data }) => data as { event: string; error?: string })
  expect(lifecycle.map(({ event }) => event)).toEqual(['started', 'started', 'completed', 'failed'])
  expect(lifecycle.at(-1)!.error).toBe('kaput')
  never.open()
})

test('a cancel is thrown at once, and later calls of the function have no effect', async () => {
  const ended = gate()
  const steps: string[] = []
  const settled = () => void steps.push('settled')
  const refused = (error: unknown) => void steps.push((error as Error).message)
  const agent = defineAgent({
    async run({ message, signal, tool, setState, custom }) {
      const m = message()
      await m.text('one')
      signal.addEventListener('abort', () => steps.push(String(signal.reason)))
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
      steps.push('goes on')
      void m.text('two')
      void custom('late')
      const late = [setState({ late: true }), tool('late', {}, () => steps.push('ran')), m.end()]
      for (const one of late) void one.then(settled, refused)
      await Promise.allSettled(late)
      ended.open()
    },
  })
  const thread = newThread()
  const stop = new AbortController()
  const events: AgentEvent[] = []
  const cancelled = (async () => {
    for await (const event of agent.stream(taskOf(thread, ask, { signal: stop.signal }))) {
      events.push(event)
      if ((event.data as { delta?: unknown }).delta) stop.abort('cancelled')
    }
  })()
  await expect(cancelled).rejects.toBe('cancelled')
  await ended.opened
  await turn()
  const refusals = Array.from({ length: 3 }, () => 'The run was cancelled.')
  expect(steps).toEqual(['cancelled', 'goes on', ...refusals])
  expect(events.at(-1)!.data).toMatchObject({ event: 'content-block-delta' })
  const state = await stateOf(agent, thread)
  expect(messagesIn(state.values).map(({ content }) => content)).toEqual(['go'])
  expect(state.next).toEqual(['agent'])
})

const never = new Promise<never>(() => {})

/** What a function may wait for while its run is cancelled. */
const WAITS: Readonly<Record<string, (context: AgentContext) => Promise<unknown>>> = {
  'a message': async ({ message }) => {
    const m = message()
    for (;;) await m.text('x')
  },
  'its events': async ({ custom }) => {
    for (;;) await custom('x')
  },
  'its state': async ({ setState }) => {
    for (let at = 0; ; at++) await setState({ at })
  },
  'a tool': ({ tool }) => tool('slow', {}, () => never),
  'the output of a tool': ({ tool }) =>
    tool('chatty', {}, async ({ output }) => {
      for (;;) await output('x')
    }),
  'a subagent': ({ subagent }) => subagent('slow', 'Wait', () => never),
  'a subagent that writes': ({ subagent }) =>
    subagent('chatty', 'Write', async ({ message }) => {
      const m = message()
      for (;;) await m.text('x')
    }),
  'a model that ignores its end': ({ model }) =>
    model({ [Symbol.asyncIterator]: () => ({ next: () => never, return: () => never }) }, openaiChat),
  'calls that it made at once': async ({ tool, custom, message }) => {
    void message('not awaited')
    void tool('not awaited', {}, () => never)
    await Promise.all([tool('awaited', {}, () => never), custom('x'), message().end()])
  },
}

test.each(Object.entries(WAITS))(
  'a cancel runs the finally of a function that awaits %s',
  async (_, wait) => {
    const cleanedUp = gate()
    const started = gate()
    const errors: unknown[] = []
    const agent = defineAgent({
      async run(context) {
        try {
          started.open()
          await wait(context)
        } catch (error) {
          errors.push(error)
        } finally {
          cleanedUp.open()
        }
      },
    })
    const stop = new AbortController()
    const cancelled = (async () => {
      let taken = 0
      for await (const _ of agent.stream(taskOf(newThread(), ask, { signal: stop.signal })))
        if (++taken === 100) stop.abort('enough')
    })()
    await started.opened
    setTimeout(() => stop.abort('enough'), 20)
    await expect(cancelled).rejects.toBe('enough')
    await cleanedUp.opened
    expect(errors).toMatchObject([{ code: 'cancelled' }])
  },
)

test('a run that is cancelled before its first event does not run the function', async () => {
  let ran = false
  const agent = defineAgent({
    run() {
      ran = true
    },
  })
  const thread = newThread()
  await expect(run(agent, thread, ask, { signal: AbortSignal.abort('early') })).rejects.toBe('early')
  await turn()
  expect(ran).toBe(false)
  expect(await agent.getState(thread)).toBeUndefined()
})

test('return settles at once although the function never ends', async () => {
  const aborted = gate()
  const agent = defineAgent({
    async run({ signal }) {
      signal.addEventListener('abort', aborted.open)
      await new Promise(() => {})
    },
  })
  const iterator = agent.stream(taskOf(newThread(), ask))[Symbol.asyncIterator]()
  for (let taken = 0; taken < 3; taken++) await iterator.next()
  const waiting = iterator.next()
  expect(await iterator.return!()).toEqual({ done: true, value: undefined })
  expect(await waiting).toEqual({ done: true, value: undefined })
  expect(await iterator.next()).toEqual({ done: true, value: undefined })
  await aborted.opened
})

test('a cancelled function that ignores its signal stops at its next awaited write', async () => {
  let written = 0
  const agent = defineAgent({
    async run({ message }) {
      const m = message()
      for (;;) {
        await m.text('x')
        written++
      }
    },
  })
  const stop = new AbortController()
  const cancelled = (async () => {
    let taken = 0
    for await (const _ of agent.stream(taskOf(newThread(), ask, { signal: stop.signal }))) {
      if (++taken === 1_000) stop.abort('enough')
    }
  })()
  await expect(cancelled).rejects.toBe('enough')
  const then = written
  await turn()
  expect(written).toBe(then)
})

test('a function that awaits its writes does not run ahead of the reader', async () => {
  let written = 0
  const agent = defineAgent({
    async run({ message }) {
      const m = message()
      for (; written < 10_000; written++) await m.text('x')
    },
  })
  const iterator = agent.stream(taskOf(newThread(), ask))[Symbol.asyncIterator]()
  for (let taken = 0; taken < 5; taken++) await iterator.next()
  await turn()
  expect(written).toBeLessThan(100)
  const before = written
  for (let taken = 0; taken < 500; taken++) await iterator.next()
  await turn()
  expect(written - before).toBeGreaterThan(400)
  expect(written - before).toBeLessThan(600)
  await iterator.return!()
})

test('a function that never awaits fails before it fills the memory', async () => {
  const agent = defineAgent({
    run({ message }) {
      const m = message()
      for (let at = 0; at < 200_000; at++) void m.text('x')
    },
  })
  await expect(run(agent, newThread(), ask)).rejects.toMatchObject({ code: 'overflow' })
})

test('a function that awaits its writes stays few big events ahead', async () => {
  let written = 0
  const agent = defineAgent({
    async run({ custom, message }) {
      const m = message()
      for (; written < 40; written++) await (written % 2 ? custom({ read: [BIG_TEXT] }) : m.text(BIG_TEXT))
    },
  })
  const iterator = agent.stream(taskOf(newThread(), ask))[Symbol.asyncIterator]()
  for (let taken = 0; taken < 5; taken++) await iterator.next()
  await turn()
  expect(written).toBeLessThan(5)
  let events = 5
  for await (const _ of { [Symbol.asyncIterator]: () => iterator }) events++
  expect(written).toBe(40)
  expect(events).toBeGreaterThan(45)
})

test('a function that never awaits fails before its big events fill the memory', async () => {
  const agent = defineAgent({
    run({ custom }) {
      for (let at = 0; at < 200; at++) void custom(BIG_TEXT)
    },
  })
  await expect(run(agent, newThread(), ask)).rejects.toMatchObject({ code: 'overflow' })
})

test('one event may be longer than what may wait', async () => {
  const agent = defineAgent({
    run({ custom }) {
      void custom(BIG_TEXT.repeat(140))
    },
  })
  const events = await run(agent, newThread(), ask)
  expect(events.filter(({ method }) => method === 'custom')).toHaveLength(1)
})

test('writes that are not awaited arrive in order', async () => {
  const agent = defineAgent({
    run({ message, setState, custom }) {
      const m = message()
      for (let at = 0; at < 5_000; at++) void m.text(`${at} `)
      void m.end()
      void setState({ a: 1 })
      void custom('last')
    },
  })
  const thread = newThread()
  const events = await run(agent, thread, ask)
  const deltas = events.flatMap(({ data }) => (data as { delta?: { text: string } }).delta?.text ?? [])
  expect(deltas).toEqual(Array.from({ length: 5_000 }, (_, at) => `${at} `))
  const changed = events.findIndex(({ method, data }) => method === 'values' && 'a' in (data as object))
  expect(events.findIndex(({ method }) => method === 'custom')).toBe(changed + 1)
})

test('after the end of a run its signal does not abort, and late writes have no effect', async () => {
  const late = gate()
  let signalled = false
  const agent = defineAgent({
    run({ signal, custom }) {
      signal.addEventListener('abort', () => (signalled = true))
      void turn()
        .then(turn)
        .then(() => custom('late'))
      void turn().then(turn).then(late.open)
    },
  })
  const events = await run(agent, newThread(), ask)
  await late.opened
  expect(signalled).toBe(false)
  expect(events.some(({ method }) => method === 'custom')).toBe(false)
})

test('a checkpoint write that is fenced ends the stream with its error', async () => {
  const inner = memoryCheckpointer()
  let fenced = false
  const checkpointer = {
    ...inner,
    put: (...args: Parameters<typeof inner.put>) =>
      fenced ? Promise.reject(new FencedError('gone')) : inner.put(...args),
  }
  const agent = defineAgent({
    async run({ setState }) {
      fenced = true
      await setState({ a: 1 })
    },
  })
  await expect(run(agent, newThread(checkpointer), ask)).rejects.toBeInstanceOf(FencedError)
})

test('parallel calls of next get the events in order', async () => {
  const agent = defineAgent({
    async run({ message }) {
      await message('hi')
    },
  })
  const iterator = agent.stream(taskOf(newThread(), ask))[Symbol.asyncIterator]()
  const results = await Promise.all(Array.from({ length: 20 }, () => iterator.next()))
  const events = results.flatMap(({ value }) => value ?? []) as AgentEvent[]
  expect(outline(events)).toEqual(outline(await run(agent, newThread(), ask)))
})

test('the function does not run before the first call of next', async () => {
  let ran = false
  const agent = defineAgent({
    run() {
      ran = true
    },
  })
  agent.stream(taskOf(newThread(), ask))
  await turn()
  expect(ran).toBe(false)
})
