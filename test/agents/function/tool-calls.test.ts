import { expect, test } from 'vitest'
import { AgentRejection } from '../../../src/agents/errors.ts'
import { defineAgent } from '../../../src/agents/function/define-agent.ts'
import { runToolCalls, type ToolCallHandlers } from '../../../src/agents/function/tool-calls.ts'
import type { AgentEvent } from '../../../src/messages/thread-events/index.ts'
import { openaiChat } from '../../../src/models/formats/index.ts'
import { answers, ask, messagesIn, newThread, run, stateOf, type Thread } from '../run.ts'

type Wanted = readonly [name: string, args: unknown]

/** The chunks of a message of OpenAI's that calls tools. Arguments that are a text are sent as they are. */
async function* calling(...wanted: readonly Wanted[]) {
  const tool_calls = wanted.map(([name, args], index) => ({
    index,
    id: `call-${index}`,
    type: 'function',
    function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
  }))
  yield { choices: [{ index: 0, delta: { role: 'assistant', tool_calls }, finish_reason: 'tool_calls' }] }
}

/** An agent whose model calls tools once, and then is done. */
function agentOf(handlers: ToolCallHandlers, ...wanted: readonly Wanted[]) {
  const rounds: boolean[] = []
  const agent = defineAgent({
    async run(context) {
      const reply = await context.model(() => calling(...wanted), openaiChat)
      rounds.push(await runToolCalls(context, reply, handlers))
      rounds.push(await runToolCalls(context, await context.message('Done.'), handlers))
    },
  })
  return { agent, rounds, thread: newThread() }
}

/** The results that the model reads, with their status. */
async function resultsOf({ agent, thread }: { agent: ReturnType<typeof defineAgent>; thread: Thread }) {
  return messagesIn((await stateOf(agent, thread)).values).flatMap((message) => {
    const { type, tool_call_id, status, content } = message as unknown as Record<string, string>
    return type === 'tool' ? [`${tool_call_id} ${status}: ${content}`] : []
  })
}

function questionIn(events: readonly AgentEvent[]) {
  const asked = events.filter(({ method }) => method === 'input.requested')
  expect(asked).toHaveLength(1)
  return asked[0]!.data as { readonly interrupt_id: string; readonly payload: unknown }
}

const decide = (events: readonly AgentEvent[], ...decisions: readonly object[]) =>
  answers({ [questionIn(events).interrupt_id]: { decisions } })

test('tools run at once, and the model reads their results', async () => {
  let running = 0
  let most = 0
  const multiply = async ({ a, b }: { a: number; b: number }) => {
    most = Math.max(most, ++running)
    await new Promise((resolve) => setTimeout(resolve, 5))
    running--
    return a * b
  }
  const made = agentOf({ tools: { multiply } }, ['multiply', { a: 6, b: 7 }], ['multiply', { a: 2, b: 2 }])
  await run(made.agent, made.thread, ask)
  expect((await resultsOf(made)).toSorted()).toEqual(['call-0 success: 42', 'call-1 success: 4'])
  expect(most).toBe(2)
  expect(made.rounds).toEqual([true, false])
})

test('the model reads an error where a tool fails, is unknown, or has arguments that are no JSON', async () => {
  const fail = () => {
    throw new Error('The mail server is down.')
  }
  const made = agentOf({ tools: { fail } }, ['fail', {}], ['toString', {}], ['fail', '{"a":'], ['task', {}])
  await run(made.agent, made.thread, ask)
  expect((await resultsOf(made)).toSorted()).toEqual([
    'call-0 error: The mail server is down.',
    'call-1 error: Unknown tool toString. Available tools: fail.',
    expect.stringMatching(/^call-2 error: The arguments are not a JSON object: /),
    'call-3 error: Unknown tool task. Available tools: fail.',
  ])
  expect(made.rounds).toEqual([true, false])
})

test('a call of task runs the subagent that it names', async () => {
  const subagents: ToolCallHandlers['subagents'] = {
    researcher: async ({ message, messages }) => void (await message(`Found ${messages.length}.`)),
  }
  const made = agentOf(
    { subagents },
    ['task', { subagent_type: 'researcher', description: 'Find x' }],
    ['task', { subagent_type: 'nobody', description: 'Find y' }],
  )
  const events = await run(made.agent, made.thread, ask)
  expect((await resultsOf(made)).toSorted()).toEqual([
    'call-0 success: Found 1.',
    'call-1 error: Expected a description, and a subagent_type that is one of: researcher.',
  ])
  expect(events.some(({ method, namespace }) => method === 'messages' && namespace.length === 1)).toBe(true)
})

