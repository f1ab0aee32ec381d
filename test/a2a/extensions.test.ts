import { expect, onTestFinished, test } from 'vitest'
import { createAgentServer, defineAgent, type ServerFaces } from '../../src/index.ts'

function serverOf(faces: ServerFaces = {}) {
  const agents = {
    echo: defineAgent({
      async run({ message }) {
        await message('hello')
      },
    }),
  }
  const server = createAgentServer({ agents, ...faces })
  onTestFinished(() => server.close())
  return async (params: object, headers: Record<string, string> = {}, method = 'message/send') => {
    const response = await server.fetch(
      new Request('http://a/a2a/echo', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      }),
    )
    return response.json()
  }
}

const user = (messageId: string, more: object = {}) => ({
  message: { kind: 'message', role: 'user', messageId, parts: [{ kind: 'text', text: messageId }], ...more },
})

test('the history is that of the task, or of its whole context where the header says so', async () => {
  const ask = serverOf()
  const { result: first } = await ask(user('one'))
  const { contextId } = first
  const { result: second } = await ask(user('two', { contextId }))
  const textsOf = (task: { history: { parts: { text: string }[]; taskId?: string }[] }) =>
    task.history.map(({ parts }) => parts[0]!.text)
  expect(textsOf(second)).toEqual(['two', 'hello'])
  expect(second.history[0].taskId).toBe(second.id)
  const scope = { 'LangGraph-A2A-History-Scope': 'context' }
  const { result: whole } = await ask({ id: second.id }, scope, 'tasks/get')
  expect(textsOf(whole)).toEqual(['one', 'hello', 'two', 'hello'])
  expect(whole.history[0].taskId).toBeUndefined()
  const { result: some } = await ask({ id: second.id, historyLength: 3 }, scope, 'tasks/get')
  expect(textsOf(some)).toEqual(['hello', 'two', 'hello'])
})

test('a client that does not name a required extension is refused', async () => {
  const uri = 'https://example.com/extension'
  const ask = serverOf({ a2a: { card: { extensions: [{ uri, required: true }] } } })
  const refused = await ask(user('one'))
  expect(refused.error).toMatchObject({ code: -32008 })
  expect(refused.error.message).toContain(uri)
  for (const name of ['A2A-Extensions', 'X-A2A-Extensions'])
    expect((await ask(user('one'), { [name]: `https://other.example, ${uri}` })).result.status.state).toBe(
      'completed',
    )
})
