import { expect, test } from 'vitest'
import { langgraph } from '../../../../src/agents/langgraph/langgraph.ts'
import { subscribe } from '../../../../src/engine/index.ts'
import { createFrameReader } from '../../../../src/ops/devtools/page/model/frames.ts'
import { createLog } from '../../../../src/ops/devtools/page/model/log.ts'
import { runValues, withoutIds } from '../../../../src/ops/devtools/page/model/run-values.ts'
import { createSpanTree } from '../../../../src/ops/devtools/page/model/spans.ts'
import { ALL_CHANNELS } from '../../../kit/channels.ts'
import { engineOf } from '../../../kit/engine.ts'
import { trips } from '../../trips.ts'

const go = (place: string) => ({ messages: [{ type: 'human', content: place }] })

/** The values of the runs of a thread: two turns, of which the second asks, and the answer. */
async function runsOf() {
  const engine = engineOf({ a: langgraph(trips()) })
  const ended = async ({ runId }: { readonly runId: string }) => engine.wait({ threadId: 't', runId })
  const start = (place: string) => engine.start({ threadId: 't', assistantId: 'a', input: go(place) })
  await ended(await start('Vienna'))
  await ended(await start('Mars'))
  const thread = (await engine.findThread({ threadId: 't' }))!
  const [interrupt] = thread.interrupts
  await ended(await engine.respond({ threadId: 't', answers: { [interrupt!.id]: 'yes' } }))
  const filter = { channels: ALL_CHANNELS }
  const subscription = subscribe(engine, { threadId: 't', filter, since: 0 })
  const [read, log, tree] = [createFrameReader(), createLog({ events: 1e6, bytes: 1e9 }), createSpanTree()]
  while (tree.runs.filter(({ endedAt }) => endedAt !== undefined).length < 3)
    for (const frame of read((await subscription.next())!)) {
      const event = log.add(frame)
      if (event) tree.add(event)
    }
  subscription.cancel()
  await engine.close()
  return tree.runs.map((run) => runValues(log, tree.runs, run))
}

test('a run has the state before it, that with its input, its final state and its answer', async () => {
  const [first, second, third] = await runsOf()
  const textsIn = (state: unknown) =>
    (state as { readonly messages: readonly { readonly content: unknown }[] }).messages.map(
      ({ content }) => content,
    )
  expect(first!.before).toEqual({})
  expect(textsIn(first!.start)).toEqual(['Vienna'])
  expect(first!.answer).toBe('Go to Vienna.')
  expect(second!.before).toEqual(first!.end)
  expect(textsIn(second!.start).at(-1)).toBe('Mars')
  // It had not come to its answer when it asked.
  expect(second!.answer).toBe('It has museums.')
  // The run that went on has been given an answer, and no new state.
  expect(third!.start).toEqual(third!.before)
  expect(third!.answer).toBe('Go to Mars.')
})

test('a first state after a step is not the input of the run', () => {
  const [log, tree] = [createLog({ events: 1e6, bytes: 1e9 }), createSpanTree()]
  const events: readonly (readonly [method: string, data: object])[] = [
    ['lifecycle', { event: 'running', run_id: 'r' }],
    ['tasks', { id: 'a', name: 'goes on', input: {} }],
    ['values', { notes: ['done'] }],
  ]
  for (const [index, [method, data]] of events.entries()) {
    const params = { namespace: [], timestamp: index, data }
    const event = log.add({
      data: JSON.stringify({ type: 'event', seq: index + 1, method, params }),
      bytes: 1,
    })
    tree.add(event!)
  }
  const [run] = tree.runs
  expect(runValues(log, tree.runs, run!)).toEqual({
    before: {},
    start: undefined,
    end: { notes: ['done'] },
    answer: undefined,
  })
})

test('ids of messages and calls are no difference, those of other things are', () => {
  const call = { type: 'tool_call', id: 'call_1', name: 'add', args: {} }
  const message = { type: 'ai', id: 'm', content: 'x', tool_calls: [call] }
  expect(withoutIds({ messages: [message], items: [{ id: 'kept' }] })).toEqual({
    messages: [{ type: 'ai', content: 'x', tool_calls: [{ type: 'tool_call', name: 'add', args: {} }] }],
    items: [{ id: 'kept' }],
  })
})
