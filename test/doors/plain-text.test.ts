import { randomUUID } from 'node:crypto'
import { AIMessage } from '@langchain/core/messages'
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serve } from '../../adapters/node.ts'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { createAgentServer, defineAgent } from '../../src/index.ts'
import { decodeBlock, decodeMessage, encodeBlock } from '../../src/messages/index.ts'
import { DOORS } from './all.ts'
import { protocol } from './doors/protocol.ts'

/** LangChain's `text-plain` blocks: documents of text. */

const PLAIN = { type: 'text-plain', text: 'Once upon a time.', mimeType: 'text/plain', title: 'Tale' }

const graph = new StateGraph(MessagesAnnotation)
  .addNode('model', () => ({ messages: [new AIMessage({ content: [PLAIN] as never })] }))
  .addEdge(START, 'model')
  .compile()

const writes = defineAgent({
  async run({ message }) {
    const answer = message()
    for (const block of decodeMessage({ type: 'ai', content: [PLAIN] })!.content) await answer.block(block)
    await answer.end()
  },
})

describe.each(['graph', 'writes'])('the text of a document of %s', (agent) => {
  let origin: string
  let close: () => Promise<void>

  beforeAll(async () => {
    const server = createAgentServer({
      agents: { graph: langgraph(graph), writes },
      faces: DOORS.flatMap(({ faces }) => faces),
    })
    const served = await serve(server, { port: 0, silent: true })
    origin = served.origin
    close = served.close
  })
  afterAll(() => close())

  // The streaming protocol has LangChain's own block, which its clients show as a document.
  test.each(DOORS.filter((door) => door !== protocol))('is shown by the client of $name', async (door) => {
    const { send } = door.open({ origin, threadId: randomUUID(), agent })
    expect(await send('Tell me')).toMatchObject({ text: PLAIN.text, end: 'completed' })
  })
})

test('a text keeps its block on the wire, and one without text is a file', () => {
  const read = decodeBlock(PLAIN)
  expect(read).toMatchObject({ type: 'text', text: PLAIN.text })
  expect(encodeBlock(read)).toEqual(PLAIN)
  expect(decodeBlock(encodeBlock(read))).toEqual(read)
  const file = { type: 'text-plain', url: 'https://example.com/a.txt', mimeType: 'text/plain' }
  expect(decodeBlock(file)).toEqual({ type: 'file', url: file.url, mimeType: 'text/plain' })
})

test.each([
  { metadata: { filename: 'a.pdf' } },
  { metadata: { name: 'a.pdf' } },
  { metadata: { title: 'a.pdf', page: 2 } },
  { metadata: { filename: 'a.pdf', page: 2 } },
])('the name of a file in %o stays where LangChain reads it', (named) => {
  const wire = { type: 'file', data: 'JVBERi0=', mime_type: 'application/pdf', ...named }
  const read = decodeBlock(wire)
  expect(read).toMatchObject({ extras: { filename: 'a.pdf' } })
  expect(encodeBlock(read)).toEqual(wire)
})
