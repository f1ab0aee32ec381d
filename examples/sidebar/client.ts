/** Does what a sidebar does, as two users: `npx tsx client.ts [origin]` */
import assert from 'node:assert/strict'
import { Client } from '@langchain/langgraph-sdk'

const apiUrl = process.argv[2] ?? 'http://127.0.0.1:3000'

const userOf = (token: string) => {
  const defaultHeaders = { authorization: `Bearer ${token}` }
  const client = new Client({ apiUrl, defaultHeaders, callerOptions: { maxRetries: 0 } })

  /** Starts a conversation, and returns its id and the answer. */
  async function say(content: string) {
    const thread = client.threads.stream({ assistantId: 'greeter' })
    const messages = thread.messages[Symbol.asyncIterator]()
    await thread.run.start({ input: { messages: [{ type: 'human', content }] } })
    const { value: message } = await messages.next()
    const answer = await message?.text
    await thread.close()
    return { id: thread.threadId, answer }
  }

  /** What the sidebar shows: `GET /threads` gives titles and times, newest first. */
  async function titles(): Promise<string[]> {
    const response = await fetch(`${apiUrl}/threads`, { headers: defaultHeaders })
    return ((await response.json()) as { title: string }[]).map(({ title }) => title)
  }

  return { client, say, titles }
}

const status = (code: number) => (error: { status?: number }) => error.status === code

const [ada, bob, stranger] = ['token-of-ada', 'token-of-bob', 'no-token'].map(userOf)
const trip = await ada!.say('Plan a trip to Oslo')
assert.equal(trip.answer, 'Hello Ada.')
const cake = await ada!.say('Bake a cake')
const letter = await bob!.say('Write a letter')
assert.equal(letter.answer, 'Hello Bob.')

assert.deepEqual((await ada!.titles()).slice(0, 2), ['Bake a cake', 'Plan a trip to Oslo'])
await ada!.client.threads.update(trip.id, { metadata: { title: 'Oslo in May' } })
const found = await ada!.client.threads.search({
  metadata: { title: 'Oslo in May' },
  ids: [trip.id, cake.id],
})
assert.deepEqual(
  found.map(({ thread_id: id }) => id),
  [trip.id],
)
await ada!.client.threads.delete(cake.id)
console.log('The sidebar of Ada:', await ada!.titles())
assert.equal((await ada!.titles())[0], 'Oslo in May')
assert.ok(!(await ada!.titles()).includes('Bake a cake'))

console.log('The sidebar of Bob:', await bob!.titles())
assert.ok(!(await bob!.titles()).includes('Oslo in May'))
await assert.rejects(bob!.client.threads.get(trip.id), status(404))
await assert.rejects(bob!.client.threads.delete(letter.id), status(403))
await assert.rejects(stranger!.client.threads.search(), status(401))
console.log('Bob does not see the threads of Ada, and may delete none. A stranger sees nothing.')
