import { AIMessageChunk } from '@langchain/core/messages'
import { FakeListChatModel } from '@langchain/core/utils/testing'
import { createAgentServer, defineAgent, memoryCheckpointer, memoryStore, type Principal } from 'agentwire'
import { expect, onTestFinished, test, vi } from 'vitest'
import { titles } from '../../examples/chat/server/titles.ts'

const echo = defineAgent({
  async run({ input, message }) {
    const { messages } = input as { readonly messages: readonly { readonly content: string }[] }
    await message(`You say: ${messages.at(-1)!.content}`)
  },
})

/** Servers over one store, as before and after a restart. */
function storage(answer: () => string | Promise<string>) {
  const kept = { store: memoryStore(), checkpointer: memoryCheckpointer() }
  const model = new FakeListChatModel({ responses: [''] })
  const asked = vi.spyOn(model, 'invoke').mockImplementation(async () => new AIMessageChunk(await answer()))
  const serve = () => {
    const server = createAgentServer({
      agents: { echo },
      ...kept,
      authenticate: (request) => principalOf(request.headers.get('x-user')),
      faces: [titles(model)],
    })
    onTestFinished(() => server.close())
    const request = async (method: string, path: string, body?: object, user = 'ada') => {
      const headers = { 'content-type': 'application/json', 'x-user': user }
      const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
      const response = await server.fetch(new Request(`http://localhost${path}`, init))
      return { status: response.status, body: await response.json() }
    }
    return {
      close: () => server.close(),
      async say(threadId: string, text: string) {
        const input = { messages: [{ role: 'user', content: text }] }
        await request('POST', `/threads/${threadId}/runs/wait`, {
          assistant_id: 'echo',
          input,
          if_not_exists: 'create',
        })
      },
      title: (threadId: string, user?: string) =>
        request('POST', `/threads/${threadId}/title`, undefined, user),
      rename: (threadId: string, title: string | null) =>
        request('PATCH', `/threads/${threadId}`, { metadata: { title } }),
      list: async () => (await request('GET', '/threads')).body as readonly Listed[],
    }
  }
  return { asked, serve }
}

interface Listed {
  readonly id: string
  readonly title: string
  readonly updatedAt: string
}

const principalOf = (id: string | null): Principal | null => (id === null ? null : { id })

test('a model names a thread when a page asks, and neither the run nor the order of the list knows of it', async () => {
  const { asked, serve } = storage(() => '"Lunch at noon."')
  const { say, title, list } = serve()
  await say('t', 'When is lunch?')
  const [before] = await list()
  expect(before!.title).toBe('When is lunch?')
  expect(asked).not.toHaveBeenCalled()
  expect((await title('t')).body).toEqual({ title: 'Lunch at noon' })
  expect(await list()).toEqual([{ ...before, title: 'Lunch at noon' }])
})

test('the model is asked once: not by a second page, not later, and not after a restart', async () => {
  const { asked, serve } = storage(() => 'Lunch')
  const first = serve()
  await first.say('t', 'When is lunch?')
  const answers = await Promise.all([first.title('t'), first.title('t')])
  expect(answers.map(({ body }) => body.title)).toEqual(['Lunch', 'Lunch'])
  await first.close()
  const second = serve()
  expect((await second.title('t')).body.title).toBe('Lunch')
  await second.say('t', 'And dinner?')
  expect((await second.title('t')).body.title).toBe('Lunch')
  expect((await second.list())[0]!.title).toBe('Lunch')
  expect(asked).toHaveBeenCalledTimes(1)
})

test('a title that was not made before the process ended is made by the next one', async () => {
  const { asked, serve } = storage(() =>
    asked.mock.calls.length > 1 ? 'Lunch' : new Promise<string>(() => {}),
  )
  const first = serve()
  await first.say('t', 'When is lunch?')
  void first.title('t')
  await vi.waitFor(() => expect(asked).toHaveBeenCalled())
  const second = serve()
  expect((await second.title('t')).body.title).toBe('Lunch')
  expect((await second.list())[0]!.title).toBe('Lunch')
})

test('the name that a user gives stays, also where it is given while the model writes', async () => {
  let write = (_: string): void => {}
  const { asked, serve } = storage(
    () =>
      new Promise((resolve) => {
        write = resolve
      }),
  )
  const { say, title, rename, list } = serve()
  await say('t', 'When is lunch?')
  const made = title('t')
  await vi.waitFor(() => expect(asked).toHaveBeenCalled())
  await rename('t', 'My lunch')
  write('Lunch')
  await made
  expect((await list())[0]!.title).toBe('My lunch')
  expect((await title('t')).body.title).toBe('My lunch')
  await rename('t', null)
  expect((await list())[0]!.title).toBe('Lunch')

  await say('u', 'When is dinner?')
  await rename('u', 'My dinner')
  expect((await title('u')).body.title).toBe('My dinner')
  expect(asked).toHaveBeenCalledTimes(1)
})

test('without an answer of the model, a thread is called by its question and a number, until there is one', async () => {
  vi.spyOn(console, 'warn').mockReturnValue()
  let fails = true
  const { serve } = storage(() => {
    if (fails) throw new Error('429')
    return 'Lunch'
  })
  const { say, title } = serve()
  const question = 'Please tell me when there will be lunch today, and where it is going to be'
  for (const id of ['t', 'u']) await say(id, question)
  const short = 'Please tell me when there will be lunch today, and where it…'
  expect((await title('t')).body.title).toBe(short)
  expect((await title('u')).body.title).toBe(`${short} (2)`)
  fails = false
  expect((await title('u')).body.title).toBe('Lunch')
  expect((await title('t')).body.title).toBe('Lunch (2)')
})

test('a thread without a message, or of another user, gets no title', async () => {
  const { asked, serve } = storage(() => 'Lunch')
  const { say, title } = serve()
  await say('t', 'When is lunch?')
  expect((await title('t', 'bob')).status).toBe(404)
  expect((await title('nothing')).status).toBe(404)
  expect(asked).not.toHaveBeenCalled()
})
