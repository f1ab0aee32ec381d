import { BaseCallbackHandler } from '@langchain/core/callbacks/base'
import { END, type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph'
import { createAgent, dynamicSystemPromptMiddleware, tool } from 'langchain'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { defineAgent } from '../../src/agents/function/define-agent.ts'
import { type LangGraphOptions, langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { type Agent, AgentInputError, type Authenticate, type Principal } from '../../src/index.ts'
import { Notes, ScriptedChatModel } from '../fixtures/graphs.ts'
import { engineOf, start, transcript } from '../kit/engine.ts'
import { rootStates } from '../kit/events.ts'
import { serveAgents } from '../kit/host.ts'
import { puppet } from '../kit/puppet.ts'
import { SHARED } from '../kit/shared.ts'
import { eventually, gate } from '../kit/wait.ts'

const authenticate: Authenticate = (request) => {
  const id = request.headers.get('authorization')
  return id === null ? null : { id, role: 'boss' }
}
const as = (id: string) => ({ authorization: id, 'x-locale': 'de' })

const ask = { messages: [{ type: 'human', content: 'Who am I?', id: 'h' }] }

const contextSchema = z.object({ userId: z.string(), locale: z.string() })

/** A graph of one node that writes the context it got into the state. */
const contextGraph = () =>
  new StateGraph(Notes, contextSchema)
    .addNode('node', (_, { context }: LangGraphRunnableConfig) => ({
      notes: [JSON.stringify(context ?? null)],
    }))
    .addEdge(START, 'node')
    .addEdge('node', END)
    .compile()

const context: LangGraphOptions['context'] = ({ principal, request, input, threadId }) => ({
  userId: principal?.id ?? 'nobody',
  locale: request?.headers.get('x-locale') ?? 'none',
  input,
  threadId,
  at: new Date(0),
})

describe('the context of langgraph()', () => {
  test('reaches the tools, the middleware and the schema of a real agent', async () => {
    const prompts: string[] = []
    const whoami = tool(
      (_, runtime) => `You are ${(runtime as { context?: { userId?: string } }).context?.userId}.`,
      {
        name: 'whoami',
        description: 'Says who asks.',
        schema: z.object({}),
      },
    )
    const agent = createAgent({
      model: new ScriptedChatModel((messages) => {
        prompts.push(String(messages[0]!.content))
        const last = messages.at(-1)!
        return last.getType() === 'tool'
          ? { text: String(last.content) }
          : { toolCalls: [{ id: 'c', name: 'whoami', args: {} }] }
      }),
      tools: [whoami],
      contextSchema,
      middleware: [
        dynamicSystemPromptMiddleware<z.infer<typeof contextSchema>>(
          (_, runtime) => `Speak ${runtime.context.locale}.`,
        ),
      ],
    })
    const host = await serveAgents({ agents: { a: langgraph(agent, { context }) }, authenticate })
    const thread = host.thread('t', as('ann'))
    await thread.start(ask)
    expect(rootStates(await thread.transcript())).toEqual(['running', 'completed'])
    const { messages } = (await thread.get('/state')).body.values
    expect(JSON.stringify(messages.at(-1).content)).toContain('You are ann.')
    expect(prompts).toEqual(['Speak de.', 'Speak de.'])
  })

  test('is made once of who asks, the request and the input, and is plain JSON', async () => {
    const calls: unknown[] = []
    const counted: LangGraphOptions['context'] = (request) => {
      calls.push(request.input)
      return context(request)
    }
    const host = await serveAgents({
      agents: { a: langgraph(contextGraph(), { context: counted }) },
      authenticate,
    })
    const thread = host.thread('t', as('ann'))
    await thread.start({ notes: ['in'] }, { config: { configurable: { x: 1 }, context: { userId: 'root' } } })
    await thread.transcript()
    const { notes } = (await thread.get('/state')).body.values
    expect(JSON.parse(notes[1])).toEqual({
      userId: 'ann',
      locale: 'de',
      input: { notes: ['in'] },
      threadId: 't',
      at: '1970-01-01T00:00:00.000Z',
    })
    expect(calls).toEqual([{ notes: ['in'] }])
  })

  test('is that of the caller of the engine, who may also give one', async () => {
    const engine = engineOf({ a: langgraph(contextGraph(), { context }) })
    await start(engine, 't', { notes: [] }, { principal: { id: 'cron' } })
    await eventually(async () => {
      const thread = await engine.findThread({ threadId: 't', principal: { id: 'cron' } })
      return thread?.status === 'idle'
    })
    const given = { userId: 'given', locale: 'fr' }
    await start(engine, 'u', { notes: [] }, { config: { configurable: {}, context: given } })
    await transcript(engine, 'u')
    const noteOf = async (threadId: string, principal?: Principal) => {
      const thread = (await engine.findThread({ threadId, principal }))!
      return JSON.parse(((await engine.readState(thread))!.values.notes as string[])[0]!)
    }
    expect(await noteOf('t', { id: 'cron' })).toMatchObject({ userId: 'cron', locale: 'none' })
    expect(await noteOf('u')).toEqual(given)
    await engine.close()
  })

  test('refuses the run by throwing, and nothing is changed', async () => {
    let error: Error = new AgentInputError('Say x-locale.')
    const throws: LangGraphOptions['context'] = () => {
      throw error
    }
    const host = await serveAgents({ agents: { a: langgraph(contextGraph(), { context: throws }) } })
    const thread = host.thread()
    expect(await thread.command('run.start', { input: { notes: [] } })).toMatchObject({
      error: 'invalid_argument',
      message: 'Say x-locale.',
    })
    error = new Error('postgres://secret')
    const answer = await thread.command('run.start', { input: { notes: [] } })
    expect(answer).toMatchObject({ error: 'unknown_error' })
    expect(JSON.stringify(answer)).not.toContain('secret')
    expect(host.errors.splice(0)).toEqual([error])
    expect((await thread.get('')).status).toBe(404)
  })
})

/** An agent of each kind that waits for the gate in its first attempt, and says who asks in its state. */
const WAITING: Readonly<Record<string, (opened: () => Promise<void>) => Agent>> = {
  'a graph': (opened) =>
    langgraph(
      new StateGraph(Notes)
        .addNode('wait', async () => {
          await opened()
          return {}
        })
        .addNode('say', (_, { context, configurable }: LangGraphRunnableConfig) => {
          const { userId, locale } = context as { userId: string; locale: string }
          return { notes: [`${userId} ${locale} ${configurable?.langgraph_auth_user_id}`] }
        })
        .addEdge(START, 'wait')
        .addEdge('wait', 'say')
        .compile(),
      { context },
    ),
  'a function': (opened) =>
    defineAgent({
      resumable: true,
      async run({ principal, config, setState }) {
        await opened()
        await setState({
          notes: [
            `${principal?.id} ${principal?.role === 'boss' ? 'de' : 'none'} ${config.configurable.langgraph_auth_user_id}`,
          ],
        })
      },
    }),
}

describe.each(Object.entries(SHARED))('over %s', (_, shared) => {
  test.each(Object.entries(WAITING))(
    '%s knows who asked after it waited and in another process',
    async (_, make) => {
      const place = shared()
      const principal = { id: 'ann', role: 'boss' }
      const request = new Request('http://localhost/', { headers: as('ann') })
      const never = gate()
      const reached = gate()
      const lost = engineOf(
        {
          a: make(() => {
            reached.open()
            return never.opened
          }),
        },
        { ...place(), leaseTtlMs: 300, onError: () => {} },
      )
      await start(lost, 't', { notes: [] }, { principal, request })
      await reached.opened
      const queued = await start(lost, 't', { notes: [] }, { principal, request })
      // The runs are handed over, as by a process that ends.
      const closed = lost.close()
      const other = engineOf({ a: make(async () => {}) }, { ...place(), leaseTtlMs: 300 })
      onTestFinished(() => other.close())
      await closed
      const { status } = await other.wait({ threadId: 't', principal, runId: queued.runId })
      expect(status).toBe('success')
      const thread = (await other.findThread({ threadId: 't', principal }))!
      const history = []
      for await (const { values } of other.readHistory(thread, {}, {}))
        history.push(...((values.notes as string[]) ?? []))
      expect(new Set(history)).toEqual(new Set(['ann de ann']))
      never.open()
    },
  )
})

test('the principal is null without authentication, and no client can pretend to be one', async () => {
  const actor = puppet()
  const host = await serveAgents({ agents: { a: actor.agent } })
  const thread = host.thread()
  await thread.start({}, { config: { configurable: { langgraph_auth_user: { id: 'root' } } } })
  await eventually(() => actor.tasks.length === 1)
  expect(actor.tasks[0]!.principal).toBe(null)
  actor.finish()
})

describe('what a tracer is told of a run', () => {
  class Tracer extends BaseCallbackHandler {
    name = 'tracer'
    readonly runs: {
      id: string
      parent: string | undefined
      metadata: Record<string, unknown> | undefined
    }[] = []
    override handleChainStart(...args: Parameters<NonNullable<BaseCallbackHandler['handleChainStart']>>) {
      const [, , id, parent, , metadata] = args as unknown as [
        unknown,
        unknown,
        string,
        string?,
        unknown?,
        Record<string, unknown>?,
      ]
      this.runs.push({ id, parent, metadata })
    }
  }

  test("is the run's own id and ids that no client can set", async () => {
    const tracer = new Tracer()
    const graph = contextGraph().withConfig({ callbacks: [tracer] })
    const host = await serveAgents({ agents: { a: langgraph(graph as never, { context }) }, authenticate })
    const thread = host.thread('t', as('ann'))
    const lies = {
      thread_id: 'lie',
      run_id: 'lie',
      checkpoint_id: undefined,
      checkpoint_ns: 'lie',
      checkpoint_map: { lie: 'lie' },
      graph_id: 'lie',
      assistant_id: 'lie',
      langgraph_auth_user: 'lie',
      langgraph_auth_user_id: 'lie',
      langgraph_auth_permissions: ['lie'],
      __pregel_x: 'lie',
    }
    const runId = await thread.start(
      { notes: [] },
      {
        config: { configurable: { ...lies, mine: 'kept' }, metadata: { ...lies, mine: 'kept' } },
        metadata: { ...lies, ours: 'kept' },
      },
    )
    expect(rootStates(await thread.transcript())).toEqual(['running', 'completed'])
    const [root] = tracer.runs.filter(({ parent }) => parent === undefined)
    expect(root!.id).toBe(runId)
    expect(root!.metadata).toMatchObject({
      thread_id: 't',
      run_id: runId,
      graph_id: 'a',
      assistant_id: 'a',
      mine: 'kept',
      ours: 'kept',
    })
    expect(JSON.stringify(tracer.runs)).not.toContain('lie')
    expect(JSON.stringify((await thread.get('/history')).body)).not.toContain('lie')
  })
})
