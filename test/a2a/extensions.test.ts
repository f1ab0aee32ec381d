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
  const open = (params: object, headers: Record<string, string> = {}, method = 'message/send') =>
    server.fetch(
      new Request('http://a/a2a/echo', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      }),
    )
  return Object.assign(async (...asked: Parameters<typeof open>) => (await open(...asked)).json(), { open })
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

test('the scope of a history may stand in the configuration, and there outweighs the header', async () => {
  const ask = serverOf()
  const { result: first } = await ask(user('one'))
  const { contextId } = first
  const historyOf = async (params: object, headers = {}, method = 'message/send') => {
    const { result, error } = await ask(params, headers, method)
    expect(error).toBeUndefined()
    const { history } = result.task ?? result
    return history.map(({ parts }: { parts: { text: string }[] }) => parts[0]!.text)
  }
  const inContext = { 'langgraph-a2a-history-scope': 'context' }
  const all = ['one', 'hello', 'two', 'hello']
  const two = { ...user('two', { contextId }) }
  expect(await historyOf({ ...two, configuration: { historyScope: 'context' } })).toEqual(all)
  expect(await historyOf({ ...two, configuration: { historyScope: 'task' } }, inContext)).toEqual(
    all.slice(2),
  )
  expect(await historyOf({ ...two, configuration: { historyLength: 3, historyScope: 'context' } })).toEqual(
    all.slice(1),
  )
  const v1 = { message: { messageId: 'two', contextId, role: 'ROLE_USER', parts: [{ text: 'two' }] } }
  for (const configuration of [{ historyScope: 'context' }, { history_scope: 'context' }])
    expect(await historyOf({ ...v1, configuration }, {}, 'SendMessage')).toEqual(all)
  const { id } = (await ask(two)).result
  for (const method of ['tasks/get', 'GetTask']) {
    expect(await historyOf({ id, historyScope: 'context' }, {}, method)).toEqual(all)
    expect(await historyOf({ id }, inContext, method)).toEqual(all)
  }
  const wrong = await ask({ ...two, configuration: { historyScope: 'all' } })
  expect(wrong.error).toMatchObject({ code: -32602, message: expect.stringContaining('historyScope') })
})

test('an answer names the extensions of its request that the server has, in the same header', async () => {
  const own = 'https://example.com/extension'
  const scope = 'https://langchain.com/a2a/extensions/history-scope/v1'
  const { open } = serverOf({ a2a: { card: { extensions: [{ uri: own }] } } })
  const named = `${scope}, https://other.example,${own}`
  const active = async (...asked: Parameters<typeof open>) => {
    const { headers, body } = await open(...asked)
    await body?.cancel()
    return [headers.get('a2a-extensions'), headers.get('x-a2a-extensions')]
  }
  for (const [params, method] of [
    [user('one'), 'message/send'],
    [user('two'), 'message/stream'],
    [{ id: 'nothing' }, 'tasks/get'],
    [{}, 'no/such'],
  ] as const) {
    expect(await active(params, { 'A2A-Extensions': named }, method)).toEqual([`${scope}, ${own}`, null])
    expect(await active(params, { 'X-A2A-Extensions': own }, method)).toEqual([null, own])
    expect(await active(params, { 'A2A-Extensions': 'https://other.example' }, method)).toEqual([null, null])
    expect(await active(params, {}, method)).toEqual([null, null])
  }
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