test('the user is asked once about all calls that need it, before any tool runs', async () => {
  const ran: string[] = []
  const note = (call: string, result: string) => {
    ran.push(call)
    return result
  }
  const made = agentOf(
    {
      tools: {
        mail: ({ to }: { to: string }) => note(`mail ${to}`, 'sent'),
        look: () => note('look', 'seen'),
      },
      approve: ['mail'],
    },
    ['mail', { to: 'a' }],
    ['look', {}],
    ['mail', { to: 'b' }],
    ['mail', { to: 'c' }],
  )
  const asking = await run(made.agent, made.thread, ask)
  expect(ran).toEqual([])
  expect(questionIn(asking).payload).toEqual({
    actionRequests: ['a', 'b', 'c'].map((to) => ({ name: 'mail', args: { to } })),
    reviewConfigs: [{ actionName: 'mail', allowedDecisions: ['approve', 'edit', 'reject'] }],
  })
  const edit = { type: 'edit', editedAction: { name: 'mail', args: { to: 'd' } } }
  await run(made.agent, made.thread, decide(asking, { type: 'approve' }, edit, { type: 'reject' }))
  expect(ran.toSorted()).toEqual(['look', 'mail a', 'mail d'])
  expect((await resultsOf(made)).toSorted()).toEqual([
    'call-0 success: sent',
    'call-1 success: seen',
    'call-2 success: sent',
    'call-3 error: The user rejected this call.',
  ])
  const calls = messagesIn((await stateOf(made.agent, made.thread)).values).flatMap(
    (message) => (message as unknown as { tool_calls?: { args: { to?: string } }[] }).tool_calls ?? [],
  )
  expect(calls.map(({ args }) => args.to)).toEqual(['a', undefined, 'd', 'c'])
})

test('a rejection has the reason that the user gives', async () => {
  const made = agentOf({ tools: { mail: () => 'sent' }, approve: ['mail'] }, ['mail', {}])
  const asking = await run(made.agent, made.thread, ask)
  await run(made.agent, made.thread, decide(asking, { type: 'reject', message: 'Not today.' }))
  expect(await resultsOf(made)).toEqual(['call-0 error: Not today.'])
})

test.each([
  ['nothing', null],
  ['a word', 'yes'],
  ['no decision', { decisions: [] }],
  ['too many', { decisions: [{ type: 'approve' }, { type: 'approve' }] }],
  ['an unknown one', { decisions: [{ type: 'perhaps' }] }],
  ['an edit without arguments', { decisions: [{ type: 'edit' }] }],
  ['a reason that is no text', { decisions: [{ type: 'reject', message: 1 }] }],
])('an answer that is %s is asked for again, and runs nothing', async (_, given) => {
  const made = agentOf({ tools: { mail: () => 'sent' }, approve: ['mail'] }, ['mail', {}])
  const first = await run(made.agent, made.thread, ask)
  const again = await run(made.agent, made.thread, answers({ [questionIn(first).interrupt_id]: given }))
  expect(questionIn(again).payload).toMatchObject({
    actionRequests: [{ name: 'mail' }],
    error: expect.stringContaining('a list of 1'),
  })
  expect(await resultsOf(made)).toEqual([])
  await run(made.agent, made.thread, decide(again, { type: 'approve' }))
  expect(await resultsOf(made)).toEqual(['call-0 success: sent'])
})

test('a question within a tool suspends the run, and what ran beside it is not run again', async () => {
  let looks = 0
  const made = agentOf(
    {
      tools: {
        look: () => `look ${++looks}`,
        mail: async (_: object, { interrupt }) => `sent: ${await interrupt('Sure?')}`,
      },
    },
    ['look', {}],
    ['mail', {}],
  )
  const asking = await run(made.agent, made.thread, ask)
  expect(made.rounds).toEqual([])
  await run(made.agent, made.thread, answers({ [questionIn(asking).interrupt_id]: 'yes' }))
  expect((await resultsOf(made)).toSorted()).toEqual(['call-0 success: look 1', 'call-1 success: sent: yes'])
})

test('a tool that declines the task ends the run', async () => {
  const decline = () => {
    throw new AgentRejection('Not my business.')
  }
  const made = agentOf({ tools: { decline } }, ['decline', {}])
  await expect(run(made.agent, made.thread, ask)).rejects.toThrow('Not my business.')
  expect(made.rounds).toEqual([])
})

test('calls that the provider runs itself are not answered', async () => {
  const agent = defineAgent({
    async run(context) {
      const call = { type: 'serverToolCall', id: 's', name: 'web_search', args: {} } as const
      expect(await runToolCalls(context, { role: 'assistant', content: [call] }, {})).toBe(false)
    },
  })
  await run(agent, newThread(), ask)
})
