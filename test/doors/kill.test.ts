import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { decodeMessage, textOf } from '../../src/messages/index.ts'
import { readLog } from '../durability/checks.ts'
import { backends, inScene, LEASE_MS } from '../durability/scene.ts'
import { request } from '../kit/client.ts'
import { eventually } from '../kit/wait.ts'
import { DOORS } from './all.ts'
import { RETURNS, sendStory } from './returns.ts'

/** A graph that says three messages of so many words, a few milliseconds between two. */
const STORY = '50 20'

describe.each(backends)('over $name', (backend) => {
  test(
    'an answer whose process is killed is shown through every door once, and whole',
    async () => {
      await inScene(backend, async (scene) => {
        const [killed, other] = await Promise.all([
          scene.start({ hasDoors: true }),
          scene.start({ hasDoors: true }),
        ])
        // A client of MCP is told the thread with the answer: test/mcp/leaving.test.ts has its lost processes.
        const talks = DOORS.filter(({ name }) => name !== 'MCP').map((door) => {
          const place = { origin: killed.origin, threadId: randomUUID(), agent: 'story' }
          return { door, place, sent: sendStory(door, place, STORY) }
        })
        const threadOf = async ({ door, place }: (typeof talks)[number]) =>
          door.threadOf ? door.threadOf(place) : place.threadId
        /** The second message is being written. */
        const isInTheMiddle = async (talk: (typeof talks)[number]) => {
          const log = await readLog(scene.storage, await threadOf(talk))
          const starts = log.flatMap(({ method, params }, at) =>
            method === 'messages' && params.data.event === 'message-start' ? [at] : [],
          )
          return starts.length >= 2 && log.length > starts[1]! + 5
        }
        const returning = talks.filter(({ door }) => RETURNS[door.name])
        const elsewhere = () =>
          returning.map(({ door, place }) => RETURNS[door.name]!({ ...place, origin: other.origin }))
        // The thread of a call of MCP is known from its result only.
        const told = talks.filter(({ door }) => door.name !== 'MCP')
        await eventually(async () => {
          for (const talk of told) if (!(await isInTheMiddle(talk))) return false
          return true
        })
        const live = elsewhere()
        await eventually(async () => (await threadsOf(other.origin)) >= talks.length)
        await killed.kill()
        const after = elsewhere()
        expect(await Promise.all(talks.map(({ sent }) => sent))).not.toContain('completed')
        for (const [at, talk] of returning.entries()) {
          const { door } = talk
          const threadId = await threadOf(talk)
          const shown = await live[at]!
          const { body } = await request(other.origin, 'GET', `/threads/${threadId}/state`)
          const texts = (body.values.messages as readonly unknown[]).flatMap((raw) => {
            const message = decodeMessage(raw)!
            return message.role === 'assistant' ? [textOf(message)] : []
          })
          expect(texts).toHaveLength(3)
          expect([door.name, shown]).toEqual([door.name, texts])
          expect([door.name, await after[at]!]).toEqual([door.name, texts])
        }
      })
    },
    60_000 + 10 * LEASE_MS,
  )
})

async function threadsOf(origin: string): Promise<number> {
  return (await request(origin, 'POST', '/threads/search', { limit: 100 })).body.length
}
