import { withoutPassword } from 'agentwire/storage'
import { quickStart } from './quick-start.ts'

export interface Started {
  readonly origin: string
  /** The model's name. */
  readonly model: string
  readonly storageUrl: string
  /** The control plane's key, and the only folder that it deploys. */
  readonly key: string
  readonly repository: string
}

/**
 * What the launcher prints when the page is up. You can paste the lines that start with `curl`, and the quick
 * start.
 */
export function welcome({ origin, model, storageUrl, key, repository }: Started): string {
  const post = (path: string, body: object) =>
    `curl -sN ${origin}${path} -H 'content-type: application/json' -d '${JSON.stringify(body)}'`
  const start = {
    id: 1,
    method: 'run.start',
    params: { assistant_id: 'agent', input: { messages: [{ role: 'user', content: 'What is 6 * 7?' }] } },
  }
  const message = { role: 'user', messageId: 'm1', parts: [{ kind: 'text', text: 'What is 6 * 7?' }] }
  const send = { jsonrpc: '2.0', id: 1, method: 'message/stream', params: { message } }
  return `
The chat runs with ${model}. OPENAI_API_KEY, ANTHROPIC_API_KEY or GOOGLE_API_KEY choose a provider's model.
${kept(storageUrl)}
The page shows the text of what an agent has thrown, as in development. In production clients see an error id.

  The chat page    ${origin}/
  The devtools     ${origin}/devtools
  Is it up?        ${origin}/ok
  All threads      ${origin}/threads
  Its agent card   ${origin}/.well-known/agent-card.json?assistant_id=agent
  useChat          ${origin}/api/chat
  AG-UI            ${origin}/ag-ui/agent
  MCP              ${origin}/mcp
  OpenAI's clients ${origin}/v1

Try it from another terminal: start a run, watch its events (Ctrl-C ends that), read the state, call the agent over A2A.

${post('/threads/hello/commands', start)}
${post('/threads/hello/stream', { channels: ['lifecycle', 'tools', 'messages'] })}
curl -s ${origin}/threads/hello/state
${post('/a2a/agent', send)}

Deploy the agent of examples/deployed with the control plane: create it, wait until it is DEPLOYED, ask it, give it another secret.
${origin}/docs describes the API.

${quickStart(origin, key, repository)}

Ctrl-C stops the demo.
`
}

function kept(url: string): string {
  return url === 'memory:'
    ? 'Its threads are gone when it stops. STORAGE_URL=file:demo.db, or postgres://…, keeps them.'
    : `Its threads are kept in ${withoutPassword(url)}. Those that a crash cut off go on within half a minute.`
}
