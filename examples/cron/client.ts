/** Watches the runs that the server starts: `npx tsx client.ts [origin]` */
import assert from 'node:assert/strict'
import { Client } from '@langchain/langgraph-sdk'

const client = new Client({ apiUrl: process.argv[2] ?? 'http://127.0.0.1:3000' })

const thread = client.threads.stream('reports', { assistantId: 'report' })
const reports: string[] = []
for await (const message of thread.messages) {
  reports.push(await message.text)
  console.log(reports.at(-1))
  if (reports.length === 3) break
}
await thread.close()

assert.equal(reports.length, 3)
assert.equal(new Set(reports).size, 3, 'No report is made twice.')
for (const report of reports) assert.match(report, /^Report of 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/)
