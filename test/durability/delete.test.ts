import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { request } from '../kit/client.ts'
import type { StepsInput, TokensInput } from './agents.ts'
import { leftoversOf, spread } from './checks.ts'
import { startRun } from './follower.ts'
import { countOf, oneOf, randomMs, report, rounds, setScene } from './scene.ts'

const ROUNDS = countOf('ROUNDS', 2)

describe.each(oneOf('redis', 'delete'))('$name', async (backend) => {
  const scene = await setScene(backend)
  afterAll(scene.close)

  test('deleting a busy thread leaves nothing and closes every stream, also when kill -9 interrupts it', async () => {
    const { storage } = scene
    const survivor = await scene.start()
    const toEnd: number[] = []
    let begun = 0

    await rounds(ROUNDS, async () => {
      const victim = await scene.start()
      const threads = [scene.thread(), scene.thread(), scene.thread()]
      const tokens: TokensInput = { count: 2_000, everyMs: 2 }
      const steps: StepsInput = { count: 20, stepMs: 20 }
      await startRun(victim.origin, threads[0]!, { assistant_id: 'tokens', input: tokens })
      await startRun(victim.origin, threads[1]!, { input: steps })
      await startRun(victim.origin, threads[2]!, { input: { ...steps, count: 3 } })
      await startRun(victim.origin, threads[2]!, { input: steps })
      const followers = threads.flatMap((threadId) => [
        scene.follow(threadId, survivor),
        scene.follow(threadId, survivor),
      ])
      await Promise.all(followers.map((follower) => follower.until((seen) => seen.length > 3)))
      const answers = threads.map((threadId) => request(victim.origin, 'DELETE', `/threads/${threadId}`))
      // The kill cuts them off.
      for (const answer of answers) answer.catch(() => {})
      await sleep(randomMs(60))
      await victim.kill()
      const killed = Date.now()
      for (const threadId of threads) {
        // A deletion that was begun is finished without another request.
        const { status } = await request(survivor.origin, 'GET', `/threads/${threadId}`)
        if (status === 404) begun += 1
        else
          expect([204, 404]).toContain(
            (await request(survivor.origin, 'DELETE', `/threads/${threadId}`)).status,
          )
      }
      for (const threadId of threads) {
        await expect.poll(() => leftoversOf(storage, threadId), { timeout: 240_000 }).toEqual([])
      }
      toEnd.push(Date.now() - killed)
      for (const follower of followers) expect(await follower.refused).toBe(404)
      await sleep(randomMs(100))
      for (const threadId of threads) expect(await leftoversOf(storage, threadId)).toEqual([])
    })
    expect(survivor.errors).toEqual([])
    report(
      backend,
      `delete and kill -9, ${ROUNDS} times 3 threads`,
      `begun before the kill ${begun}, left over 0, streams left open 0, nothing left after ${spread(toEnd)}`,
    )
  }, 600_000)
})
