import { describe, expect, onTestFinished, test } from 'vitest'
import type { Agent } from '../../src/agents/agent.ts'
import { defineAgent } from '../../src/agents/function/define-agent.ts'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import type { AgentEngine, AnswerEnd } from '../../src/engine/index.ts'
import { textOf } from '../../src/messages/index.ts'
import { createFold, type LogGap, type ThreadEvent } from '../../src/messages/thread-events/index.ts'
import { approval, chat, twoApprovals } from '../fixtures/graphs.ts'
import { PLACES } from '../kit/databases.ts'
import { engineOf } from '../kit/engine.ts'
import { puppet } from '../kit/puppet.ts'
import { eventually, gate } from '../kit/wait.ts'

type Event = ThreadEvent | LogGap

const threadId = 't'
const text = (content: string, id?: string) => ({ messages: [{ type: 'human', content, id }] })

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

function serve(agent: Agent): AgentEngine {
  const engine = engineOf({ a: agent })
  onTestFinished(() => engine.close())
  return engine
}

const roots = (events: readonly Event[]) =>
  events.flatMap((event) =>
    event.type === 'event' && event.method === 'lifecycle' && event.namespace.length === 0
      ? [event.data.event]
      : [],
  )
const seqs = (events: readonly Event[]) => events.map((event) => (event.type === 'event' ? event.seq : 0))

const echo = defineAgent({
  async run({ messages, message }) {
    await message(`You said: ${textOf(messages.at(-1)!)}`)
  },
})

