import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '@langchain/langgraph-sdk'
import { StreamController } from '@langchain/langgraph-sdk/stream'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { threadClient } from '../kit/client.ts'
import { hasEnded, type Json, tokenOf } from '../kit/events.ts'
import { eventually } from '../kit/wait.ts'
import { endOf, expectKept, expectSoundLog, type Logged, lossesOf, readLog } from './checks.ts'
import { startRun } from './follower.ts'
import { backends, countOf, randomMs, report, rounds, setScene } from './scene.ts'

const ROUNDS = countOf('ROUNDS', 2)

const said = (messages: readonly Json[]) => messages.map(({ type, text }) => `${type}: ${text}`)
const human = (content: string) => ({ messages: [{ type: 'human', content, id: crypto.randomUUID() }] })

/** Expects that each message of the state was streamed to its end, and that each namespace that wrote to it has ended. */
function expectWhole(log: readonly Logged[], messages: readonly Json[]): void {
  for (const { id } of messages.filter(({ type }) => type === 'ai')) {
    const start = log.find(({ method, params }) => method === 'messages' && params.data.id === id)
    expect(start, `start of ${id}`).toBeDefined()
    const { namespace, data } = start!.params
    const place = namespace.join('|')
    const later = log.filter(({ seq, params }) => seq > start!.seq && params.namespace.join('|') === place)
    const ofCall = later.filter(({ params }) => params.data.run_id === data.run_id)
    expect(ofCall.map(({ params }) => params.data.event)).toContain('message-finish')
    const ends = later.filter(
      ({ method, params }) => method === 'lifecycle' && params.data.event === 'completed',
    )
    expect(ends.length, `ends of ${place}`).toBeGreaterThan(0)
  }
}

describe.each(backends)('$name', async (backend) => {
  const scene = await setScene(backend)
  afterAll(scene.close)

  test('after kill -9 in the middle of an answer every page shows the answers of the next attempt alone, live and after a reload', async () => {
    const survivor = await scene.start()
    let lostMessages = 0
    let givenUp = 0

    /** Settles as soon as another answer of the run is saved, whose last events must be in the log by then. */
    const answerSaved = async (threadId: string) => {
      const at = { configurable: { thread_id: threadId, checkpoint_ns: '' } }
      const saved = async () => {
        const tuple = await scene.storage.checkpointer.getTuple(at)
        return `${tuple?.checkpoint.id} ${tuple?.pendingWrites?.some(([, channel]) => channel === 'messages')}`
      }
      const before = await saved()
      await eventually(async () => (await saved()) !== before, { everyMs: 1, timeoutMs: 200_000 })
    }

    const page = async (threadId: string) => {
      const client = new Client({ apiUrl: survivor.origin, apiKey: null, callerOptions: { maxRetries: 0 } })
      const controller = new StreamController<Json, Json>({ assistantId: 'story', client, threadId })
      onTestFinished(() => controller.dispose())
      await controller.hydrate(threadId)
      return controller
    }

    // One after the other: a victim of another round would take runs over, and be lost with them.
    await rounds(
      ROUNDS,
      async (round) => {
        const victim = await scene.start()
        const threadId = scene.thread()
        const follower = scene.follow(threadId, survivor)
        const run = await startRun(victim.origin, threadId, { assistant_id: 'story', input: human('40 8') })
        const live = await page(threadId)
        const answers = () => live.rootStore.getSnapshot().messages.length >= 2
        await eventually(answers, { timeoutMs: 200_000, what: 'The first answer' })
        await (round % 2 === 0 ? answerSaved(threadId) : sleep(randomMs(600)))
        await victim.kill()
        const lostAt = (await readLog(scene.storage, threadId)).length
        await follower.until(hasEnded(run))

        const log = await readLog(scene.storage, threadId)
        expectSoundLog(log)
        await follower.until((seen) => seen.length >= log.length)
        expectKept(log, follower.seen)
        // A busy machine may lose a run more often than by the kill, and it is given up after three attempts.
        if (endOf(log, run) === 'failed' && (await lossesOf(scene.storage, threadId, run)) === 3) {
          givenUp += 1
          return
        }
        const { body: state } = await threadClient(survivor.origin, threadId, {}).get('/state')
        const whole = Array.from({ length: 40 }, (_, n) => `${n} `).join('')
        const first = ['human: 40 8', ...Array(3).fill(`ai: ${whole}`)]
        expect(state.values.messages.map(({ type }: Json) => type)).toEqual(['human', 'ai', 'ai', 'ai'])
        expectWhole(log, state.values.messages)
        const shows = async (controller: typeof live, expected: readonly string[]) => {
          const now = () => said(controller.rootStore.getSnapshot().messages)
          const isShown = () => JSON.stringify(now()) === JSON.stringify(expected)
          await eventually(isShown, { timeoutMs: 200_000 }).catch(() => expect(now()).toEqual(expected))
        }
        await shows(live, first)

        const kept = new Set(state.values.messages.map(({ id }: Json) => id))
        const started = log.filter(
          ({ method, params }) => method === 'messages' && params.data.event === 'message-start',
        )
        const lost = started.filter(({ seq, params }) => seq <= lostAt && !kept.has(params.data.id))
        lostMessages += lost.length
        // A new client is sent nothing of them.
        const replay = await threadClient(survivor.origin, threadId, {}).stream()
        const replayed = await replay.until(hasEnded(run))
        replay.close()
        const token = tokenOf(log.at(-1)!)
        expect(
          replayed.filter(({ method }) => method === 'messages').every((event) => tokenOf(event) === token),
        ).toBe(true)
        expect(JSON.stringify(replayed)).not.toContain('superseded')

        const reloaded = await page(threadId)
        await shows(reloaded, first)
        const next = ['human: 2 1', ...Array(3).fill('ai: 0 1 ')]
        await reloaded.submit(human('2 1'))
        await shows(reloaded, [...first, ...next])
        await shows(live, [...first, ...next])
        follower.close()
      },
      1,
    )
    expect(survivor.errors).toEqual([])
    report(
      backend,
      `kill -9 in an answer, ${ROUNDS} times`,
      `given up after three deaths ${givenUp}, messages of lost attempts ${lostMessages}, of these shown 0`,
    )
  }, 600_000)
})
