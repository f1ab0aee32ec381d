/** Calls the tool, follows its progress, and fills in its form: `npx tsx client.ts [origin]` */
import assert from 'node:assert/strict'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

const origin = process.argv[2] ?? 'http://127.0.0.1:3000'
const client = new Client(
  { name: 'example', version: '1.0.0' },
  { capabilities: { elicitation: {} }, versionNegotiation: { mode: 'auto' } },
)
client.setRequestHandler('elicitation/create', async ({ params }) => {
  console.log(`It asks: ${params.message}`)
  return { action: 'accept', content: { at: '20:30' } }
})
await assert.doesNotReject(client.connect(new StreamableHTTPClientTransport(new URL('/mcp', origin))))

const { tools } = await client.listTools()
console.log(tools.map(({ name, description }) => `${name}: ${description}`).join('\n'))

const progress: string[] = []
const result = await client.callTool(
  { name: 'book', arguments: { restaurant: 'Ada’s', guests: 4 } },
  { onprogress: ({ message }) => message && progress.push(message) },
)
console.log(progress, result.content)
assert.ok(progress.includes('Asks Ada’s for a table'))
assert.deepEqual(result.content[0], { type: 'text', text: 'Ada’s expects 4 guests at 20:30.' })
await client.close()
