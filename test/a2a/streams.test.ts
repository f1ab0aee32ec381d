import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import type { StreamEntry } from '../../src/faces/a2a/model.ts'
import { createTranslator, TASK_EVENTS } from '../../src/faces/a2a/tasks/follow.ts'
import type { FoundTask } from '../../src/faces/a2a/tasks/present.ts'
import { type Agent, createAgentServer, defineAgent, type ServerOptions } from '../../src/index.ts'
import { textOf } from '../../src/messages/index.ts'
import type { EventData, LogGap, ThreadEvent } from '../../src/messages/thread-events/index.ts'
import { memoryCheckpointer } from '../../src/storage/memory/checkpointer.ts'
import { memoryStore } from '../../src/storage/memory/store.ts'
import { ScriptedChatModel } from '../fixtures/plain-graphs.ts'
import { unexpectedErrors } from '../kit/errors.ts'
import { puppet } from '../kit/puppet.ts'
import { sharedMemory } from '../kit/shared.ts'
import { eventually, gate } from '../kit/wait.ts'
import {
  all,
  clientOf,
  type Json,
  nothingTold,
  type StreamEvent,
  said,
  shown,
  shownBy,
  tell,
  toldBy,
} from './streams.ts'

type Run = Parameters<typeof defineAgent>[0]['run']

/** A server of one agent in process, and a client of it. */
function serve(agent: Agent | Run, options: Partial<ServerOptions> = {}) {
  const { errors, reporters } = unexpectedErrors()
  const server = createAgentServer({
    agents: { a: typeof agent === 'function' ? defineAgent({ run: agent }) : agent },
    ...reporters,
    ...options,
  } as ServerOptions)
  onTestFinished(async () => {
    await server.close()
    expect(errors).toEqual([])
  })
  const client = clientOf('http://127.0.0.1/a2a/a', (request) => server.fetch(request))
  return { server, engine: server.engine, client }
}

/** The events without `lastChunk`, which is up to how fast the end of an artifact follows. */
const lines = (events: readonly StreamEvent[]) =>
  events.map(({ result: { kind, artifact, append, status, final } }) =>
    kind === 'artifact-update'
      ? [append ? '+' : '=', ...artifact.parts.map((part: Json) => part.text ?? part.kind)].join(' ').trim()
      : `${kind} ${status.state}${final ? ' final' : ''}`,
  )

const answerOf = (task: {
  readonly artifacts?: readonly { readonly name?: string; readonly parts: Json[] }[]
}) =>
  task.artifacts
    ?.find(({ name }) => name === 'Assistant Response')
    ?.parts.map(({ text }) => text)
    .join('')

const FILE = {
  type: 'file',
  base64: 'AAEC',
  mimeType: 'application/pdf',
  extras: { filename: 'a.pdf' },
} as const

/** Two messages, of which the second is the answer, with a file between its texts, and two artifacts. */
const rich: Run = async ({ message, artifact }) => {
  await message('Let me look.')
  const writer = message()
  await writer.reasoning('Hm.')
  await writer.text('The report ')
  const report = artifact({ id: 'report', name: 'Report' })
  await report.text('Sales: ')
  await writer.text('is this: ')
  await writer.block(FILE)
  await report.data({ may: 1 })
  await report.data({ june: 2 })
  await report.text('so far')
  await writer.text('That is ')
  await writer.text('all.')
  await report.end()
  await artifact('a,b', { id: 'table' })
  await writer.end()
}

