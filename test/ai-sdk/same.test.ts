import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { readUIMessageStream, type UIMessageChunk } from 'ai'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { aiSdk } from '../../src/faces/ai-sdk/index.ts'
import { follow, type OpenAnswer } from '../../src/faces/ai-sdk/stream.ts'
import { createChunkWriter } from '../../src/faces/ai-sdk/writer.ts'
import { ANSWER_EVENTS } from '../../src/faces/kit/index.ts'
import { type Agent, defineAgent } from '../../src/index.ts'
import {
  calculator,
  chat,
  inOrder,
  researchers,
  ScriptedChatModel,
  supervised,
  toolAgent,
} from '../fixtures/graphs.ts'
import type { Json } from '../kit/events.ts'
import { serveAgents } from '../kit/host.ts'
import { everything, unstreamed } from './agents.ts'
import { historyOf, type Message, openChat, shownOf } from './clients.ts'

const call = (id: string, name: string, args: object = {}) => ({ id, name, args })

/** Two models that speak at the same time. */
async function parallel() {
  const [left, right] = ['I am left.', 'I am right.'].map((text) => new ScriptedChatModel(inOrder({ text })))
  // Its messages have other ids then.
  await right!.invoke('Hello')
  const speak = (model: ScriptedChatModel) => async () => ({ messages: [await model.invoke('Hello')] })
  return new StateGraph(MessagesAnnotation)
    .addNode('left', speak(left!))
    .addNode('right', speak(right!))
    .addEdge(START, 'left')
    .addEdge(START, 'right')
    .compile()
}

const AGENTS: Readonly<Record<string, () => Agent | Promise<Agent>>> = {
  'a model': () => langgraph(chat()),
  'a tool': () => langgraph(calculator()),
  'tools that report, fail and are called twice': () =>
    langgraph(
      toolAgent(
        inOrder(
          {
            toolCalls: [
              call('c1', 'report'),
              call('c2', 'add', { a: 1, b: 1 }),
              call('c3', 'add', { a: 1, b: 1 }),
            ],
          },
          { text: 'And now:', toolCalls: [call('c4', 'broken')] },
          { text: 'Well.' },
        ),
      ),
    ),
  'a question in a tool': () =>
    langgraph(
      toolAgent(
        inOrder({ text: 'Hm.', toolCalls: [call('c1', 'confirm', { what: 'go?' })] }, { text: 'Gone.' }),
      ),
    ),
  'an approval': () => langgraph(supervised()),
  'a subagent': () => langgraph(researchers()),
  'a subagent that asks': () => langgraph(researchers({ asks: true })),
  'a message that no model has streamed': () => langgraph(unstreamed()),
  'two models at once': async () => langgraph(await parallel()),
  'a function with everything': () => everything,
  'a function that asks': () =>
    defineAgent({
      async run({ message, interrupt }) {
        await message('First.')
        await message(`You said ${await interrupt('what?')}.`)
      },
    }),
}

/** Sends a message, and answers whatever is asked, with yes. */
async function converse(origin: string) {
  const { chat, ends } = openChat({ origin })
  await chat.sendMessage({ text: 'Go' })
  for (;;) {
    await ends()
    expect(chat.error).toBeUndefined()
    expect(shownOf(await historyOf(origin))).toEqual(shownOf(chat.messages))
    const parts: Json[] = chat.lastMessage!.parts
    const approvals = parts.filter(({ state }) => state === 'approval-requested')
    const questions = parts.filter(({ type, data }) => type === 'data-interrupt' && data.status === 'pending')
    if (approvals.length + questions.length === 0) return chat.messages
    for (const { approval } of approvals)
      await chat.addToolApprovalResponse({ id: approval.id, approved: true })
    const resume = Object.fromEntries(questions.map(({ data }) => [data.id, 'yes']))
    await chat.sendMessage(undefined, questions.length > 0 ? { body: { resume } } : undefined)
  }
}

/** The message that a page has which reads an answer anew when its log is so long, and then what follows. */
async function resumed(answer: OpenAnswer, events: readonly Json[], at: number, sizes: readonly number[]) {
  const shape = { isDynamic: true, ofClient: new Set<string>() }
  const place = { head: events[at - 1]?.seq ?? 0, userId: undefined }
  const follower = follow(createChunkWriter(shape), [], place)
  const chunks: unknown[] = [...follower.push(events.slice(0, at))]
  let from = at
  for (let turn = 0; from < events.length; turn++) {
    const size = sizes[turn % sizes.length]!
    chunks.push(...follower.push(events.slice(from, from + size)))
    from += size
  }
  chunks.push(...follower.end(answer.end!))
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of chunks as UIMessageChunk[]) controller.enqueue(chunk)
      controller.close()
    },
  })
  let message: Message | undefined
  for await (const one of readUIMessageStream({ stream, terminateOnError: true })) message = one
  return message!
}

test.each(Object.entries(AGENTS))(
  '%s: the stream, a resumed one at any moment, and the history are one message',
  async (_, make) => {
    const { origin, server } = await serveAgents({ agents: { a: await make() }, faces: [aiSdk()] })
    const [, message] = shownOf(await converse(origin))
    const { engine } = server
    const thread = await engine.findThread({ threadId: 'chat-1' })
    const follow = {
      threadId: 'chat-1',
      answerId: thread!.lastRunId!,
      filter: ANSWER_EVENTS,

      batches: true,
    } as const
    const answer = (await engine.follow(follow))!
    const events: Json[] = []
    for await (const batch of answer) events.push(...batch)
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: events.length }),
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 4 }),
        async (at, sizes) => {
          expect(shownOf([await resumed(answer, events, at, sizes)])).toEqual([message])
        },
      ),
      { numRuns: 15 },
    )
  },
)
