import type { Ask } from './recorder.ts'

const THREAD = '00000000-0000-4000-8000-000000000001'
const OTHER = '00000000-0000-4000-8000-000000000002'
const UNKNOWN = '00000000-0000-4000-8000-00000000dead'

const said = (content: string) => ({ messages: [{ role: 'user', content }] })
/** The end of a run, which is an event of the root. */
const ended = (how: string): RegExp =>
  new RegExp(`"namespace":\\[\\],"timestamp":\\d+,"data":\\{"event":"${how}"`)

const APPROVE = { decisions: [{ type: 'approve' }] }

/** Requests by protocol. Each has a whole run, one with tools, one that asks and is answered, one that fails, and what is refused. */
export const scenarios: Readonly<Record<string, (ask: Ask) => Promise<void>>> = {
  async 'streaming-protocol'(ask) {
    const commands = `/threads/${THREAD}/commands`
    const channels = ['lifecycle', 'values', 'messages', 'tools', 'input', 'tasks', 'checkpoints', 'updates']
    const start = (id: number, assistant_id: string, content: string) =>
      ask('POST', commands, { id, method: 'run.start', params: { assistant_id, input: said(content) } })
    await start(1, 'tools', 'What is 6 * 7?')
    await ask('POST', `/threads/${THREAD}/stream`, { channels }, { until: ended('completed') })
    await ask('GET', `/threads/${THREAD}/state`)
    await ask('POST', `/threads/${THREAD}/history`, { limit: 2 })
    await ask('POST', commands, { id: 2, method: 'state.get', params: {} })
    await ask('POST', commands, { id: 3, method: 'no.such', params: {} })
    await ask('POST', commands, '{')
    await ask('POST', `/threads/${THREAD}/stream`, { channels: ['message'] })
    await ask('GET', `/threads/${UNKNOWN}/state`)
    await ask('DELETE', `/threads/${THREAD}`)
    await ask('GET', `/threads/${THREAD}`)
  },

  async 'streaming-protocol-approval'(ask) {
    const thread = `/threads/${OTHER}`
    const params = { assistant_id: 'asks', input: said('What is 6 * 7?') }
    await ask('POST', `${thread}/commands`, { id: 1, method: 'run.start', params })
    const channels = ['lifecycle', 'input']
    const { text } = await ask('POST', `${thread}/stream`, { channels }, { until: ended('interrupted') })
    const asked = /"interrupt_id":"([^"]+)"/.exec(text)![1]
    const namespace = JSON.parse(
      /"method":"input.requested","params":\{"namespace":(\[[^\]]*\])/.exec(text)![1]!,
    )
    const answer = { namespace, interrupt_id: asked, response: APPROVE }
    await ask('POST', `${thread}/commands`, { id: 2, method: 'input.respond', params: answer })
    await ask('POST', `${thread}/stream`, { channels }, { until: ended('completed') })
    await ask('POST', `${thread}/commands`, { id: 3, method: 'input.respond', params: answer })
  },

  async 'langgraph-api'(ask) {
    await ask('GET', '/ok')
    await ask('POST', '/assistants/search', { sort_by: 'name', sort_order: 'asc' })
    await ask('GET', '/assistants/says/schemas')
    await ask('GET', '/assistants/tools/graph')
    await ask('POST', '/threads', { thread_id: THREAD, metadata: { color: 'red' } })
    await ask('POST', `/threads/${THREAD}/runs/wait`, {
      assistant_id: 'tools',
      input: said('What is 6 * 7?'),
    })
    const stream_mode = ['values', 'messages-tuple', 'updates', 'debug', 'custom', 'tasks', 'checkpoints']
    await ask('POST', `/threads/${THREAD}/runs/stream`, {
      assistant_id: 'tools',
      input: said('What is 2 * 3?'),
      stream_mode,
    })
    await ask('GET', `/threads/${THREAD}/runs`)
    await ask('POST', '/runs/wait', { assistant_id: 'fails', input: said('Hello') })
    await ask('POST', '/runs/wait', { assistant_id: 'nobody', input: said('Hello') })
    await ask('POST', `/threads/${THREAD}/runs/wait`, { assistant_id: 'asks', input: said('What is 6 * 7?') })
    await ask('POST', `/threads/${THREAD}/runs/wait`, { assistant_id: 'asks', command: { resume: APPROVE } })
    await ask('GET', `/threads/${THREAD}/state`)
    await ask('POST', `/threads/${THREAD}/state`, { values: said('Written.') })
    await ask('POST', '/threads/search', { metadata: { color: 'red' } })
    await ask('POST', '/threads/count', { metadata: { color: 'blue' } })
    await ask('POST', '/threads/search', { limit: 'many' })
    await ask('PATCH', `/threads/${THREAD}`, { metadata: { color: 'green' } })
    await ask('POST', `/threads/${THREAD}/copy`, {})
    await ask('POST', '/runs/crons', { assistant_id: 'says', schedule: '0 9 * * 1', input: said('Monday') })
    await ask('POST', '/runs/crons', { assistant_id: 'says', schedule: 'daily' })
    await ask('POST', '/runs/crons/count', {})
    await ask('PUT', '/store/items', { namespace: ['ann', 'notes'], key: 'one', value: { text: 'A note.' } })
    await ask('GET', '/store/items?namespace=ann.notes&key=one')
    await ask('POST', '/store/items/search', { namespace_prefix: ['ann'] })
    await ask('POST', '/store/namespaces', {})
    await ask('DELETE', '/store/items', { namespace: ['ann', 'notes'], key: 'one' })
  },

  async 'a2a-v0.3'(ask) {
    const rpc = (id: number, method: string, params: object) =>
      ask('POST', '/a2a/tools', { jsonrpc: '2.0', id, method, params })
    const message = (messageId: string, text: string, more: object = {}) => ({
      message: { kind: 'message', role: 'user', messageId, parts: [{ kind: 'text', text }], ...more },
    })
    await ask('GET', '/.well-known/agent-card.json?assistant_id=tools')
    const { json } = await rpc(1, 'message/send', message('m1', 'What is 6 * 7?'))
    await rpc(2, 'message/stream', message('m2', 'What is 2 * 3?'))
    await rpc(3, 'tasks/get', { id: json.result.id })
    await rpc(4, 'tasks/cancel', { id: json.result.id })
    await rpc(5, 'tasks/get', { id: UNKNOWN })
    await rpc(6, 'no/such', {})
    await rpc(7, 'message/send', {})
    await ask('POST', '/a2a/tools', '{')
  },

  async 'a2a-v1'(ask) {
    const headers = { 'a2a-version': '1.0' }
    const rpc = (agent: string, id: number, method: string, params: object) =>
      ask('POST', `/a2a/${agent}`, { jsonrpc: '2.0', id, method, params }, { headers })
    const message = (messageId: string, text: string, more: object = {}) => ({
      message: { role: 'ROLE_USER', messageId, parts: [{ text }], ...more },
    })
    await rpc('tools', 1, 'SendMessage', message('m1', 'What is 6 * 7?'))
    await rpc('tools', 2, 'SendStreamingMessage', message('m2', 'What is 2 * 3?'))
    const { json } = await rpc('asks', 3, 'SendMessage', message('m3', 'What is 6 * 7?'))
    const { id: taskId, contextId } = json.result.task
    const parts = [{ data: { decisions: [{ type: 'approve' }] } }]
    await rpc('asks', 4, 'SendMessage', message('m4', '', { taskId, contextId, parts }))
    await rpc('asks', 5, 'GetTask', { id: taskId })
    await rpc('fails', 6, 'SendMessage', message('m5', 'Hello'))
    await rpc('tools', 7, 'GetTask', { id: UNKNOWN })
  },

  async 'ai-sdk'(ask) {
    const chat = (agent: string, id: string, text: string) =>
      ask('POST', `/api/chat?agent=${agent}`, {
        id,
        assistantId: agent,
        messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text }] }],
      })
    await chat('tools', THREAD, 'What is 6 * 7?')
    await ask('GET', `/api/chat/${THREAD}`)
    await chat('asks', OTHER, 'What is 6 * 7?')
    await ask('GET', `/api/chat/${OTHER}`)
    await ask('GET', `/api/chat/${OTHER}/stream`)
    await chat('fails', UNKNOWN, 'Hello')
    await ask('POST', '/api/chat', { messages: 'Hello' })
  },

  async 'ag-ui'(ask) {
    const input = (threadId: string, content: string) => ({
      threadId,
      runId: 'run-1',
      messages: [{ id: 'u1', role: 'user', content }],
      tools: [],
      context: [],
      state: {},
      forwardedProps: {},
    })
    await ask('GET', '/ag-ui/info')
    await ask('POST', '/ag-ui/tools', input(THREAD, 'What is 6 * 7?'))
    await ask('POST', '/ag-ui/asks', input(OTHER, 'What is 6 * 7?'))
    await ask('POST', '/ag-ui/fails', input(UNKNOWN, 'Hello'))
    await ask('POST', '/ag-ui/nobody', input(UNKNOWN, 'Hello'))
    await ask('POST', '/ag-ui/tools', { messages: 1 })
  },

  async mcp(ask) {
    const headers = { 'mcp-protocol-version': '2025-06-18' }
    const rpc = (id: number, method: string, params: object) =>
      ask('POST', '/mcp', { jsonrpc: '2.0', id, method, params }, { headers })
    const clientInfo = { name: 'golden', version: '1.0.0' }
    await rpc(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo })
    await rpc(2, 'tools/list', {})
    await rpc(3, 'tools/call', { name: 'tools', arguments: { message: 'What is 6 * 7?' } })
    await rpc(4, 'tools/call', { name: 'asks', arguments: { message: 'What is 6 * 7?' } })
    await rpc(5, 'tools/call', { name: 'fails', arguments: { message: 'Hello' } })
    await rpc(6, 'tools/call', { name: 'nobody', arguments: {} })
    await rpc(7, 'no/such', {})
  },

  async openai(ask) {
    const complete = (model: string, content: string, more: object = {}) =>
      ask('POST', '/v1/chat/completions', { model, ...said(content), ...more })
    await ask('GET', '/v1/models')
    await complete('tools', 'What is 6 * 7?')
    await complete('tools', 'What is 6 * 7?', { stream: true, stream_options: { include_usage: true } })
    await complete('fails', 'Hello')
    await complete('nobody', 'Hello')
    const { json } = await ask('POST', '/v1/responses', { model: 'tools', input: 'What is 6 * 7?' })
    await ask('POST', '/v1/responses', { model: 'tools', input: 'What is 2 * 3?', stream: true })
    await ask('GET', `/v1/responses/${json.id}/input_items`)
    await ask('POST', '/v1/responses', { model: 'asks', input: 'What is 6 * 7?' })
    await ask('POST', '/v1/responses', { model: 'tools' })
    await ask('DELETE', `/v1/responses/${json.id}`)
    await ask('GET', '/v1/responses/resp_unknown')
    await ask('GET', '/v1/no-such')
  },

  async 'control-plane'(ask) {
    const deployment = {
      name: 'golden',
      source: 'github',
      source_config: {
        integration_id: UNKNOWN,
        repo_url: 'https://github.com/example/agent',
        deployment_type: 'dev',
        build_on_push: false,
      },
      source_revision_config: { repo_ref: 'main', langgraph_config_path: 'langgraph.json' },
      secrets: [{ name: 'KEY', value: 'value' }],
    }
    const { json } = await ask('POST', '/v2/deployments', deployment)
    await ask('POST', '/v2/deployments', deployment)
    await ask('POST', '/v2/deployments', { name: 1, source: 'ftp' })
    await ask('GET', '/v2/deployments?limit=2')
    await ask('GET', `/v2/deployments/${json.id}`)
    await ask('GET', `/v2/deployments/${json.id}/revisions/${json.latest_revision_id}`)
    await ask('PATCH', `/v2/deployments/${json.id}`, { secrets: [{ name: 'KEY', value: 'other' }] })
    await ask('GET', `/v2/deployments/${json.id}/revisions`)
    await ask('GET', '/v2/auth/tokens')
    await ask('GET', `/v2/deployments/${UNKNOWN}`)
    await ask('GET', '/v2/deployments/no-uuid')
    await ask('DELETE', `/v2/deployments/${json.id}`)
  },
}