describe('a stream', () => {
  test('gives the task, chunks of the artifacts, and the final status, once each', async () => {
    const { client } = serve(rich)
    const events = await all(client.stream(said('go')))
    expect(lines(events)).toEqual([
      'task submitted',
      'status-update working',
      '= Let me look.',
      '= The report',
      '= Sales:',
      '+ is this:',
      '+ file',
      '+ data',
      '+ data',
      '+ so far',
      '+ That is',
      '+ all.',
      '= a,b',
      'status-update completed final',
    ])
    const { result: task } = events[0]!
    const recorded = await client.get(task.id)
    expect(shownBy(toldBy(events))).toEqual(shown(recorded.artifacts))
    expect(Object.keys(shown(recorded.artifacts))).toEqual(
      [`answer-${task.id.split(':').at(-1)}`, 'report', 'table'].sort(),
    )
    const ids = events.slice(1).map(({ id }) => Number(id))
    expect(ids.every((id, i) => i === 0 || id > ids[i - 1]!)).toBe(true)
  })

  test('that is cut after any event goes on without a gap or a double, by the last id that was read', async () => {
    const { client } = serve(rich)
    const whole = await all(client.stream(said('go')))
    const { id } = whole[0]!.result
    const recorded = shown((await client.get(id)).artifacts)
    for (let cut = 2; cut < whole.length; cut++) {
      const told = toldBy(whole.slice(0, cut))
      const rest = await all(client.resubscribe(id, told.lastId))
      expect(rest[0]!.result.kind).toBe('task')
      expect(lines(rest.slice(1)), `after ${cut}`).toEqual(lines(whole.slice(cut)))
      expect(shownBy(toldBy(rest, told))).toEqual(recorded)
      expect(told.finals).toBe(1)
    }
  })

  test('of another task, or beyond the log, is no place to go on from', async () => {
    const { client } = serve(async ({ messages, message }) => {
      await message(textOf(messages.at(-1)!))
    })
    const contextId = 'c'
    const first = await all(client.stream(said('one', { contextId })))
    const second = await all(client.stream(said('two', { contextId })))
    const { id } = first[0]!.result
    const told = toldBy(await all(client.resubscribe(id, second.at(-1)!.id)))
    expect(shownBy(told)).toEqual(shown((await client.get(id)).artifacts))
    expect(told.finals).toBe(1)
    for (const lastEventId of ['999999', 'x1', '1x', '-1', '9'.repeat(16)])
      await expect(all(client.resubscribe(id, lastEventId))).rejects.toThrow(/Get it instead/)
  })

  test('takes the text of one of the messages that are written at once, and the recorded one at the end', async () => {
    const { client } = serve(async ({ message }) => {
      const [one, two] = [message(), message()]
      for (const n of [1, 2, 3]) {
        await one.text(`one${n} `)
        await two.text(`two${n} `)
      }
      await two.end()
      await one.end()
    })
    const events = await all(client.stream(said('go')))
    for (let at = 1; at <= events.length; at++) {
      const [answer] = Object.values(shownBy(toldBy(events.slice(0, at)))) as Json[]
      expect(answer?.[0].text ?? '').toMatch(/^(one1 |two1 (two2 (two3 )?)?|one1 one2 one3 )?$/)
    }
    const task = await client.get(events[0]!.result.id)
    expect(shownBy(toldBy(events))).toEqual(shown(task.artifacts))
  })

  test('sends the text of a block once that was left and taken up again', async () => {
    const actor = puppet()
    const { client } = serve(actor.agent)
    const text = (so: string) => ({ type: 'text', text: so })
    const data: EventData['messages'][] = [
      { event: 'message-start', id: 'm', role: 'ai' },
      { event: 'content-block-start', index: 0, content: text('') },
      { event: 'content-block-delta', index: 0, delta: { type: 'text-delta', text: 'one ' } },
      { event: 'content-block-finish', index: 0, content: text('one ') },
      { event: 'content-block-start', index: 1, content: text('') },
      { event: 'content-block-finish', index: 1, content: text('two ') },
      { event: 'content-block-start', index: 0, content: text('one ') },
      { event: 'content-block-delta', index: 0, delta: { type: 'text-delta', text: 'more ' } },
      { event: 'content-block-finish', index: 0, content: text('one more ') },
      { event: 'message-finish', reason: 'stop' },
    ]
    actor.emit(...data.map((one) => ({ method: 'messages' as const, namespace: [], node: 'n', data: one })))
    actor.finish()
    const events = await all(client.stream(said('go')))
    expect(lines(events).slice(2, -2)).toEqual(['= one', '+ two', '+ more'])
  })

  test('shows what was written before a pause, whose reader comes back to the rest without a double', async () => {
    const opened = gate()
    const { client } = serve(async ({ message, artifact }) => {
      const writer = message()
      await writer.text('Let me ')
      await writer.text('look…')
      await opened.opened
      await writer.text(' Found.')
      await writer.end()
      await artifact('a,b', { id: 'table' })
    })
    const stream = await client.stream(said('go'))
    const { id } = (await stream.next()).value!.result
    const told = nothingTold()
    const text = () => (Object.values(shownBy(told))[0]?.[0] as Json)?.text
    while (text() !== 'Let me look…') tell(told, (await stream.next()).value!)
    const resumed = client.resubscribe(id, told.lastId)
    opened.open()
    for await (const event of stream) tell(told, event)
    const rest = await all(resumed)
    expect(lines(rest).slice(1)).toEqual(['+  Found.', '= a,b', 'status-update completed final'])
    expect(Object.values(shownBy(told))).toEqual([
      [{ kind: 'text', text: 'Let me look… Found.' }],
      [{ kind: 'text', text: 'a,b' }],
    ])
    const chunks = [...rest.map(({ result }) => result.artifact)].filter(Boolean)
    expect(chunks.flatMap(({ parts }: Json) => parts).every((part: Json) => part.text !== '')).toBe(true)
  })

  test('has each piece at once, also where what follows it waits, and sends nothing for an end that comes later', async () => {
    const opened = gate()
    const { client } = serve(async ({ message, artifact }) => {
      const writer = message()
      await writer.text('All of it.')
      await opened.opened
      await writer.end()
      await artifact('a,b', { id: 'table' })
    })
    const seen: StreamEvent[] = []
    for await (const event of await client.stream(said('go'))) {
      seen.push(event)
      if (JSON.stringify(event).includes('All of it.')) opened.open()
    }
    expect(lines(seen).slice(2)).toEqual(['= All of it.', '= a,b', 'status-update completed final'])
    const ends = seen.map(({ result }) => result.lastChunk ?? false)
    expect(ends.slice(2)).toEqual([false, true, false])
  })

  test('has the same entries however its events are cut into batches, and an end where it is in the batch of the last piece', async () => {
    const { client, engine } = serve(rich)
    const { id, contextId } = await client.send(said('go'))
    const thread = (await engine.findThread({ threadId: contextId }))!
    const runId = id.split(':').at(-1)!
    const found = { contextId, thread, record: { taskId: runId, runIds: [runId] } } as unknown as FoundTask
    const events: (ThreadEvent | LogGap)[] = []
    for await (const batch of engine.events({
      batches: true,
      threadId: contextId,
      after: 0,
      runId,
      filter: TASK_EVENTS,
    }))
      events.push(...batch)
    const translated = (cuts: readonly number[]) => {
      const { translate } = createTranslator(found, 'artifacts')
      const edges = [0, ...cuts, events.length]
      return edges.slice(1).flatMap((to, at) => translate(events.slice(edges[at], to)))
    }
    const endless = (entries: readonly StreamEntry[]) =>
      entries.map(({ id, item }) => ({ id, item: { ...item, lastChunk: undefined } }))
    const endsOf = (entries: readonly StreamEntry[]) =>
      entries.flatMap(({ id, item }) => (item.type === 'artifact' && item.lastChunk ? [id] : []))
    const whole = translated([])
    // Of the first message, of the second, of the report and of the table.
    expect(endsOf(whole)).toHaveLength(4)
    expect(new Set(whole.map(({ id }) => id)).size).toBe(whole.length)
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: events.length - 1 }))
    fc.assert(
      fc.property(cuts, (all) => {
        const entries = translated(all.toSorted((a, b) => a - b))
        expect(endless(entries)).toEqual(endless(whole))
        expect(endsOf(whole)).toEqual(expect.arrayContaining(endsOf(entries)))
      }),
    )
    expect(endsOf(translated(events.map((_, at) => at).slice(1)))).toEqual([])
  })

  test('shows nothing of what subagents and tools write', async () => {
    const { client } = serve(async ({ subagent, message }) => {
      await subagent('helper', 'help', async (own) => {
        await own.message('inner words')
        await own.artifact('inner file')
      })
      await message('outer words')
    })
    const events = await all(client.stream(said('go')))
    expect(JSON.stringify(events)).not.toContain('inner')
    expect(lines(events)).toEqual([
      'task submitted',
      'status-update working',
      '= outer words',
      'status-update completed final',
    ])
  })

  test('takes an artifact back that is in no state, because the agent has failed in the middle of it', async () => {
    const model = new ScriptedChatModel(() => ({ text: 'half an answer' }))
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('say', async ({ messages }) => {
        await model.invoke(messages)
        throw new Error('broken')
      })
      .addEdge(START, 'say')
      .compile()
    const { client } = serve(langgraph(graph))
    const events = await all(client.stream(said('go')))
    expect(lines(events)).toEqual([
      'task submitted',
      'status-update working',
      '= half',
      '+ an',
      '+ answer',
      '=',
      'status-update failed final',
    ])
    const task = await client.get(events[0]!.result.id)
    expect([shownBy(toldBy(events)), shown(task.artifacts)]).toEqual([{}, {}])
  })

  test('of a run that is rolled back takes everything back, and the task has nothing of the tasks before', async () => {
    const { client, engine } = serve(async ({ messages, message, artifact, signal }) => {
      const text = textOf(messages.at(-1)!)
      await message(`answer to ${text}`)
      await artifact(`file of ${text}`, { id: 'file' })
      if (text === 'two')
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    const contextId = crypto.randomUUID()
    await all(client.stream(said('one', { contextId })))
    const told = nothingTold()
    for await (const event of await client.stream(said('two', { contextId }))) {
      tell(told, event)
      if (event.result.kind === 'task') continue
      if (event.result.artifact?.artifactId === 'file' && told.finals === 0 && event.result.lastChunk)
        void engine.cancel({
          threadId: contextId,
          runId: event.result.taskId.split(':')[1],
          action: 'rollback',
        })
    }
    expect(told.states).toEqual(['working', 'canceled'])
    expect(shownBy(told)).toEqual({})
    const { tasks } = (await client.ask('ListTasks', {
      contextId,
      includeArtifacts: true,
      historyLength: 9,
    })) as Json
    expect(
      tasks.map(({ status, history, artifacts }: Json) => [
        status.state,
        history?.length ?? 0,
        artifacts?.length ?? 0,
      ]),
    ).toEqual([
      ['TASK_STATE_CANCELED', 0, 0],
      ['TASK_STATE_COMPLETED', 2, 2],
    ])
  })

  test('in the form of LangGraph has the text so far in each status, and the artifact whole at the end', async () => {
    const { client } = serve(rich, { a2a: { stream: 'messages' } })
    const events = await all(client.stream(said('go')))
    const texts = events
      .map(({ result }) => result.status?.message?.parts.map((part: Json) => part.text ?? part.kind))
      .filter(Boolean)
    expect(texts).toEqual([
      ['Let me look.'],
      ['The report '],
      ['The report is this: '],
      ['The report is this: ', 'file'],
      ['The report is this: ', 'file', 'That is '],
      ['The report is this: ', 'file', 'That is all.'],
    ])
    expect(lines(events).filter((line) => !line.startsWith('status-update working'))).toEqual([
      'task submitted',
      '= Sales:',
      '+ data',
      '+ data',
      '+ so far',
      '= a,b',
      '= The report is this:  file That is all.',
      'status-update completed final',
    ])
    const { id } = events[0]!.result
    expect(shownBy(toldBy(events))).toEqual(shown((await client.get(id)).artifacts))
    const told = toldBy(events.slice(0, 8))
    expect(shownBy(toldBy(await all(client.resubscribe(id, told.lastId)), told))).toEqual(
      shown((await client.get(id)).artifacts),
    )
  })
})

