import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager'
import { AIMessage, AIMessageChunk, type BaseMessage } from '@langchain/core/messages'
import { ChatGenerationChunk } from '@langchain/core/outputs'
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { describe, expect, test } from 'vitest'
import { defineAgent } from '../../src/agents/function/define-agent.ts'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { decodeMessage, textOf } from '../../src/messages/index.ts'
import { inOrder, ScriptedChatModel } from '../fixtures/graphs.ts'
import type { Json } from '../kit/events.ts'
import { serveAgents } from '../kit/host.ts'

/** docs/protocol.md §7.2: a state with what the active run has streamed. */

function gate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

/** A model that stops in the middle of its answer until it is let go. */
class HalfwayModel extends ScriptedChatModel {
  private readonly goOn: Promise<void>

  constructor(goOn: Promise<void>) {
    super(inOrder({ text: 'whole' }))
    this.goOn = goOn
  }

  override async *_streamResponseChunks(
    _messages: BaseMessage[],
    _options: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    for (const text of ['Once upon ', 'a time.']) {
      if (text === 'a time.') await this.goOn
      const part = chunk(text)
      yield part
      await runManager?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk: part })
    }
  }
}

const chunk = (content: string) =>
  new ChatGenerationChunk({ text: content, message: new AIMessageChunk({ content, id: 'story' }) })

const textsOf = (state: Json): string[] =>
  state.values.messages.map((message: Json) => textOf(decodeMessage(message)!))

describe('the state with what is streamed', () => {
  test('has half an answer, but no message that a state has not kept', async () => {
    const { open, opened } = gate()
    const story = new HalfwayModel(opened)
    const router = new ScriptedChatModel(inOrder({ text: 'Not kept' }))
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('route', async (state) => {
        await router.invoke(state.messages)
        return { messages: [new AIMessage({ id: 'routed', content: 'To the story' })] }
      })
      .addNode('answer', async (state) => ({ messages: [await story.invoke(state.messages)] }))
      .addEdge(START, 'route')
      .addEdge('route', 'answer')
      .addEdge('answer', END)
      .compile()
    const { thread: threadOf } = await serveAgents({ agents: { a: langgraph(graph) } })
    const thread = threadOf()
    const read = async () => (await thread.get('/state?streamed=true')).body
    await thread.start({ messages: [{ type: 'human', id: 'asked', content: 'Tell me' }] })
    await expect
      .poll(async () => textsOf(await read()), { timeout: 60_000 })
      .toEqual(['Tell me', 'To the story', 'Once upon '])
    const half = await read()
    expect(half.next).not.toEqual([])
    expect(half.values.messages[2]).toMatchObject({ type: 'ai', id: 'story', tool_calls: [] })
    expect(textsOf((await thread.get('/state')).body)).toEqual(['Tell me', 'To the story'])
    expect(await thread.get('/state?streamed=true&select=values')).toMatchObject({
      body: { values: half.values },
    })
    open()
    await thread.idle()
    expect(textsOf(await read())).toEqual(['Tell me', 'To the story', 'Once upon a time.'])
    expect(await read()).toEqual((await thread.get('/state')).body)
  })

  test('has the finished and the unfinished messages of an agent without LangGraph', async () => {
    const { open, opened } = gate()
    const agent = defineAgent({
      async run({ message }) {
        await message('First.')
        const answer = message()
        await answer.text('Half ')
        await opened
        await answer.text('more')
      },
    })
    const { thread: threadOf } = await serveAgents({ agents: { a: agent } })
    const thread = threadOf()
    await thread.start({ messages: [{ type: 'human', content: 'Hi' }] })
    const read = async () => textsOf((await thread.get('/state?streamed=true')).body)
    await expect.poll(read, { timeout: 60_000 }).toEqual(['Hi', 'First.', 'Half '])
    open()
    await thread.idle()
    expect(await read()).toEqual(['Hi', 'First.', 'Half more'])
  })

  test('does not exist for another caller, and is the plain state of a thread without a run', async () => {
    const { thread: threadOf } = await serveAgents({
      agents: { a: defineAgent({ run: ({ message }) => message('Hi') }) },
      authenticate: (request) => ({ id: request.headers.get('x-user') ?? 'nobody' }),
    })
    const thread = threadOf('owned', { 'x-user': 'owner' })
    await thread.start({ messages: 'Hi' })
    await thread.idle()
    const plain = await thread.get('/state')
    expect((await thread.get('/state?streamed=true')).body).toEqual(plain.body)
    expect((await threadOf('owned', { 'x-user': 'other' }).get('/state?streamed=true')).status).toBe(404)
  })
})