describe('an answer', () => {
  test('is started, and read to its end', async () => {
    const engine = serve(echo)
    const answer = await engine.follow({ threadId, start: { input: text('hi') } })
    expect(answer).toMatchObject({ threadId, id: answer.runId, after: 0 })
    const events = await all(answer)
    expect(roots(events)).toEqual(['running', 'completed'])
    expect(seqs(events)).toEqual(events.map((_, at) => at + 1))
    expect(answer.end).toEqual({ status: 'completed' })
    expect(answer.found.record).toMatchObject({ taskId: answer.id, state: 'completed' })
    const fold = createFold()
    for (const event of events) fold.push(event)
    expect(fold.read().messages.map(({ message }) => textOf(message))).toEqual(['hi', 'You said: hi'])
  })

  test('asks, is gone on with, and is one answer with all its events for whoever comes later', async () => {
    const engine = serve(langgraph(approval()))
    const asks = await engine.follow({ threadId, start: { input: { notes: [] } } })
    const first = await all(asks)
    const { status, questions } = asks.end as Extract<AnswerEnd, { status: 'asks' }>
    expect(status).toBe('asks')
    expect(questions.map(({ value }) => value)).toEqual([{ question: 'go?' }])
    expect((await engine.findAnswer({ threadId }))?.record.taskId).toBe(asks.id)

    const answers = { [questions[0]!.id]: 'yes' }
    const goesOn = await engine.follow({ threadId, respond: { answers } })
    expect(goesOn.id).toBe(asks.id)
    expect(goesOn.runId).not.toBe(asks.runId)
    const second = await all(goesOn)
    expect(roots(second)).toEqual(['running', 'completed'])
    expect(goesOn.end).toEqual({ status: 'completed' })
    expect(await engine.follow({ threadId })).toBeUndefined()

    for (const answerId of [asks.id, goesOn.runId]) {
      const whole = await engine.follow({ threadId, answerId })
      expect(whole).toMatchObject({ id: asks.id, end: { status: 'completed' } })
      expect(await all(whole!)).toEqual([...first, ...second])
    }
    const { seq } = first.at(-2) as ThreadEvent
    const rest = await engine.follow({ threadId, answerId: asks.id, after: seq })
    expect(await all(rest!)).toEqual([...first.slice(-1), ...second])
    const last = await engine.follow({ threadId, answerId: asks.id, runId: goesOn.runId })
    expect(await all(last!)).toEqual(second)
  })

  test('that asks twice at once keeps the open question', async () => {
    const engine = serve(langgraph(twoApprovals()))
    const asks = await engine.follow({ threadId, start: { input: { notes: [] } } })
    const end = (await asks.ended()) as Extract<AnswerEnd, { status: 'asks' }>
    expect(end.questions.map(({ value }) => value).sort()).toEqual(['left?', 'right?'])
    const [one, other] = end.questions
    const again = await engine.follow({ threadId, respond: { answers: { [one!.id]: 'yes' } } })
    await all(again)
    expect(again).toMatchObject({ id: asks.id, end: { status: 'asks', questions: [{ id: other!.id }] } })
  })

  test('tells why it failed, and that it was cancelled', async () => {
    const fails = serve(
      defineAgent({
        run: () => {
          throw new Error('no')
        },
      }),
    )
    const failed = await fails.follow({ threadId, start: { input: text('hi') } })
    expect(await failed.ended()).toEqual({ status: 'failed', error: 'no' })
    const stays = serve(defineAgent({ run: () => new Promise(() => {}) }))
    const answer = await stays.follow({ threadId, start: { input: text('hi') } })
    await stays.cancel({ threadId, answerId: answer.id })
    await all(answer)
    expect(answer.end).toEqual({ status: 'canceled' })
  })

  test('is not stopped by a reader that leaves, unless it says so', async () => {
    const engine = serve(defineAgent({ run: () => new Promise(() => {}) }))
    const stopped = async () => (await engine.findAnswer({ threadId })) === undefined
    const leaves = await engine.follow({ threadId, start: { input: text('hi') } })
    for await (const _ of leaves) break
    const leaving = new AbortController()
    const aborts = await engine.follow({ threadId, signal: leaving.signal })
    const reading = all(aborts!)
    leaving.abort(new Error('left'))
    await expect(reading).rejects.toThrow('left')
    expect(await stopped()).toBe(false)
    const stops = await engine.follow({ threadId, cancelOnLeave: true })
    for await (const _ of stops!) break
    await eventually(stopped)
    expect(leaves.end).toBeUndefined()
    expect(await leaves.ended()).toEqual({ status: 'canceled' })
  })

  test.each([
    ['is read', 'afterwards'],
    ['is waited for', 'afterwards'],
    ['is read', 'before'],
    ['is waited for', 'before'],
  ])('that %s is cancelled when the signal aborts (%s), where asked', async (how, when) => {
    const engine = serve(defineAgent({ run: () => new Promise(() => {}) }))
    const leaving = new AbortController()
    const answer = await engine.follow({
      threadId,
      start: { input: text('hi') },
      cancelOnLeave: true,
      signal: leaving.signal,
    })
    const abort = (): void => leaving.abort(new Error('left'))
    if (when === 'before') abort()
    const over = how === 'is read' ? all(answer) : answer.ended()
    if (when === 'afterwards') abort()
    await expect(over).rejects.toThrow('left')
    await eventually(async () => (await engine.findAnswer({ threadId })) === undefined)
  })

  test('is read in batches, with the JSON of its events, of the channels that are wanted', async () => {
    const engine = serve(echo)
    const filter = { channels: ['messages'] }
    const batched = await engine.follow({
      threadId,
      start: { input: text('hi') },
      filter,
      batches: true,
      json: true,
    })
    const events = (await all(batched)).flat()
    expect(new Set(events.map((event) => event.type === 'event' && event.method))).toEqual(
      new Set(['messages']),
    )
    for (const event of events) if (event.type === 'event') expect(JSON.parse(event.json)).toEqual(event.data)
    expect(batched.end).toEqual({ status: 'completed' })
  })

  test('takes another message while it works, and ends with the last of them', async () => {
    const { agent, finish } = puppet()
    const engine = serve(agent)
    const answer = await engine.follow({ threadId, start: { input: {} } })
    const more = { id: answer.id, details: {} }
    const queued = await engine.follow({ threadId, start: { input: {}, answer: more } })
    expect(queued.id).toBe(answer.id)
    const [whole, last] = [all(answer), all(queued)]
    finish()
    await eventually(() => answer.runId === queued.runId)
    expect(answer.end).toBeUndefined()
    finish()
    expect(roots(await whole)).toEqual(['running', 'completed', 'running', 'completed'])
    expect(roots(await last)).toEqual(['running', 'completed'])
  })

  test('that nobody started as one is one under the id of its run', async () => {
    const engine = serve(echo)
    const { runId } = await engine.start({ threadId, input: text('hi') })
    await engine.wait({ threadId, runId })
    const answer = await engine.follow({ threadId, answerId: runId })
    expect(roots(await all(answer!))).toEqual(['running', 'completed'])
    expect(answer).toMatchObject({ id: runId, end: { status: 'completed' } })
  })

  test('of a thread that is deleted ends in an error, and another principal has none', async () => {
    const engine = serve(defineAgent({ run: () => new Promise(() => {}) }))
    const principal = { id: 'ann' }
    const answer = await engine.follow({ threadId, principal, start: { input: text('hi') } })
    const bob = { threadId, principal: { id: 'bob' } }
    expect(await engine.follow({ ...bob, answerId: answer.id })).toBeUndefined()
    expect(await engine.follow(bob)).toBeUndefined()
    expect(await engine.snapshot(bob)).toBeUndefined()
    expect(await engine.checkpointBefore({ ...bob, messageId: 'm' })).toBeUndefined()
    const reading = expect(all(answer)).rejects.toMatchObject({ code: 'no_such_thread' })
    await engine.deleteThread({ threadId, principal })
    await reading
  })

  test('is started once by a command that is sent twice', async () => {
    const engine = serve(echo)
    const start = { input: text('hi'), command: { key: 'k', fingerprint: 'f' } }
    const [one, two] = [await engine.follow({ threadId, start }), await engine.follow({ threadId, start })]
    expect(two.id).toBe(one.id)
    expect(await all(two)).toEqual(await all(one))
  })
})