describe('a task of several runs', () => {
  /** Says the message, and asks where that ends in a question mark. */
  const asking: Run = async ({ messages, message, interrupt }) => {
    const text = textOf(messages.at(-1)!)
    await message(`heard ${text}`)
    if (!text.endsWith('?')) return
    const half = message()
    await half.text('before the question ')
    const answer = await interrupt({ question: 'Which one?' })
    await half.text(`after ${String(answer)}`)
    await half.end()
  }

  test('ends its stream at a question, and the stream of the answer goes on with the same artifacts', async () => {
    const { client } = serve(asking)
    const events = await all(client.stream(said('this?')))
    const told = toldBy(events)
    expect(told.states).toEqual(['working', 'input-required'])
    const { id: taskId, contextId } = events[0]!.result
    const waiting = await client.get(taskId)
    expect(shownBy(told)).toEqual(shown(waiting.artifacts))
    const rest = await all(client.stream(said('that', { taskId, contextId })))
    toldBy(rest, told)
    const done = await client.get(taskId)
    expect(done.status.state).toBe('completed')
    const { artifacts } = done
    expect(shownBy(told)).toMatchObject(shown(artifacts))
    expect([told.finals, told.states.at(-1)]).toEqual([2, 'completed'])
  })

  test('is followed to its end by who subscribed to the first run, where more was sent meanwhile', async () => {
    const [begun, go] = [gate(), gate()]
    const { client } = serve(async ({ messages, message }) => {
      const writer = message()
      await writer.text(`half ${messages.length} `)
      begun.open()
      await go.opened
      await writer.text('whole')
    })
    const stream = await client.stream(said('one'))
    const { id: taskId, contextId } = (await stream.next()).value!.result
    const told = nothingTold()
    const reading = (async () => {
      for await (const event of stream) tell(told, event)
    })()
    await begun.opened
    await client.send(said('two', { taskId, contextId }), { blocking: false })
    // Whoever subscribes now gets the run at work from its start, not the one that waits.
    const late = await client.resubscribe(taskId)
    const toldLate = nothingTold()
    const readingLate = (async () => {
      for await (const event of late) tell(toldLate, event)
    })()
    await eventually(() => [...toldLate.artifacts.values()].some(({ parts }) => parts[0].text === 'half 1 '))
    go.open()
    await Promise.all([reading, readingLate])
    const task = await client.get(taskId)
    expect(answerOf(task)).toBe('half 3 whole')
    for (const one of [told, toldLate]) {
      expect(one.states).toEqual(['working', 'working', 'completed'])
      expect(one.finals).toBe(1)
      expect(shownBy(one)).toEqual(shown(task.artifacts))
    }
  })

  test('goes on with the run at work for who has sent more to it, where that is dropped', async () => {
    const [begun, go] = [gate(), gate()]
    const { client, engine } = serve(async ({ message }) => {
      const writer = message()
      await writer.text('half ')
      begun.open()
      await go.opened
      await writer.text('whole')
    })
    const { id: taskId, contextId } = await client.send(said('one'), { blocking: false })
    await begun.opened
    const stream = await client.stream(said('two', { taskId, contextId }))
    await stream.next()
    const waiting = client.send(said('three', { taskId, contextId }))
    const queued = async () => (await engine.findThread({ threadId: contextId }))!.queue
    await eventually(async () => (await queued()).length === 2)
    const rest = all(Promise.resolve(stream))
    for (const { runId } of await queued()) await engine.cancel({ threadId: contextId, runId })
    go.open()
    const told = toldBy(await rest)
    const task = await waiting
    expect([task.status.state, answerOf(task)]).toEqual(['completed', 'half whole'])
    expect([told.states, told.finals]).toEqual([['completed'], 1])
    expect(shownBy(told)).toEqual(shown(task.artifacts))
  })

  test('gives a message that is sent again under another task the run that it has started', async () => {
    const { client } = serve(asking)
    const message = said('one', { contextId: 'c' })
    const first = await client.send(message)
    const other = await client.send(said('more?', { contextId: 'c' }))
    const again = await all(client.stream({ ...message, taskId: other.id }))
    const told = toldBy(again)
    expect([told.states, told.finals]).toEqual([['working', 'completed'], 1])
    expect(again.at(-1)!.result.taskId).toBe(first.id)
    expect(shownBy(told)).toEqual(shown(first.artifacts))
  })
})

