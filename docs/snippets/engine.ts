import assert from 'node:assert/strict'
import { agents } from './kit/agents.ts'

const input = { messages: [{ type: 'human', content: 'Hi' }] }

// #region start
import { createAgentEngine } from 'agentwire'

const engine = createAgentEngine({ agents })
const { runId } = await engine.start({ threadId: 'report-2026-11', principal: { id: 'cron' }, input })
const { status } = await engine.wait({ threadId: 'report-2026-11', principal: { id: 'cron' }, runId })
// #endregion

import type { CompiledGraphLike } from 'agentwire/langgraph'
// #region context
import { langgraph } from 'agentwire/langgraph'

const agentOf = (graph: CompiledGraphLike) =>
  langgraph(graph, {
    context: ({ principal, request }) => ({
      userId: principal?.id,
      locale: request?.headers.get('accept-language'),
    }),
  })
// #endregion

// #region events
import type { AgentEngine, Principal } from 'agentwire'

async function textOfRun(
  engine: AgentEngine,
  run: { threadId: string; runId: string; principal?: Principal },
) {
  let text = ''
  for await (const event of engine.events({ ...run, filter: { channels: ['messages'] } })) {
    if (event.type === 'gap') continue // the log has dropped what came before; the newest state follows
    if (event.method !== 'messages' || event.data.event !== 'content-block-delta') continue
    const { delta } = event.data
    if (delta.type === 'text-delta') text += delta.text
  }
  return text
}
// #endregion

// #region fold
import { createFold, type FoldedMessage } from 'agentwire'

async function* messagesOfRun(
  engine: AgentEngine,
  run: { threadId: string; runId: string; principal?: Principal },
): AsyncGenerator<readonly FoldedMessage[]> {
  const fold = createFold()
  for await (const event of engine.events(run)) {
    fold.push(event)
    yield fold.read().messages
  }
}
// #endregion

// #region client
import { Client } from '@langchain/langgraph-sdk'
import type { AgentServer } from 'agentwire'

function clientOf(server: AgentServer): Client {
  const fetch: typeof globalThis.fetch = (url, init) => server.fetch(new Request(url, init))
  return new Client({ apiUrl: 'http://in.process', callerOptions: { fetch } })
}
// #endregion

import { MessagesAnnotation, StateGraph } from '@langchain/langgraph'
import { createAgentServer } from 'agentwire'

assert.equal(status, 'success')
const text = await textOfRun(engine, { threadId: 'report-2026-11', principal: { id: 'cron' }, runId })
assert.equal(text, 'Hello there')
let messages: readonly FoldedMessage[] = []
for await (const now of messagesOfRun(engine, {
  threadId: 'report-2026-11',
  principal: { id: 'cron' },
  runId,
}))
  messages = now
assert.deepEqual(
  messages.map(({ message }) => message.role),
  ['user', 'assistant'],
)
const server = createAgentServer({ engine, authenticate: () => ({ id: 'cron' }) })
assert.equal((await clientOf(server).threads.search()).length, 1)
const graph = new StateGraph(MessagesAnnotation)
  .addNode('one', () => ({}))
  .addEdge('__start__', 'one')
  .compile()
assert.equal(typeof agentOf(graph).stream, 'function')
await server.close()
await engine.close()