describe.each(PLACES)('an answer in $name', ({ open }) => {
  test('is followed by another engine while the first one gives it', async () => {
    const storage = await open()
    const pause = gate()
    const agent = defineAgent({
      async run({ message }) {
        const writer = message()
        await writer.text('Half ')
        await pause.opened
        await writer.text('done')
        await writer.end()
      },
    })
    const [here, there] = [engineOf({ a: agent }, storage), engineOf({ a: agent }, storage)]
    onTestFinished(async () => void (await Promise.all([here.close(), there.close()])))
    const started = await here.follow({ threadId, start: { input: text('hi') } })
    const found = await there.follow({ threadId })
    expect(found?.id).toBe(started.id)
    const [mine, theirs] = [all(started), all(found!)]
    pause.open()
    expect(await theirs).toEqual(await mine)
    expect(found!.end).toEqual({ status: 'completed' })
  })
})

describe('the active answer of a thread', () => {
  test('is the one that goes on, else the one that waits, else the one that has asked', async () => {
    const { agent, finish } = puppet()
    const engine = serve(agent)
    const active = async () => (await engine.findAnswer({ threadId }))?.record.taskId
    expect(await active()).toBeUndefined()
    const first = await engine.follow({ threadId, start: { input: {} } })
    expect(await active()).toBe(first.id)
    const plain = await engine.start({ threadId, input: {} })
    expect(await active()).toBe(first.id)
    finish()
    await first.ended()
    await eventually(async () => (await active()) === plain.runId)
    finish()
    await engine.wait({ threadId, runId: plain.runId })
    expect(await active()).toBeUndefined()
    const later = await engine.start({ threadId, input: {}, startAfterMs: 60_000 })
    expect(await active()).toBe(later.runId)
  })

  test('is none once what it has asked is cancelled', async () => {
    const engine = serve(langgraph(approval()))
    const asks = await engine.follow({ threadId, start: { input: { notes: [] } } })
    await asks.ended()
    expect((await engine.findAnswer({ threadId }))?.record.state).toBe('input-required')
    await engine.cancel({ threadId, answerId: asks.id })
    expect(await engine.findAnswer({ threadId })).toBeUndefined()
    await expect(engine.cancel({ threadId, answerId: 'x' })).rejects.toMatchObject({ code: 'no_such_task' })
  })
})

