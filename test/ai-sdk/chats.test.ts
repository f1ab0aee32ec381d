import { afterEach, describe, expect, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { aiSdk } from '../../src/faces/ai-sdk/index.ts'
import { type Agent, defineAgent } from '../../src/index.ts'
import { calculator, chat as chatGraph, inOrder, supervised, toolAgent } from '../fixtures/graphs.ts'
import type { Json } from '../kit/events.ts'
import { serveAgents } from '../kit/host.ts'
import { halting } from './agents.ts'
import { historyOf, LIBRARIES, openChat, refusedChunks, shownOf, textOf } from './clients.ts'

afterEach(() => expect(refusedChunks).toEqual([]))

const serve = (a: Agent, options = {}) => serveAgents({ agents: { a }, faces: [aiSdk(options)] })

const asking = () =>
  langgraph(
    toolAgent(
      inOrder(
        { toolCalls: [{ id: 'call_confirm', name: 'confirm', args: { what: 'go?' } }] },
        { text: 'Gone.' },
      ),
    ),
  )

describe.each(Object.entries(LIBRARIES))('the client of ai %s', (version, library) => {
  const automatic = { sendAutomaticallyWhen: library.lastAssistantMessageIsCompleteWithApprovalResponses }

  test('gets an answer, whose history is the same', async () => {
    const { origin } = await serve(langgraph(chatGraph()))
    const { chat, responses, ends } = openChat({ origin, library })
    await chat.sendMessage({ text: 'Hello' })
    expect(chat.error).toBeUndefined()
    expect(await ends()).toEqual(['done'])
    expect(textOf(chat.lastMessage)).toBe('Hello to you.')
    expect(Object.fromEntries(responses[0]!.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'x-vercel-ai-ui-message-stream': 'v1',
      'x-accel-buffering': 'no',
    })
    expect(shownOf(await historyOf(origin))).toEqual(shownOf(chat.messages))
  })

  test('sends another message, alone or with all before it', async () => {
    const { origin } = await serve(langgraph(calculator()))
    const first = openChat({ origin, library })
    await first.chat.sendMessage({ text: 'What is 2 and 3?' })
    await first.chat.sendMessage({ text: 'And again?' })
    const single = openChat({
      origin,
      library,
      messages: first.chat.messages,
      transport: {
        prepareSendMessagesRequest: ({ messages, id, trigger, messageId }: Json) => ({
          body: { id, trigger, messageId, message: messages.at(-1) },
        }),
      },
    })
    await single.chat.sendMessage({ text: 'Once more?' })
    expect(single.chat.error).toBeUndefined()
    const history = await historyOf(origin)
    expect(history.map(textOf)).toEqual([
      'What is 2 and 3?',
      'Let me add.It is five.',
      'And again?',
      'Let me add.It is five.',
      'Once more?',
      'Let me add.It is five.',
    ])
    expect(shownOf(history)).toEqual(shownOf(single.chat.messages))
  })

  test('approves a call, and the answer goes on in its message', async () => {
    const { origin } = await serve(langgraph(supervised()))
    const { chat } = openChat({ origin, library, ...(version !== '6.0.0' && { init: automatic }) })
    await chat.sendMessage({ text: '2 + 3?' })
    const asked = await historyOf(origin)
    expect(shownOf(asked)).toEqual(shownOf(chat.messages))
    const part: Json = asked[1]!.parts.at(-1)
    expect(part).toMatchObject({ state: 'approval-requested', toolCallId: 'call_add' })
    await chat.addToolApprovalResponse({ id: part.approval.id, approved: true })
    // The first release takes calls that the server runs for answered, and waits for the page.
    if (version === '6.0.0') await chat.sendMessage()
    await expect.poll(() => chat.status).toBe('ready')
    expect(chat.error).toBeUndefined()
    expect(chat.messages).toHaveLength(2)
    expect(textOf(chat.lastMessage)).toBe('Done.')
    expect(chat.lastMessage!.parts[1]).toMatchObject({ state: 'output-available', output: '5' })
    await library.validateUIMessages({ messages: chat.messages })
    expect(shownOf(await historyOf(origin))).toEqual(shownOf(chat.messages))
  })

  test('refuses a call after a reload', async () => {
    const { origin } = await serve(langgraph(supervised()))
    await openChat({ origin, library }).chat.sendMessage({ text: '2 + 3?' })
    const { chat } = openChat({ origin, library, messages: await historyOf(origin) })
    const part: Json = chat.lastMessage!.parts.at(-1)
    await chat.addToolApprovalResponse({ id: part.approval.id, approved: false, reason: 'No sums today.' })
    await chat.sendMessage()
    expect(chat.error).toBeUndefined()
    expect(chat.messages).toHaveLength(2)
    expect(chat.lastMessage!.parts[1]).toMatchObject({ state: 'output-denied' })
    await library.validateUIMessages({ messages: chat.messages })
    const history = await historyOf(origin)
    expect(history[1]!.parts[1]).toMatchObject({ state: 'output-error', errorText: 'No sums today.' })
    expect(shownOf(history)).toEqual(shownOf(chat.messages))
  })

  test('sends a message with the answer to an approval, as pages do that send nothing at a refusal', async () => {
    const { origin } = await serve(langgraph(supervised()))
    const { chat } = openChat({ origin, library })
    await chat.sendMessage({ text: '2 + 3?' })
    const part: Json = chat.lastMessage!.parts.at(-1)
    await chat.addToolApprovalResponse({ id: part.approval.id, approved: false, reason: 'No sums today.' })
    await chat.sendMessage({ text: 'Thanks' })
    expect(chat.error).toBeUndefined()
    expect(chat.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
    const history = await historyOf(origin)
    expect(history.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
    expect(history[1]!.parts[1]).toMatchObject({ state: 'output-error', errorText: 'No sums today.' })
    expect(shownOf(history).at(-1)).toEqual(shownOf(chat.messages).at(-1))
    await library.validateUIMessages({ messages: history })
  })

  test('answers a question of any other form by its id', async () => {
    const { origin } = await serve(asking())
    const { chat } = openChat({ origin, library })
    await chat.sendMessage({ text: 'Go' })
    const part: Json = chat.lastMessage!.parts.at(-1)
    expect(part).toMatchObject({
      type: 'data-interrupt',
      data: { value: { question: 'go?' }, status: 'pending' },
    })
    expect(shownOf(await historyOf(origin))).toEqual(shownOf(chat.messages))
    await chat.sendMessage(undefined, { body: { resume: { [part.data.id]: 'yes' } } })
    expect(chat.error).toBeUndefined()
    expect(textOf(chat.lastMessage)).toBe('Gone.')
    expect(chat.messages).toHaveLength(2)
    expect(chat.lastMessage!.parts.find((one) => one.type === 'data-interrupt')).toMatchObject({
      data: { status: 'answered' },
    })
    expect(shownOf(await historyOf(origin))).toEqual(shownOf(chat.messages))
  })

  test('edits a message, and has one answered again', async () => {
    const { origin } = await serve(
      langgraph(chatGraph((messages) => ({ text: `${messages.length}: ${messages.at(-1)!.text}` }))),
    )
    const { chat } = openChat({ origin, library })
    await chat.sendMessage({ text: 'one' })
    await chat.sendMessage({ text: 'two' })
    expect(textOf(chat.lastMessage)).toBe('3: two')
    const [first] = chat.messages
    await chat.regenerate()
    expect(chat.error).toBeUndefined()
    expect(textOf(chat.lastMessage)).toBe('3: two')
    expect(await historyOf(origin)).toHaveLength(4)
    await chat.sendMessage({ text: 'one, edited', messageId: first!.id })
    expect(chat.error).toBeUndefined()
    expect(chat.messages.map(textOf)).toEqual(['one, edited', '1: one, edited'])
    expect(shownOf(await historyOf(origin))).toEqual(shownOf(chat.messages))
    await chat.regenerate({ messageId: chat.messages[1]!.id })
    expect(shownOf(await historyOf(origin))).toEqual(shownOf(chat.messages))
  })

  test('has an answer of a function written again', async () => {
    let runs = 0
    const { origin } = await serve(defineAgent({ run: ({ message }) => void message(`Answer ${++runs}`) }))
    const { chat } = openChat({ origin, library })
    await chat.sendMessage({ text: 'one' })
    await chat.regenerate()
    expect(chat.messages.map(textOf)).toEqual(['one', 'Answer 2'])
    expect(shownOf(await historyOf(origin))).toEqual(shownOf(chat.messages))
  })

  test('resumes an answer after a reload, and stops it', async () => {
    const halted = halting()
    const { origin } = await serve(halted.agent)
    const left = openChat({ origin, library })
    const sent = left.chat.sendMessage({ text: 'Go' })
    await halted.reached
    await left.chat.stop()
    await sent
    expect(left.chat.status).toBe('ready')

    const user = left.chat.messages.slice(0, 1)
    const { chat } = openChat({ origin, library, messages: user })
    const resumed = chat.resumeStream()
    await expect.poll(() => textOf(chat.lastMessage)).toBe('Half ')
    const stop = await fetch(`${origin}/api/chat/chat-1/stop`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ messageId: chat.lastMessage!.id }),
    })
    expect(stop.status).toBe(204)
    await resumed
    expect(chat.status).toBe('ready')
    expect(textOf(chat.lastMessage)).toBe('Half ')
    expect(shownOf(await historyOf(origin))).toEqual(shownOf(chat.messages))
  })

  test('resumes where half of the answer is shown, without a double', async () => {
    const halted = halting()
    const { origin } = await serve(halted.agent)
    const left = openChat({ origin, library })
    const sent = left.chat.sendMessage({ text: 'Go' })
    await expect.poll(() => textOf(left.chat.lastMessage)).toBe('Half ')
    await left.chat.stop()
    await sent
    // Version 6.0.304 is the first that takes a resumed answer for a whole one.
    const messages = version === '6.0.0' ? left.chat.messages.slice(0, 1) : left.chat.messages
    const { chat } = openChat({ origin, library, messages })
    const resumed = chat.resumeStream()
    halted.goOn()
    await resumed
    expect(chat.messages.map(textOf)).toEqual(['Go', 'Half whole.'])
    expect(shownOf(await historyOf(origin))).toEqual(shownOf(chat.messages))
  })

  test('is shown a failure as a sentence', async () => {
    const { origin, errors } = await serve(
      defineAgent({
        async run({ message }) {
          await message('Before.')
          throw new Error('the model is gone')
        },
      }),
    )
    const { chat, ends } = openChat({ origin, library })
    await chat.sendMessage({ text: 'Hello' })
    expect(chat.status).toBe('error')
    expect(chat.error!.message).toBe('the model is gone')
    expect(await ends()).toEqual(['done'])
    expect(errors).toEqual([])
  })

  test('is refused a message while a question is open, with a sentence', async () => {
    const { origin } = await serve(asking())
    const { chat } = openChat({ origin, library })
    await chat.sendMessage({ text: 'Go' })
    await chat.sendMessage({ text: 'Never mind' })
    expect(chat.status).toBe('error')
    expect(chat.error!.message).toContain('The assistant has an open question.')
  })
})
