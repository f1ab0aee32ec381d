import { createServer, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { COLLECTION, putJobOp } from '../../src/storage/jobs/job.ts'
import { openStorage } from '../../src/storage/open.ts'
import { BACKENDS } from '../kit/backends.ts'
import { bundleOf } from '../kit/bundle.ts'
import { listen } from '../kit/listen.ts'
import { programs } from '../kit/program.ts'
import { eventually } from '../kit/wait.ts'

const start = programs()
const ROUNDS = Number(process.env.DURABILITY_ROUNDS ?? 2)
const JOBS = ['a', 'b', 'c', 'd', 'e', 'f']
const TO = 60

interface Received {
  readonly pid: number
  readonly id: string
  readonly at: number
}

describe.each(BACKENDS.filter((backend) => backend.installed()))('over $name', (backend) => {
  test('after kill -9 in the middle of deliveries every job goes on elsewhere, in its order', {
    timeout: 240_000,
  }, async () => {
    const database = await backend.create()
    onTestFinished(() => database.remove())
    const storage = await openStorage(database.url)
    await storage.setup()
    onTestFinished(() => storage.close())
    const received: Received[] = []
    let answer = (response: ServerResponse) => void response.end()
    const server = createServer(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      const [pid, id, at] = body.split(' ') as [string, string, string]
      received.push({ pid: Number(pid), id, at: Number(at) })
      await sleep(Math.random() * 20)
      answer(response)
    })
    const port = await listen(server)
    onTestFinished(() => void server.close())
    const env = { ...process.env, STORAGE: database.url, PORT: String(port) }
    const worker = async () => {
      const program = start(process.execPath, [await bundleOf('test/jobs/worker.ts')], env)
      await program.output(/ready/)
      return program
    }

    for (let round = 0; round < ROUNDS; round++) {
      received.length = 0
      const workers = await Promise.all([worker(), worker()])
      for (const id of JOBS)
        await storage.store.commit(`thread-${id}`, {
          ops: [putJobOp({ id, kind: 'count', data: { to: TO } })],
        })
      await eventually(() => new Set(received.map(({ id }) => id)).size === JOBS.length)
      await sleep(Math.random() * 100)
      // What is under way then has arrived and is not answered.
      answer = () => {}
      await sleep(40)
      const victim = workers.find(({ child }) => child.pid === received.at(-1)!.pid)!
      victim.child.kill('SIGKILL')
      await victim.exit
      const before = received.length
      answer = (response) => void response.end()
      await eventually(async () => (await storage.store.list(COLLECTION)).docs.length === 0)
      for (const { child, exit } of workers) {
        child.kill('SIGKILL')
        await exit
      }

      expect(received.slice(before).map(({ pid }) => pid)).not.toContain(victim.child.pid)
      expect(received.length).toBeGreaterThan(before)
      for (const id of JOBS) {
        const numbers = received.filter((one) => one.id === id).map(({ at }) => at)
        expect(numbers.filter((at, i) => at !== numbers[i - 1])).toEqual(
          Array.from({ length: TO }, (_, i) => i + 1),
        )
        // Only what was not answered when the process was killed came twice.
        expect(numbers.length).toBeLessThanOrEqual(TO + 1)
      }
      expect(workers.map(({ text }) => text()).join('')).not.toContain('reported')
    }
  })
})
