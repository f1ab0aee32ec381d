import { expect, onTestFinished, test } from 'vitest'
import type { Agent } from '../../../src/agents/agent.ts'
import { subscribe } from '../../../src/engine/index.ts'
import type { AgentEvent, EventData } from '../../../src/messages/thread-events/index.ts'
import { ALL_CHANNELS } from '../../kit/channels.ts'
import { engineOf, readUntil, start, transcript } from '../../kit/engine.ts'
import { isTerminal, rootStates, tokenOf, type WireEvent } from '../../kit/events.ts'
import { puppet } from '../../kit/puppet.ts'
import { killable, SHARED } from '../../kit/shared.ts'
import { aborted, gate } from '../../kit/wait.ts'

const message = (namespace: readonly string[], data: EventData['messages']): AgentEvent => ({
  method: 'messages',
  namespace,
  node: 'model',
  data,
})
const state = (namespace: readonly string[], ...ids: readonly string[]): readonly AgentEvent[] => [
  { method: 'checkpoints', namespace, data: { id: `c-${ids.at(-1)}`, step: 1, source: 'loop' } },
  { method: 'values', namespace, data: { messages: ids.map((id) => ({ type: 'ai', id, content: id })) } },
]
const whole = (namespace: readonly string[], id: string): readonly AgentEvent[] => [
  message(namespace, { event: 'message-start', id, role: 'ai', run_id: `call ${id}` }),
  message(namespace, { event: 'message-finish', reason: 'stop', run_id: `call ${id}` }),
]

/** Its first attempt is lost in the middle of three messages, of which one is whole and kept in the state. */
function talker(atWork: () => void): Agent {
  let attempts = 0
  return {
    ...puppet().agent,
    resumable: true,
    async *stream({ signal }) {
      if (attempts++ === 0) {
        yield* whole(['model:1'], 'kept')
        yield* state([], 'kept')
        yield message(['model:2'], { event: 'message-start', id: 'half', role: 'ai', run_id: 'call half' })
        yield message(['tools:3', 'model:4'], { event: 'message-start', id: 'inner', role: 'ai' })
        yield* whole(['model:5'], 'unsaved')
        atWork()
        await aborted(signal)
        signal.throwIfAborted()
      }
      yield* state([], 'kept')
      yield* state(['tools:3'], 'asked')
      yield* whole(['model:2'], 'again')
      yield* state([], 'kept', 'again')
    },
  }
}

const idsOf = ({ params }: WireEvent) =>
  params.data.messages.map(({ type, id }: Record<string, string>) => `${type} ${id}`)

test.each(Object.entries(SHARED))(
  'the messages of a lost attempt are taken back for those who saw them, and not sent to others, over %s',
  async (_, make) => {
    const shared = make()
    const { place, kill } = killable(shared())
    const { opened: working, open: atWork } = gate()
    const agent = talker(atWork)
    // Long enough for a busy machine to renew it while the process lives.
    const options = { leaseTtlMs: 1_500, onError: () => {} }
    const lost = engineOf({ a: agent }, { ...place, ...options })
    const other = engineOf({ a: agent }, { ...shared(), ...options })
    onTestFinished(async () => void (await Promise.all([lost.close(), other.close()])))
    const { runId } = await start(lost, 't')
    await working
    // What was sent before the process is lost is in the log.
    const seen = subscribe(other, { threadId: 't', filter: { channels: ALL_CHANNELS }, since: 0 })
    await readUntil(seen, (events) => events.some(({ params }) => params.data.id === 'unsaved'))
    seen.cancel()
    kill()
    expect((await other.wait({ threadId: 't', runId })).status).toBe('success')

    const all = await transcript(other, 't')
    expect(rootStates(all)).toEqual(['running', 'completed'])
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_, i) => i + 1))
    const token = tokenOf(all.at(-1)!)
    const second = all.filter((event) => tokenOf(event) === token)
    // Messages without an end get one, under the id of their call.
    expect(second.slice(0, 2).map(({ params }) => [params.namespace, params.data])).toEqual([
      [['model:2'], expect.objectContaining({ event: 'error', code: 'superseded', run_id: 'call half' })],
      [['tools:3', 'model:4'], expect.objectContaining({ event: 'error', code: 'superseded' })],
    ])
    const values = second.filter(({ method }) => method === 'values')
    expect(values.map((event) => [event.params.namespace, idsOf(event)])).toEqual([
      [[], ['ai kept', 'remove half', 'remove unsaved']],
      [[], ['ai kept']],
      [['tools:3'], ['ai asked', 'remove inner']],
      [['tools:3'], ['ai asked']],
      [[], ['ai kept', 'ai again']],
    ])
    for (const { seq } of values) expect(all[seq - 2]!.method).toBe('checkpoints')

    const fresh = subscribe(other, { threadId: 't', filter: { channels: ALL_CHANNELS } })
    const replayed = await readUntil(fresh, (events) => events.some(isTerminal))
    fresh.cancel()
    const text = JSON.stringify(replayed)
    for (const gone of ['half', 'inner', 'unsaved', 'superseded', 'remove']) expect(text).not.toContain(gone)
    expect(replayed.filter(({ method }) => method === 'values').map(idsOf)).toEqual([
      ['ai kept'],
      ['ai asked'],
      ['ai kept', 'ai again'],
    ])
  },
)