describe('a subscriber', () => {
  test('whose events retention has dropped gets the recorded artifacts at the end, and no text with a hole', async () => {
    const store = memoryStore({ maxThreadBytes: 20_000 })
    const whole = Array.from({ length: 400 }, (_, n) => `${n} `)
    const gates = [gate(), gate()]
    const { client } = serve(
      async ({ message }) => {
        const writer = message()
        for (const [n, word] of whole.entries()) {
          if (n === 10) await gates[0]!.opened
          if (n === 390) await gates[1]!.opened
          await writer.text(word)
        }
      },
      { store, checkpointer: memoryCheckpointer() },
    )
    const stream = await client.stream(said('go'))
    const { id, contextId } = (await stream.next()).value!.result
    const told = nothingTold()
    const text = () => (Object.values(shownBy(told))[0]?.[0] as Json)?.text ?? ''
    while (text() !== whole.slice(0, 10).join('')) tell(told, (await stream.next()).value!)
    const { lastId } = told
    gates[0]!.open()
    await eventually(async () => (await store.inspect(contextId)).firstRetained > Number(lastId) + 50)
    const next = stream.next()
    gates[1]!.open()
    for (let event = await next; !event.done; event = await stream.next()) {
      tell(told, event.value)
      expect(whole.join('').startsWith(text())).toBe(true)
    }
    expect([text() === whole.join(''), told.finals]).toEqual([true, 1])
    const again = toldBy(await all(client.resubscribe(id, lastId)))
    expect([shownBy(again), again.finals]).toEqual([shownBy(told), 1])
  })

  test('of a thread that is deleted gets an error, and no end', async () => {
    const { client, engine } = serve(async ({ message, signal }) => {
      await message('half')
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    const stream = await client.stream(said('go'))
    const { contextId } = (await stream.next()).value!.result
    const events: StreamEvent[] = []
    for await (const event of stream) {
      events.push(event)
      if (event.result?.lastChunk) void engine.deleteThread({ threadId: contextId })
    }
    expect(events.at(-1)!.error).toMatchObject({ code: -32001 })
    expect(events.filter(({ result }) => result?.final)).toEqual([])
  })

  test('of a server that closes gets an error, and no end, and goes on elsewhere', async () => {
    const shared = sharedMemory()
    const go = gate()
    const [a, b] = [0, 1].map(() =>
      serve(async ({ message }) => {
        const writer = message()
        await writer.text('half ')
        await go.opened
        await writer.text('an answer')
      }, shared()),
    ) as [ReturnType<typeof serve>, ReturnType<typeof serve>]
    const { id } = await a.client.send(said('go'), { blocking: false })
    const told = nothingTold()
    let error: unknown
    for await (const event of await b.client.resubscribe(id)) {
      if (event.error) error = event.error
      else tell(told, event)
      if (event.result?.kind === 'artifact-update') void b.server.close()
    }
    expect([error, told.finals]).toMatchObject([{ code: -32603, message: 'The server is shutting down.' }, 0])
    const rest = a.client.resubscribe(id, told.lastId)
    go.open()
    expect(toldBy(await all(rest), told).finals).toBe(1)
    expect(shownBy(told)).toEqual(shown((await a.client.get(id)).artifacts))
  })

  test('that stalls is kept no events for, and reads them all later', async () => {
    const { client } = serve(async ({ message }) => {
      const writer = message()
      for (let n = 0; n < 3_000; n++) await writer.text(`${n} `)
    })
    const stream = await client.stream(said('go'))
    const { id } = (await stream.next()).value!.result
    await eventually(async () => (await client.get(id)).status.state === 'completed')
    const told = nothingTold()
    for await (const event of stream) tell(told, event)
    expect(shownBy(told)).toEqual(shown((await client.get(id)).artifacts))
    expect(told.finals).toBe(1)
  })

  test.each(['task', 'message'] as const)(
    'gets heartbeats while a model thinks, where the answer is a %s',
    async (answer) => {
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
      onTestFinished(() => void vi.useRealTimers())
      const go = gate()
      const { client } = serve(
        defineAgent({
          answersWith: () => answer,
          async run({ message }) {
            await go.opened
            await message('done')
          },
        }),
      )
      const response = await client.post('message/stream', { message: said('go') })
      const decoder = new TextDecoder()
      let text = ''
      const reading = (async () => {
        for await (const bytes of response.body!) text += decoder.decode(bytes, { stream: true })
      })()
      await eventually(() => text.includes(answer === 'task' ? '"working"' : ': ok'))
      for (const beats of [1, 2, 3]) {
        vi.advanceTimersByTime(5_000)
        await eventually(() => text.split(': heartbeat\n').length === beats + 1)
      }
      go.open()
      await reading
      expect(text).toContain(answer === 'task' ? '"final":true' : '"kind":"message"')
    },
  )
})
