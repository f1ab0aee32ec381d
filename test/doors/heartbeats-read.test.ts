import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { serve } from '../../adapters/node.ts'
import { createAgentServer } from '../../src/index.ts'
import { agents } from './agents.ts'
import { DOORS } from './all.ts'

test.each(DOORS)('the client of $name reads a stream with heartbeats between all events', async (door) => {
  const server = createAgentServer({ agents, faces: DOORS.flatMap((one) => one.faces) })
  let beats = 0
  const beating: typeof server = {
    ...server,
    async fetch(request, context) {
      const response = await server.fetch(request, context)
      if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response
      const encoder = new TextEncoder()
      const frames = new TransformStream<Uint8Array, Uint8Array>({
        transform(frame, controller) {
          beats++
          controller.enqueue(encoder.encode(': heartbeat\n'))
          controller.enqueue(frame)
          controller.enqueue(encoder.encode(': heartbeat\n'))
        },
      })
      return new Response(response.body!.pipeThrough(frames), response)
    },
  }
  const { origin: at, close } = await serve(beating, { port: 0, silent: true })
  onTestFinished(close)
  const { send } = door.open({ origin: at, threadId: randomUUID(), agent: 'says' })
  expect(await send('one')).toMatchObject({ text: 'You said: one', end: 'completed' })
  expect(await send('two')).toMatchObject({ text: 'You said: two', end: 'completed' })
  expect(beats).toBeGreaterThan(1)
})
