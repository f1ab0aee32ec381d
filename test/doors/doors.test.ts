import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serve } from '../../adapters/node.ts'
import { createAgentServer } from '../../src/index.ts'
import { decodeMessage, textOf } from '../../src/messages/index.ts'
import { openStorage } from '../../src/storage/open.ts'
import { BACKENDS } from '../kit/backends.ts'
import { errorMessage, unexpectedErrors } from '../kit/errors.ts'
import { agents } from './agents.ts'
import { DOORS } from './all.ts'
import type { Door, Place } from './door.ts'

/** The same agents through every door, over every storage: what clients are shown is what the thread holds. */

const STORAGES = [
  { name: 'memory', create: async () => ({ url: 'memory:', remove: async () => {} }) },
  ...BACKENDS.filter((backend) => backend.installed()),
]

describe.each(STORAGES)('over $name', ({ create }) => {
  const { errors, reporters } = unexpectedErrors()
  let origin: string
  let close: () => Promise<void>
  let engine: ReturnType<typeof createAgentServer>['engine']

  beforeAll(async () => {
    const database = await create()
    const storage = await openStorage(database.url)
    await storage.setup()
    const server = createAgentServer({
      agents,
      ...storage,
      errorMessage,
      faces: DOORS.flatMap(({ faces }) => faces),
      ...reporters,
    })
    engine = server.engine
    const served = await serve(server, { port: 0, silent: true })
    origin = served.origin
    close = async () => {
      await served.close()
      await storage.close()
      await database.remove()
    }
  })
  afterAll(async () => {
    await close()
    expect(errors).toEqual([])
  })

  async function messagesOf(door: Door, place: Place) {
    const threadId = door.threadOf ? await door.threadOf(place) : place.threadId
    const thread = await engine.findThread({ threadId })
    const state = await engine.readState(thread!)
    return (state!.values.messages as readonly unknown[]).map((one) => decodeMessage(one)!)
  }

  describe.each(DOORS)('$name', (door) => {
    const enter = (agent: string) => {
      const place = { origin, threadId: randomUUID(), agent }
      return { place, ...door.open(place) }
    }

    test('a function answers, turn after turn', async () => {
      const { place, send } = enter('says')
      expect(await send('one')).toMatchObject({ text: 'You said: one', end: 'completed' })
      expect(await send('two')).toMatchObject({ text: 'You said: two', end: 'completed' })
      const texts = (await messagesOf(door, place)).map(textOf)
      expect(texts).toEqual(['one', 'You said: one', 'two', 'You said: two'])
    })

    test('tools run, and their calls and results are those of the thread', async () => {
      const { place, send } = enter('tools')
      const shown = await send('2 + 3?')
      expect(shown).toMatchObject({ text: 'It is five.', end: 'completed' })
      if (shown.calls)
        expect(shown.calls).toMatchObject([
          { id: 'call_add', name: 'add', input: { a: 2, b: 3 }, result: '5' },
        ])
      const messages = await messagesOf(door, place)
      expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
      expect(messages.map(textOf)).toEqual(['2 + 3?', 'Let me add.', '5', 'It is five.'])
    })

    test('an approval is asked for, given, and the answer goes on', async () => {
      const { place, send, approve } = enter('asks')
      expect(await send('2 + 3?')).toMatchObject({ end: 'asks' })
      const shown = await approve()
      expect(shown).toMatchObject({ text: 'Done.', end: 'completed' })
      if (shown.calls) expect(shown.calls).toMatchObject([{ id: 'call_add', name: 'add', result: '5' }])
      expect((await messagesOf(door, place)).map(textOf)).toEqual(['2 + 3?', '', '5', 'Done.'])
    })

    test('what a subagent says is no answer of the agent', async () => {
      const { send } = enter('subagents')
      const shown = await send('Find x')
      expect(shown).toMatchObject({ text: 'The answer is 5.', end: 'completed' })
      if (shown.calls)
        expect(shown.calls).toMatchObject([{ id: 'call_task', name: 'task', result: 'x is 5' }])
    })

    test('a failure is told with a sentence for the user, and the thread takes the next message', async () => {
      const { place, send } = enter('fails')
      const shown = await send('go')
      expect(shown).toMatchObject({ end: 'failed' })
      expect(shown.error).toContain('the model is gone')
      expect(await send('again')).toMatchObject({ end: 'failed' })
      expect((await messagesOf(door, place)).map(textOf)).toEqual(['go', 'again'])
    })

    test('a call that a failure left without a result is answered before the next message', async () => {
      const { place, send } = enter('breaks')
      expect(await send('2 + 3?')).toMatchObject({ end: 'failed' })
      const shown = await send('again')
      expect(shown).toMatchObject({ text: 'Alive.', end: 'completed' })
      const messages = await messagesOf(door, place)
      const roles = messages.map(({ role }) => role)
      // This client sends the history that it has, which has no calls.
      if (door.name === 'chat completions') return expect(roles).toEqual(['user', 'user', 'assistant'])
      expect(roles).toEqual(['user', 'assistant', 'tool', 'user', 'assistant'])
      expect(messages[2]).toMatchObject({ toolCallId: 'call_add', status: 'error' })
    })
  })
})
