import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '@langchain/langgraph-sdk'
import { expect, test } from 'vitest'
import { defineAgent } from '../../src/index.ts'
import { serveAgents } from '../kit/host.ts'
import { gate } from '../kit/wait.ts'

const assistant = defineAgent({
  async run({ interrupt, setState }) {
    const answer = await interrupt<string>('go?')
    await sleep(50)
    await setState({ answer })
  },
})

test('a client that answers with a new handle waits for its own run, however late the answer is accepted', async () => {
  const commanded = gate()
  const opened = gate()
  let isAnswer = false
  const host = await serveAgents({
    agents: { assistant },
    async authorize(_, action) {
      if (isAnswer && action === 'threads:stream') {
        await commanded.opened
        opened.open()
      } else if (isAnswer && action === 'runs:create') {
        commanded.open()
        // Long enough for the stream to send what it begins with.
        await opened.opened.then(() => sleep(50))
      }
      return true
    },
  })
  const client = new Client({ apiUrl: host.origin })
  const asking = client.threads.stream({ assistantId: 'assistant' })
  await asking.run.start({ input: {} })
  await asking.output
  const [question] = asking.interrupts
  await asking.close()

  isAnswer = true
  const answering = client.threads.stream(asking.threadId, { assistantId: 'assistant' })
  await answering.input.respond({
    interrupt_id: question!.interruptId,
    namespace: question!.namespace,
    response: 'yes',
  })
  expect(await answering.output).toMatchObject({ answer: 'yes' })
  await answering.close()
})
