import { describe, expect, test } from 'vitest'
import { DATABASES } from '../../kit/databases.ts'
import type { Json } from '../../kit/events.ts'
import { eventually, gate } from '../../kit/wait.ts'
import { answerOf, clientOf, serve, stateOf, turnsOf } from '../served.ts'
import { asks, echo, graph, held } from '../served-agents.ts'

const IDS = [
  'session-42',
  '\u0000',
  '\ud800',
  '\udfff\ud800',
  '\u2028 👋',
  "'; DROP TABLE x; --",
  '{a}*?[b]',
  'x'.repeat(512),
]

describe.each(Object.keys(DATABASES))('over %s', (name) => {
  async function servers(count: number) {
    const open = await DATABASES[name]!()
    const freed = gate()
    const made: ReturnType<typeof serve>[] = []
    const agents = { graph: graph(), echo: echo(), asks: asks(), held: held(freed) }
    for (let i = 0; i < count; i++) made.push(serve(agents, await open()))
    return { made, freed }
  }

  test('any id and any text is kept and found again, on another instance', async () => {
    const { made } = await servers(2)
    for (const assistant of ['graph', 'echo']) {
      const [here, there] = made.map(({ server }) => clientOf(server, { assistant }))
      for (const id of IDS) {
        const words = {
          text: `${id}\r\n`,
          contextId: id,
          messageId: `m${id}`.slice(0, 512),
          metadata: { [`k${id}`]: id, thread_id: id },
        }
        const { result: task } = await here!.send(words)
        expect([id, stateOf(task), answerOf(task)]).toEqual([id, 'completed', `You said: ${id}\r\n`])
        expect((await there!.get(task.id)).result).toEqual(task)
        expect((await there!.send(words)).result).toEqual(task)
        const { result: list } = await there!.list({ contextId: id })
        expect(list.tasks.map((one: Json) => one.id)).toEqual([task.id])
      }
    }
    for (const { errors } of made) expect(errors).toEqual([])
  })

  test('a task is asked, answered, followed and cancelled on other instances than its own', async () => {
    const { made, freed } = await servers(2)
    const [here, there] = made.map(({ server }) => clientOf(server, { assistant: 'asks' }))
    const { result: asked } = await here!.send({ text: 'x', contextId: 'c' })
    const { result: done } = await there!.send({ text: 'blue', taskId: asked.id })
    expect([done.id, answerOf(done)]).toEqual([asked.id, 'It is "blue".'])
    expect((await here!.get(asked.id)).result).toEqual(done)
    const { result: again } = await here!.send({ text: 'x', contextId: 'c' })
    expect(stateOf((await there!.cancel(again.id)).result)).toBe('canceled')
    expect((await here!.send({ text: 'blue', taskId: again.id })).error.code).toBe(-32004)

    const [near, far] = made.map(({ server }) => clientOf(server, { assistant: 'held' }))
    const { result: one } = await near!.send({ text: 'one', blocking: false })
    const { result: two } = await near!.send({ text: 'two', blocking: false })
    expect(stateOf((await far!.cancel(one.id)).result)).toBe('canceled')
    const more = far!.send({ text: 'more', taskId: two.id })
    const follows = far!.stream({ text: 'last', taskId: two.id })
    await eventually(async () => (await made[1]!.engine.measure()).queued === 2)
    freed.open()
    expect(stateOf((await more).result)).toBe('completed')
    expect(stateOf((await follows).result)).toBe('completed')
    expect(turnsOf((await near!.get(two.id)).result)).toHaveLength(6)
    for (const { errors } of made) expect(errors).toEqual([])
  })
})
