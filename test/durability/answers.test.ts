import { afterAll, describe, expect, test } from 'vitest'
import { request, sendCommand } from '../kit/client.ts'
import { dataOf, hasEnded, type Json, rootStates, type WireEvent } from '../kit/events.ts'
import { type AskingInput, DEADLY } from './agents.ts'
import { expectSoundLog, readLog } from './checks.ts'
import { type Follower, startRun } from './follower.ts'
import type { Instance } from './process.ts'
import { countOf, oneOf, rounds, setScene } from './scene.ts'

const ROUNDS = countOf('ROUNDS', 2)

const hasAsked = (seen: readonly WireEvent[]): boolean => dataOf(seen, 'input.requested').length > 0

const start = ({ origin }: Instance, threadId: string, input: AskingInput): Promise<string> =>
  startRun(origin, threadId, { assistant_id: 'asking', input })

async function respond({ origin }: Instance, { threadId, seen }: Follower, response: string): Promise<Json> {
  const [{ interrupt_id }] = dataOf(seen, 'input.requested')
  return (await sendCommand(origin, threadId, 'input.respond', { interrupt_id, response })).body
}

const read = async ({ origin }: Instance, threadId: string, path: string): Promise<Json> =>
  (await request(origin, 'GET', `/threads/${threadId}${path}`)).body

describe.each(oneOf('sqlite', 'answers'))('$name', async (backend) => {
  const scene = await setScene(backend)
  afterAll(scene.close)

  test('an answer that another instance accepted while the run went on is given after kill -9 of that run, once', async () => {
    const survivor = await scene.start()
    await rounds(ROUNDS, async () => {
      const victim = await scene.start()
      const threadId = scene.thread()
      const follower = scene.follow(threadId, survivor)
      const asked = await start(victim, threadId, { slowMs: 1_000 })
      await follower.until(hasAsked)
      const { result } = await respond(survivor, follower, 'yes')
      expect(result).toMatchObject({ run_id: expect.any(String) })
      expect(await respond(survivor, follower, 'no')).toMatchObject({ error: 'no_such_interrupt' })
      // A run that is lost before its checkpoint has the question asks again, under another id.
      await expect
        .poll(async () => {
          const tuple = await scene.storage.checkpointer.getTuple({ configurable: { thread_id: threadId } })
          return tuple?.pendingWrites?.some(([, channel]) => channel === '__interrupt__')
        })
        .toBe(true)
      await victim.kill()
      await follower.until(hasEnded(result.run_id))
      expect(rootStates(follower.seen)).toEqual(['running', 'interrupted', 'running', 'completed'])
      expect(hasEnded(asked)(follower.seen)).toBe(true)
      expect(dataOf(follower.seen, 'input.requested')).toHaveLength(1)
      expectSoundLog(await readLog(scene.storage, threadId))
      const { values } = await read(survivor, threadId, '/state')
      expect(values.log.toSorted()).toEqual(['slow', 'yes'])
      follower.close()
    })
    expect(survivor.errors).toEqual([])
    // It would take over the runs of the next test.
    await survivor.terminate()
  })

  test('a question whose answer killed three processes is announced again, and a message is no answer to it', async () => {
    const threadId = scene.thread()
    let instance = await scene.start()
    const follower = scene.follow(threadId, {
      get origin() {
        return instance.origin
      },
    })
    const asked = await start(instance, threadId, { slowMs: 1 })
    await follower.until(hasEnded(asked))
    const { result } = await respond(instance, follower, DEADLY)
    for (let deaths = 1; deaths < 3; deaths++) {
      await instance.exited
      instance = await scene.start()
    }
    await instance.exited
    instance = await scene.start()
    await follower.until(hasEnded(result.run_id))
    expect(rootStates(follower.seen)).toEqual(['running', 'interrupted', 'running', 'failed'])
    const requests = dataOf(follower.seen, 'input.requested')
    expect(requests).toEqual([requests[0], requests[0]])
    expect(await read(instance, threadId, '')).toMatchObject({
      status: 'interrupted',
      error: expect.stringContaining('Send your message again'),
      interrupts: expect.objectContaining({}),
    })
    const next = await start(instance, threadId, { slowMs: 2 })
    await follower.until(hasEnded(next))
    expect(rootStates(follower.seen).slice(4)).toEqual(['running', 'interrupted'])
    expect((await read(instance, threadId, '/state')).values).toEqual({ slowMs: 2, log: ['slow'] })
    expectSoundLog(await readLog(scene.storage, threadId))
  })
})
