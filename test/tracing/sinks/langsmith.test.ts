import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client } from 'langsmith'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startLlmRun } from '../../../src/models/tracing/index.ts'
import { langsmithSink } from '../../../src/models/tracing/sinks/langsmith.ts'

/** A server that accepts runs one by one and keeps the requests. */
async function intake(status = 200) {
  const got: { method: string; url: string; key: unknown; body: Record<string, unknown> }[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    const { method = '', url = '', headers } = request
    if (url.startsWith('/runs')) got.push({ method, url, key: headers['x-api-key'], body: JSON.parse(text) })
    response
      .writeHead(url.startsWith('/runs') ? status : 200, { 'content-type': 'application/json' })
      .end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { got, apiUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const request = { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }] }
const response = {
  model: 'gpt-4o',
  choices: [{ message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2 },
}

test("runs are sent through the user's client", async () => {
  const { got, apiUrl } = await intake()
  const client = new Client({ apiUrl, apiKey: 'key', autoBatchTracing: false })
  const run = startLlmRun({ name: 'answer', request, sinks: [langsmithSink({ client, project: 'p' })] })
  run.addEvent('new_token')
  run.end(response)
  await run.delivered()
  expect(got.map(({ method, url, key }) => [method, url, key])).toEqual([
    ['POST', '/runs', 'key'],
    ['PATCH', `/runs/${run.id}`, 'key'],
  ])
  const [create, update] = got
  expect(create!.body).toMatchObject({
    id: run.id,
    name: 'answer',
    run_type: 'llm',
    session_name: 'p',
    trace_id: run.id,
    dotted_order: run.dottedOrder,
    inputs: { messages: [{ role: 'user' }] },
  })
  expect(update!.body).toMatchObject({
    end_time: expect.any(String),
    outputs: { messages: [{ role: 'assistant' }] },
    events: [{ name: 'new_token', time: expect.any(String) }],
    extra: { metadata: { ls_provider: 'openai', usage_metadata: { total_tokens: 5 } } },
  })
})

test('key, endpoint and project are read from the environment', async () => {
  const { got, apiUrl } = await intake()
  vi.stubEnv('LANGSMITH_API_KEY', 'from-env')
  vi.stubEnv('LANGSMITH_ENDPOINT', apiUrl)
  vi.stubEnv('LANGSMITH_PROJECT', 'project-from-env')
  onTestFinished(() => void vi.unstubAllEnvs())
  const client = new Client({ autoBatchTracing: false })
  const run = startLlmRun({ name: 'answer', request, sinks: [langsmithSink({ client })] })
  run.end(response)
  await run.delivered()
  expect(got[0]).toMatchObject({ key: 'from-env', body: { session_name: 'project-from-env' } })
})

test('a rejection by the platform only calls onError', async () => {
  const errors: unknown[] = []
  const { apiUrl } = await intake(422)
  const client = new Client({ apiUrl, apiKey: 'k', autoBatchTracing: false })
  const run = startLlmRun({
    name: 'answer',
    request,
    sinks: [langsmithSink({ client, project: 'p' })],
    onError: (error) => errors.push(error),
  })
  expect(run.end(response).outputs).toHaveProperty('messages')
  await run.delivered()
  expect(errors.map(String)).toEqual([expect.stringContaining('422'), expect.stringContaining('422')])
})
