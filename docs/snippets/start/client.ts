// #region client
import { Client } from '@langchain/langgraph-sdk'

const thread = new Client({ apiUrl: 'http://127.0.0.1:3000' }).threads.stream({ assistantId: 'agent' })
const messages = thread.messages[Symbol.asyncIterator]() // subscribed before the run starts
await thread.run.start({ input: { messages: [{ type: 'human', content: 'What is 6 * 7?' }] } })
const { value: message } = await messages.next()
console.log(await message?.text)
await thread.close()
// #endregion