describe.each([
  ['a graph', () => langgraph(chat((messages) => ({ text: `to ${messages.at(-1)!.content as string}` })))],
  [
    'a function',
    () =>
      defineAgent({
        async run({ messages, message }) {
          await message(`to ${textOf(messages.at(-1)!)}`)
        },
      }),
  ],
])('the checkpoint before a message of %s', (_, agent) => {
  const stateOf = async (engine: AgentEngine) => {
    const state = await engine.readState((await engine.findThread({ threadId }))!)
    return (state!.values.messages as { readonly id: string; readonly content: unknown }[]).map((one) => ({
      id: one.id,
      text: typeof one.content === 'string' ? one.content : (one.content as { text: string }[])[0]!.text,
    }))
  }
  const texts = async (engine: AgentEngine) => (await stateOf(engine)).map((one) => one.text)

  async function say(engine: AgentEngine, content: string | null, id?: string, checkpointId?: string | null) {
    const input = content === null ? null : text(content, id)
    const answer = await engine.follow({ threadId, start: { input, checkpointId } })
    expect(await answer.ended()).toEqual({ status: 'completed' })
  }

  async function forkPoint(engine: AgentEngine, messageId: string): Promise<string | null> {
    const found = await engine.checkpointBefore({ threadId, messageId })
    expect(found).not.toBeUndefined()
    return found!
  }

  test('is where an edited message begins, the first one of the thread, too', async () => {
    const engine = serve(agent())
    await say(engine, 'one', 'm1')
    await say(engine, 'two', 'm2')
    expect(await texts(engine)).toEqual(['one', 'to one', 'two', 'to two'])
    await say(engine, 'TWO', 'm2', await forkPoint(engine, 'm2'))
    expect(await texts(engine)).toEqual(['one', 'to one', 'TWO', 'to TWO'])
    await say(engine, 'ONE', 'n1', await forkPoint(engine, 'm1'))
    expect(await texts(engine)).toEqual(['ONE', 'to ONE'])
    await say(engine, 'next', 'n2')
    expect(await texts(engine)).toEqual(['ONE', 'to ONE', 'next', 'to next'])
  })

  test('is where an answer is written again', async () => {
    const engine = serve(agent())
    await say(engine, 'one', 'm1')
    await say(engine, 'two', 'm2')
    const old = await stateOf(engine)
    await say(engine, null, undefined, await forkPoint(engine, old.at(-1)!.id))
    const again = await stateOf(engine)
    expect(again.map((one) => one.text)).toEqual(['one', 'to one', 'two', 'to two'])
    expect(again.slice(0, 3)).toEqual(old.slice(0, 3))
    expect(again.at(-1)!.id).not.toBe(old.at(-1)!.id)
    await say(engine, null, undefined, await forkPoint(engine, again[1]!.id))
    expect(await texts(engine)).toEqual(['one', 'to one'])
  })

  test('is found on branches that were left, and where a message is on several', async () => {
    const engine = serve(agent())
    await say(engine, 'one', 'm1')
    await say(engine, 'two', 'm2')
    const left = await stateOf(engine)
    await say(engine, 'TWO', 'n2', await forkPoint(engine, 'm2'))
    // `m2` is on the first branch alone, `m1` on both.
    await say(engine, null, undefined, await forkPoint(engine, left.at(-1)!.id))
    expect(await texts(engine)).toEqual(['one', 'to one', 'two', 'to two'])
    await say(engine, 'three', 'm3', await forkPoint(engine, 'm1'))
    expect(await texts(engine)).toEqual(['three', 'to three'])
  })

  test('is unknown for a message that no state has', async () => {
    const engine = serve(agent())
    expect(await engine.checkpointBefore({ threadId, messageId: 'm1' })).toBeUndefined()
    await say(engine, 'one', 'm1')
    expect(await engine.checkpointBefore({ threadId, messageId: 'x' })).toBeUndefined()
  })

  test('is null where the first state has the message, from which a run begins with an empty state', async () => {
    const engine = serve(agent())
    await engine.writeState({ threadId, values: text('given', 'm0'), newThread: { assistantId: 'a' } })
    const found = await forkPoint(engine, 'm0')
    await say(engine, 'one', 'm1', found)
    expect(await texts(engine)).toEqual(['one', 'to one'])
    await say(engine, 'two', 'm2', null)
    expect(await texts(engine)).toEqual(['two', 'to two'])
    await say(engine, 'three', 'm3')
    expect(await texts(engine)).toEqual(['two', 'to two', 'three', 'to three'])
  })
})
