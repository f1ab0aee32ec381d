import { Client } from '@langchain/langgraph-sdk'
import { createAgent, humanInTheLoopMiddleware } from 'langchain'
import { describe, expect, test } from 'vitest'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import { add, inOrder, ScriptedChatModel, supervised } from '../../fixtures/graphs.ts'
import type { Json } from '../../kit/events.ts'
import { serveAgents } from '../../kit/host.ts'

const CALL = { name: 'add', args: { a: 2, b: 3 } }
const ALLOWED = ['approve', 'edit', 'reject']
const IN_BOTH = {
  actionRequests: [{ ...CALL, description: expect.any(String) }],
  reviewConfigs: [
    { actionName: 'add', allowedDecisions: ALLOWED, action_name: 'add', allowed_decisions: ALLOWED },
  ],
  action_requests: [{ ...CALL, description: expect.any(String) }],
  review_configs: [
    { actionName: 'add', allowedDecisions: ALLOWED, action_name: 'add', allowed_decisions: ALLOWED },
  ],
  action_request: { action: 'add', args: CALL.args },
  config: { allow_accept: true, allow_edit: true, allow_respond: true, allow_ignore: true },
  description: expect.any(String),
}

async function asked(options: { readonly snakeCaseApprovals?: boolean }, graph = supervised()) {
  const host = await serveAgents({ agents: { a: langgraph(graph, options) } })
  const client = new Client({ apiUrl: host.origin, apiKey: null })
  const { thread_id } = await client.threads.create()
  const events: Json[] = []
  const stream = client.runs.stream(thread_id, 'a', {
    input: { messages: [{ role: 'user', content: '2 + 3?' }] },
    streamMode: ['values', 'updates', 'debug', 'tasks'],
  })
  for await (const event of stream) events.push(event)
  const resume = (answer: unknown) =>
    client.runs.wait(thread_id, 'a', { command: { resume: answer } }) as Promise<Json>
  return { client, threadId: thread_id, events, resume, host }
}

/** Every question in a value of any shape. */
function questionsIn(value: unknown): unknown[] {
  if (Array.isArray(value)) return value.flatMap(questionsIn)
  if (typeof value !== 'object' || value === null) return []
  if ('actionRequests' in value) return [value]
  return Object.values(value).flatMap(questionsIn)
}

describe('approvals in both spellings', () => {
  test('are asked in both wherever a client reads them', async () => {
    const { client, threadId, events, host } = await asked({ snakeCaseApprovals: true })
    for (const seen of [
      ...['values', 'updates', 'debug', 'tasks'].map((mode) => events.filter(({ event }) => event === mode)),
      await client.threads.get(threadId),
      await client.threads.getState(threadId),
      await client.threads.getHistory(threadId),
      await host.thread(threadId).transcript(),
    ]) {
      const questions = questionsIn(seen)
      expect(questions.length).toBeGreaterThan(0)
      for (const question of questions) expect(question).toEqual(IN_BOTH)
    }
  })

  const EDITED = { name: 'add', args: { a: 20, b: 3 } }
  const OF_INBOX = { action: 'add', args: { a: 20, b: 3 } }
  const decided = (decision: object) => ({ decisions: [decision] })
  test.each([
    ['approve', decided({ type: 'approve' }), '5'],
    ['edit, as in JavaScript', decided({ type: 'edit', editedAction: EDITED }), '23'],
    ['edit, as in Python', decided({ type: 'edit', edited_action: EDITED }), '23'],
    ['reject', decided({ type: 'reject', message: 'No.' }), 'No.'],
    ['approve, of the Inbox', decided({ type: 'approve', args: null }), '5'],
    ['edit, of the Inbox', decided({ type: 'edit', args: OF_INBOX }), '23'],
    ['reject, of the Inbox', decided({ type: 'reject', args: 'No.' }), 'No.'],
    ['accept, in a list', [{ type: 'accept', args: null }], '5'],
    ['edit, in a list', [{ type: 'edit', args: OF_INBOX }], '23'],
    ['response, in a list', [{ type: 'response', args: 'No.' }], 'No.'],
    ['ignore, in a list', [{ type: 'ignore', args: null }], expect.stringContaining('rejected')],
  ])('are answered: %s', async (_, answer, expected) => {
    const { resume } = await asked({ snakeCaseApprovals: true })
    const { messages } = await resume(answer)
    expect(messages.find(({ type }: Json) => type === 'tool').content).toEqual(expected)
    expect(messages.at(-1).type).toBe('ai')
  })

  test('about several calls have no form of the first Inbox, and an option that is not allowed is not offered', async () => {
    const calls = ['one', 'two'].map((id) => ({ id, ...CALL }))
    const graphOf = (count: number) =>
      createAgent({
        model: new ScriptedChatModel(inOrder({ toolCalls: calls.slice(0, count) }, { text: 'Done.' })),
        tools: [add],
        middleware: [humanInTheLoopMiddleware({ interruptOn: { add: { allowedDecisions: ['approve'] } } })],
      })
    const questionOf = async (count: number) => {
      const { client, threadId } = await asked({ snakeCaseApprovals: true }, graphOf(count))
      return questionsIn(await client.threads.getState(threadId))[0] as Json
    }
    expect(await questionOf(2)).not.toHaveProperty('action_request')
    expect((await questionOf(1)).config).toEqual({
      allow_accept: true,
      allow_edit: false,
      allow_respond: false,
      allow_ignore: false,
    })
  })

  test('are off by default: the question is what the middleware asks', async () => {
    const { client, threadId } = await asked({})
    const [question] = questionsIn(await client.threads.getState(threadId)) as Json[]
    expect(Object.keys(question!)).toEqual(['actionRequests', 'reviewConfigs'])
  })
})
