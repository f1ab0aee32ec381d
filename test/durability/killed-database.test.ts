import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFailed, onTestFinished, test } from 'vitest'
import { hasEnded } from '../kit/events.ts'
import { startPostgres } from '../kit/postgres-server.ts'
import { startRedis } from '../kit/redis-server.ts'
import type { StepsInput, TokensInput } from './agents.ts'
import {
  endOf,
  expectChain,
  expectHandedOn,
  expectKept,
  expectSoundLog,
  readLog,
  stepsOf,
  whyOf,
} from './checks.ts'
import { startRun } from './follower.ts'
import { backends, countOf, inScene, randomMs, report, type Scene } from './scene.ts'

/** How often the database is killed. */
const KILLS = countOf('DATABASE_KILLS', 3)
/** How many runs of each agent are executed meanwhile, more than one pool of connections serves at once. */
const RUNS = countOf('DATABASE_RUNS', 8)

/** Each database of one test, which SIGKILL ends. */
const servers = { postgres: startPostgres, redis: () => startRedis() }
type Name = keyof typeof servers
const isServer = (name: string): name is Name => Object.hasOwn(servers, name)

const tokens: TokensInput = { count: 600, everyMs: 10 }
const steps: StepsInput = { count: 20, stepMs: 250 }
const AGENTS = ['steps', 'tokens', 'talk', 'letter'] as const

describe.each(backends.filter(({ name }) => isServer(name)))('$name', (backend) => {
  test('no run ends with an error of the database that was killed under it: it is continued, or given up as the absence of the store', async () => {
    const server = await servers[backend.name as Name]()
    onTestFinished(server.remove)
    const { url } = server
    const own = { ...backend, create: async () => ({ url, instanceUrl: url, remove: async () => {} }) }
    await inScene(own, async (scene) => {
      const instances = await Promise.all([1, 2].map(() => scene.start({ deadlineMs: 2_000 })))
      onTestFailed(() => console.log(instances.flatMap(({ errors }) => errors).join('\n')))
      const runs = await Promise.all(
        Array.from({ length: RUNS }).flatMap((_, i) =>
          AGENTS.map(async (agent) => {
            const input = agent === 'steps' ? steps : tokens
            const { origin } = instances[i % instances.length]!
            const { threadId, runId } = await started(scene, origin, { assistant_id: agent, input })
            return { agent, threadId, runId, follower: scene.follow(threadId, ...instances) }
          }),
        ),
      )
      for (let kills = 0; kills < KILLS; kills++) {
        await sleep(300 + randomMs(700))
        await server.kill()
        await sleep(200 + randomMs(4_000))
        await server.start()
      }
      await Promise.all(runs.map(({ follower, runId }) => follower.until(hasEnded(runId))))
      const ends = new Map<string, number>()
      for (const { agent, threadId, runId, follower } of runs) {
        const log = await readLog(scene.storage, threadId)
        expectSoundLog(log)
        expectKept(log, follower.seen)
        expectHandedOn(log, runId)
        const end = endOf(log, runId)
        ends.set(`${agent} ${end}`, (ends.get(`${agent} ${end}`) ?? 0) + 1)
        if (end !== 'completed') expect(whyOf(log, runId)).not.toContain('Error id')
        if (agent !== 'steps') continue
        expect(end).toBe('completed')
        // A process that could not reach the database either may hand the run back.
        const done = stepsOf(await expectChain(scene.storage, threadId))
        expect(done).toEqual(Array.from({ length: steps.count }, (_, n) => `${n}`))
      }
      report(
        backend,
        `database killed ${KILLS} times under ${runs.length} runs`,
        [...ends].map(([what, count]) => `${what} ${count}`).join(', '),
      )
    })
  }, 240_000)
})

/** Starts a run on a new thread. A busy machine may answer with 503, and a client then sends again. */
async function started(scene: Scene, origin: string, params: object) {
  for (;;) {
    const threadId = scene.thread()
    try {
      return { threadId, runId: await startRun(origin, threadId, params) }
    } catch (error) {
      if (!String(error).includes(' 503 ')) throw error
    }
  }
}
