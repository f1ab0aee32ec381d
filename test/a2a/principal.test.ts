import { expect, test } from 'vitest'
import { createAgentServer, defineAgent } from '../../src/index.ts'
import { textOf } from '../../src/messages/index.ts'

const echo = defineAgent({
  async run({ messages, message, interrupt }) {
    const text = textOf(messages.at(-1)!)
    await message(text === 'ask' ? String(await interrupt('Which?')) : text)
  },
})

function serve() {
  const server = createAgentServer({
    agents: { echo },
    authenticate: ({ headers }) => ({ id: headers.get('x-user') ?? 'nobody' }),
  })
  const ask = async (user: string, method: string, params: object): Promise<string> => {
    const response = await server.fetch(
      new Request('http://127.0.0.1/a2a/echo', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'a2a-version': '1.0', 'x-user': user },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      }),
    )
    return response.text()
  }
  return { server, ask }
}

const message = (text: string) => ({
  message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] },
})

test('a caller with an id is streamed its whole task', async () => {
  const { server, ask } = serve()
  const stream = await ask('ann', 'SendStreamingMessage', message('hello'))
  expect(stream).toContain('"text":"hello"')
  expect(stream).toContain('TASK_STATE_COMPLETED')
  expect(stream).not.toContain('"error"')
  await server.close()
})

test('a caller subscribes to its own task, and not to that of another', async () => {
  const { server, ask } = serve()
  const sent = JSON.parse(await ask('ann', 'SendMessage', message('ask'))) as {
    readonly result: { readonly task: { readonly id: string } }
  }
  const { id } = sent.result.task
  const own = await ask('ann', 'tasks/resubscribe', { id })
  expect(own).toContain('"input-required"')
  expect(own).not.toContain('"error"')
  expect(JSON.parse(await ask('bob', 'SubscribeToTask', { id }))).toMatchObject({ error: { code: -32001 } })
  await server.close()
})
