import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import {
  createFace,
  type FaceCall,
  type FaceContext,
  type FaceSetup,
  json,
  keepRunning,
  route,
} from '../../src/faces/kit/index.ts'
import { createAgentServer, defineAgent } from '../../src/index.ts'
import { gate } from '../kit/wait.ts'

const note = z.object({ text: z.string(), metadata: z.optional(z.record(z.string(), z.unknown())) })

const echo = async (_: FaceContext, { body }: FaceCall<z.output<typeof note>>) => json(body)

const notes = (setup: FaceSetup) =>
  createFace(setup, {
    routes: [
      {
        below: ['/notes'],
        load: async () => [
          route('POST', '/notes/:thread_id', {
            permission: 'threads:update',
            summary: 'Take a note.',
            body: note,
            answers: { 200: { anyOf: [note, { type: 'null' }] } },
            run: echo,
          }),
        ],
      },
    ],
  })

test('the body of a row is checked after its permission, which sees it as it was sent, with what that has set', async () => {
  const seen: unknown[] = []
  const server = createAgentServer({
    agents: { echo: defineAgent({ run: async () => {} }) },
    authenticate: () => ({ id: 'ann' }),
    async authorize(_, action, { threadId }, sent) {
      seen.push([action, threadId, await sent()])
      return { body: { metadata: { by: 'ann' } } }
    },
    faces: [notes],
  })
  onTestFinished(() => server.close())
  const post = async (body: unknown) => {
    const request = new Request('http://127.0.0.1/notes/t', { method: 'POST', body: JSON.stringify(body) })
    request.headers.set('content-type', 'application/json')
    const answer = await server.fetch(request)
    return [answer.status, await answer.json()]
  }
  expect(await post({ text: 'a' })).toEqual([200, { text: 'a', metadata: { by: 'ann' } }])
  expect(await post({ text: 1 })).toEqual([
    400,
    { error: 'invalid_argument', message: 'text: expected a string.' },
  ])
  expect(seen).toEqual([
    ['threads:update', 't', { text: 'a' }],
    ['threads:update', 't', { text: 1 }],
  ])
})

test('the document has what a row that is loaded later accepts and returns', async () => {
  const server = createAgentServer({
    agents: { echo: defineAgent({ run: async () => {} }) },
    faces: [notes],
    onError() {},
  })
  onTestFinished(() => server.close())
  const answer = await server.fetch(new Request('http://127.0.0.1/openapi.json'))
  const { post } = (await answer.json()).paths['/notes/{thread_id}']
  expect(post.requestBody).toMatchObject({
    required: true,
    content: { 'application/json': { schema: { type: 'object', required: ['text'] } } },
  })
  expect(post.responses[200].content['application/json'].schema.anyOf).toMatchObject([
    { type: 'object', properties: { text: { type: 'string' } } },
    { type: 'null' },
  ])
})

test('a host is asked to wait for the run of a thread that the path does not name', async () => {
  const { opened, open } = gate()
  const slow = defineAgent({ run: () => opened })
  const face = (setup: FaceSetup) =>
    createFace(setup, {
      routes: [
        route('POST', '/start', {
          permission: 'runs:create',
          async run(context, call) {
            const run = await context.engine.start({ threadId: 't', input: {}, principal: call.principal })
            keepRunning(context, call, 't')
            return json(run)
          },
        }),
      ],
    })
  const server = createAgentServer({ agents: { slow }, faces: [face] })
  onTestFinished(() => server.close())
  const works: Promise<unknown>[] = []
  const request = new Request('http://127.0.0.1/start', { method: 'POST' })
  const response = await server.fetch(request, { waitUntil: (work) => works.push(work) })
  const { runId } = (await response.json()) as { readonly runId: string }
  expect(works).toHaveLength(1)
  open()
  await works[0]
  expect(await server.engine.getRun({ threadId: 't', runId })).toMatchObject({ status: 'success' })
})
