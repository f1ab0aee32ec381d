import { Client } from '@langchain/langgraph-sdk'
import { StreamController } from '@langchain/langgraph-sdk/stream'
import { afterAll, describe, expect, test } from 'vitest'
import { tokenOf } from '../kit/events.ts'
import { untilStore } from '../kit/stream-store.ts'
import type { StepsInput, TokensInput } from './agents.ts'
import { endOf, expectHandedOn, expectOneChain, expectSoundLog, readLog, spread, stepsOf } from './checks.ts'
import type { Instance } from './process.ts'
import { backends, countOf, report, setScene } from './scene.ts'

const CLIENTS = countOf('CLIENTS', 4)
/** No process is lost here. Instances look for runs to take over every third of this time. */
const LEASE_MS = 9_000
/** The state that a page shows. */
// biome-ignore lint/suspicious/noExplicitAny: states of two agents
type State = any

describe.each(backends)('$name', async (backend) => {
  const scene = await setScene(backend)
  afterAll(scene.close)

  test('after a clean restart each client of the SDK ends with the whole sequence', async () => {
    const { storage } = scene
    const tokens: TokensInput = { count: 200, everyMs: 10 }
    const steps: StepsInput = { count: 20, stepMs: 120 }
    const text = Array.from({ length: tokens.count }, (_, n) => `${n} `).join('')
    const whole = Array.from({ length: steps.count }, (_, n) => `${n}`)
    // One instance lets its runs finish, and one hands them over at once.
    const patient = await open('talk', tokens, Math.floor(CLIENTS / 4), 60_000)
    const hasty = await open('steps', steps, Math.ceil(CLIENTS * 0.75), 0)
    await Promise.all([hasty.restart(), patient.restart()])

    let handedOver = 0
    for (const { controller, threadId, writers } of await hasty.ended()) {
      await untilStore(controller.rootStore, ({ values }) => String(stepsOf(values.log)) === String(whole))
      expect(stepsOf(await expectOneChain(storage, threadId))).toEqual(whole)
      if (writers === 2) handedOver += 1
    }
    for (const { controller } of await patient.ended()) {
      await untilStore(controller.rootStore, ({ messages }) => messages.at(-1)?.text === text)
    }
    expect(handedOver).toBeGreaterThan(0)
    const back = [...hasty.back, ...patient.back]
    expect(back.length).toBeGreaterThanOrEqual(CLIENTS)
    report(
      backend,
      `clean restart under ${CLIENTS} clients of the SDK`,
      `whole sequences ${CLIENTS}/${CLIENTS}, runs handed over ${handedOver}, streams reconnected after ${spread(back)}`,
    )
  }, 300_000)

  /** Starts an instance with pages that have each started a run. */
  async function open(assistantId: string, input: object, count: number, drainMs: number) {
    const instance = await scene.start({ drainMs, leaseTtlMs: LEASE_MS })
    const client = new Client({ apiUrl: instance.origin, apiKey: null, callerOptions: { maxRetries: 0 } })
    const back: number[] = []
    const pages = Array.from({ length: count }, () => {
      let lost = 0
      const controller = new StreamController<State, State>({
        assistantId,
        client,
        onReconnect: () => {
          lost ||= Date.now()
        },
        onConnected: () => {
          if (lost > 0) back.push(Date.now() - lost)
        },
      })
      return { controller, submitted: controller.submit(input) }
    })
    const threads: string[] = []
    for (const { controller } of pages) {
      const { threadId } = await untilStore(controller.rootStore, (shown) => Boolean(shown.threadId))
      threads.push(threadId!)
      // Here each command is answered before the restart, because its client would have to retry one that is cut off.
      const begun = async () => (await scene.storage.store.inspect(threadId!)).head
      await expect.poll(begun, { timeout: 240_000 }).toBeGreaterThan(1)
    }
    let fresh: Instance
    return {
      back,
      async restart() {
        await instance.terminate()
        fresh = await scene.start({ port: instance.port, leaseTtlMs: LEASE_MS })
      },
      async ended() {
        const ended = []
        for (const [i, { controller, submitted }] of pages.entries()) {
          await submitted
          const { error } = await untilStore(controller.rootStore, ({ isLoading }) => !isLoading)
          expect(error).toBeUndefined()
          const log = await readLog(scene.storage, threads[i]!)
          expectSoundLog(log)
          expect(endOf(log, log[0]!.runId)).toBe('completed')
          expectHandedOn(log, log[0]!.runId)
          ended.push({ controller, threadId: threads[i]!, writers: new Set(log.map(tokenOf)).size })
        }
        expect([...instance.errors, ...fresh.errors]).toEqual([])
        return ended
      },
    }
  }
})
