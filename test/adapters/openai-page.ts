import OpenAI from 'openai'

/** OpenAI's own client on a page of another origin than the server. */
const api = new URLSearchParams(location.search).get('api') ?? ''
const client = new OpenAI({
  baseURL: `${api}/v1`,
  apiKey: 'key',
  organization: 'org',
  project: 'project',
  dangerouslyAllowBrowser: true,
  maxRetries: 0,
})

async function show(ask: () => Promise<string>): Promise<void> {
  const text = document.createElement('p')
  document.body.append(text)
  try {
    text.textContent = await ask()
  } catch (error) {
    text.textContent = String(error)
  }
}

const button = document.createElement('button')
button.textContent = 'Send'
document.body.append(button)
button.addEventListener('click', async () => {
  await show(async () => {
    const messages = [{ role: 'user' as const, content: 'Hi' }]
    const headers = { 'x-thread-id': crypto.randomUUID(), 'idempotency-key': crypto.randomUUID() }
    const stream = client.chat.completions.stream({ model: 'agent', messages }, { headers })
    return `chat: ${await stream.finalContent()}`
  })
  await show(async () => {
    const stream = client.responses.stream({ model: 'agent', input: 'Hi' }, { timeout: 30_000 })
    // The older clients have no `output_text` on the response of a stream.
    const items = (await stream.finalResponse()).output.flatMap((item) =>
      item.type === 'message' ? item.content : [],
    )
    return `response: ${items.map((part) => (part.type === 'output_text' ? part.text : '')).join('')}`
  })
})
