import { afterAll, describe, expect, test } from 'vitest'
import type { MultitaskStrategy } from '../../src/engine/records/records.ts'
import { isEnded, loadRun } from '../../src/engine/records/records.ts'
import { sendCommand } from '../kit/client.ts'
import { hasEnded } from '../kit/events.ts'
import type { TokensInput } from './agents.ts'
import { endOf, expectOwnTokens, expectSoundLog, type Logged, readLog } from './checks.ts'
import { startRun } from './follower.ts'
import { countOf, LONG_LEASE_MS, oneOf, report, setScene } from './scene.ts'

const STARTS = countOf('STARTS', 20)
const SENDERS = 10
const input: TokensInput = { count: 3, everyMs: 1 }

describe.each(oneOf('postgres', 'commands'))('$name', async (backend) => {
  const scene = await setScene(backend)
  afterAll(scene.close)
  const { storage } = scene
  const instances = await Promise.all([
    scene.start({ leaseTtlMs: LONG_LEASE_MS }),
    scene.start({ leaseTtlMs: LONG_LEASE_MS }),
  ])
  const originOf = (sender: number) => instances[sender % instances.length]!.origin

  /** Sends starts from several clients to both instances, each client one after the other. Gives the answers by client. */
  const startMany = (threadId: string, multitaskStrategy: MultitaskStrategy) =>
    Promise.all(
      Array.from({ length: SENDERS }, async (_, sender) => {
        const answers = []
        for (let i = 0; i < STARTS / SENDERS; i++) {
          const params = { assistant_id: 'tokens', input, multitaskStrategy }
          answers.push((await sendCommand(originOf(sender), threadId, 'run.start', params)).body)
        }
        return answers
      }),
    )

  /** Expects what must hold of a thread once all of its runs have ended, and gives its log. */
  async function settled(threadId: string, runs: readonly string[]): Promise<readonly Logged[]> {
    for (const run of runs) {
      await expect
        .poll(async () => isEnded((await loadRun(storage.store, threadId, run))!.record), {
          timeout: 240_000,
        })
        .toBe(true)
    }
    const log = await readLog(storage, threadId)
    expectSoundLog(log)
    return log
  }

  test.each(['enqueue', 'interrupt', 'rollback', 'reject'] as const)(
    'of many starts at once on two instances with strategy %s one owns the thread at a time, and none is lost',
    async (strategy) => {
      const threadId = scene.thread()
      const first = await startRun(originOf(0), threadId, { assistant_id: 'tokens', input })
      const answers = await startMany(threadId, strategy)
      const accepted = answers.map((own) =>
        own.flatMap(({ result }) => (result ? [result.run_id as string] : [])),
      )
      const runs = [first, ...accepted.flat()]
      expect(new Set(runs).size).toBe(runs.length)
      const refused = answers.flat().filter(({ type }) => type === 'error')
      if (strategy !== 'reject') expect(refused).toEqual([])
      for (const { error, message } of refused) {
        expect({ error, message }).toEqual({
          error: 'invalid_argument',
          message: expect.stringContaining('in progress'),
        })
      }
      const log = await settled(threadId, runs)
      const begun = [...new Set(log.map(({ runId }) => runId))]
      expect(runs).toEqual(expect.arrayContaining(begun))
      for (const run of begun) {
        const end = endOf(log, run)
        if (end === 'completed') expect(expectOwnTokens(log, run)).toBe(input.count)
        else expect([strategy, end]).toEqual([expect.stringMatching(/interrupt|rollback/), 'interrupted'])
      }
      if (strategy === 'enqueue') {
        expect(begun.length).toBe(runs.length)
        // Each client's runs begin in the order in which it sent them.
        for (const own of accepted) expect(begun.filter((run) => own.includes(run))).toEqual(own)
      }
      // Whatever was dropped, the last run to begin completes.
      expect(endOf(log, begun.at(-1)!)).toBe('completed')
      const thread = await fetch(`${originOf(1)}/threads/${threadId}`)
      expect(await thread.json()).toMatchObject({ status: 'idle' })
      report(
        backend,
        `${STARTS} starts on two instances, ${strategy}`,
        `accepted ${runs.length - 1}, refused ${refused.length}, begun ${begun.length}, two owners at once 0, lost 0`,
      )
    },
    120_000,
  )

  test('one command sent ten times at once under one Idempotency-Key makes one run and one answer', async () => {
    const threadId = scene.thread()
    const params = { assistant_id: 'tokens', input }
    const headers = { 'idempotency-key': `key-${threadId}` }
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        sendCommand(originOf(i), threadId, 'run.start', params, { headers }),
      ),
    )
    for (const { status, body } of answers) {
      expect(status).toBe(200)
      expect(body).toEqual(answers[0]!.body)
    }
    const run = answers[0]!.body.result.run_id as string
    const follower = scene.follow(threadId, instances[1]!)
    await follower.until(hasEnded(run))
    const log = await settled(threadId, [run])
    expect(new Set(log.map(({ runId }) => runId))).toEqual(new Set([run]))
    expect((await sendCommand(originOf(1), threadId, 'run.start', params, { headers })).body).toEqual(
      answers[0]!.body,
    )
    expect((await readLog(storage, threadId)).length).toBe(log.length)
    report(backend, 'one command ten times at once, two instances', 'runs 1, different answers 0')
  })
})
