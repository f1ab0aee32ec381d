import { describe, expect, test } from 'vitest'
import { defineAgent, textOf } from '../../src/index.ts'
import { failing } from '../fixtures/failing.ts'
import { calculator, chat, supervised } from '../fixtures/graphs.ts'
import type { Json } from '../kit/events.ts'
import { gate } from '../kit/wait.ts'
import {
  asking,
  assistant,
  clientsOf,
  counting,
  eventsOf,
  langgraph,
  served,
  WEATHER,
  withoutComments,
} from './served.ts'

const tool = { type: 'function', strict: null, ...WEATHER } as const

test('both clients get a response, whole and in events', async () => {
  const { baseURL } = await served({ assistant })
  for (const [, openai] of clientsOf(baseURL)) {
    const whole = await openai.responses.create({ model: 'assistant', input: 'Hi' })
    expect(whole).toMatchObject({ status: 'completed', output_text: 'You said: Hi', error: null })
    expect(whole.output.map(({ type }) => type)).toEqual(['reasoning', 'message'])
    expect(whole.usage).toMatchObject({ input_tokens: 1, output_tokens: 3, total_tokens: 4 })
    const stream = openai.responses.stream({ model: 'assistant', input: 'Hi' })
    const final = await stream.finalResponse()
    expect(final).toMatchObject({ status: 'completed', output_text: 'You said: Hi' })
    expect(final.output).toMatchObject((await openai.responses.retrieve(final.id)).output)
  }
})

test('the events of an item are in the order of the specification, and numbered one by one', async () => {
  const { request } = await served({ assistant })
  const { text } = await request('POST', '/responses', { model: 'assistant', input: 'Hi', stream: true })
  const events = eventsOf(text)
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, at) => at))
  expect(events.map(({ type }) => type.replace('response.', ''))).toEqual([
    'created',
    'in_progress',
    'output_item.added',
    'reasoning_summary_part.added',
    'reasoning_summary_text.delta',
    'reasoning_summary_text.done',
    'reasoning_summary_part.done',
    'output_item.done',
    'output_item.added',
    'content_part.added',
    'output_text.delta',
    'output_text.delta',
    'output_text.done',
    'content_part.done',
    'output_item.done',
    'completed',
  ])
  expect(text.trimEnd().endsWith('data: [DONE]')).toBe(true)
})

test('what the graph runs itself is not in the output', async () => {
  const { openai } = await served({ calculator: langgraph(calculator()) })
  const { output, output_text } = await openai.responses.create({ model: 'calculator', input: '2+3?' })
  expect(output.map(({ type }) => type)).toEqual(['message', 'message'])
  expect(output_text).toBe('Let me add.It is five.')
})

describe('a conversation', () => {
  test('goes on after a previous response, and forks after one that is not the newest', async () => {
    const { openai, threadIds } = await served({ counting })
    const say = (input: string, previous_response_id?: string) =>
      openai.responses.create({
        model: 'counting',
        input,
        ...(previous_response_id && { previous_response_id }),
      })
    const one = await say('a')
    const two = await say('b', one.id)
    expect(two.output_text).toBe('u:a|a:u:a|u:b')
    expect(two.previous_response_id).toBe(one.id)
    const other = await say('c', one.id)
    expect(other.output_text).toBe('u:a|a:u:a|u:c')
    expect((await say('d', two.id)).output_text).toBe(`u:a|a:u:a|u:b|a:${two.output_text}|u:d`)
    expect((await threadIds()).length).toBe(1)
    await expect(say('x', 'resp_none')).rejects.toMatchObject({ status: 404, code: 'response_not_found' })
  })

  test('goes on by the items that a client refers to', async () => {
    const { openai } = await served({ counting })
    const one = await openai.responses.create({ model: 'counting', input: 'a' })
    const two = await openai.responses.create({
      model: 'counting',
      input: [
        { role: 'user', content: 'a' },
        { type: 'item_reference', id: one.output[0]!.id! },
        { role: 'user', content: 'b' },
      ],
    })
    expect(two.output_text).toBe('u:a|a:u:a|u:b')
  })

  test('is made, read, changed and deleted', async () => {
    const { openai } = await served({ counting })
    const { id } = await openai.conversations.create({ metadata: { topic: 'x' } })
    const one = await openai.responses.create({ model: 'counting', input: 'a', conversation: id })
    expect(one.conversation).toEqual({ id })
    const two = await openai.responses.create({ model: 'counting', input: 'b', conversation: { id } })
    expect(two.output_text).toBe('u:a|a:u:a|u:b')
    const items: Json[] = []
    for await (const item of openai.conversations.items.list(id, { order: 'asc', limit: 3 })) items.push(item)
    expect(items.map(({ role, content }) => `${role}: ${content[0].text}`)).toEqual([
      'user: a',
      'assistant: u:a',
      'user: b',
      'assistant: u:a|a:u:a|u:b',
    ])
    expect((await openai.conversations.update(id, { metadata: { topic: 'y' } })).metadata).toMatchObject({
      topic: 'y',
    })
    await openai.conversations.delete(id)
    await expect(openai.conversations.retrieve(id)).rejects.toMatchObject({ status: 404 })
    await expect(
      openai.responses.create({ model: 'counting', input: 'a', conversation: id }),
    ).rejects.toMatchObject({ status: 404, code: 'conversation_not_found' })
  })

  test('takes items, which the next response reads first, by both clients', async () => {
    const { baseURL, request } = await served({ counting })
    for (const [, openai] of clientsOf(baseURL)) {
      const items = [
        { type: 'message', role: 'user', content: 'a' },
        { type: 'message', role: 'assistant', content: 'b' },
      ] as const
      const { id } = await openai.conversations.create({ items: [...items] })
      const call = { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' } as const
      const added = await openai.conversations.items.create(id, { items: [call, items[0]] })
      expect(added.data).toMatchObject([{ ...call, id: expect.any(String) }, { role: 'user' }])
      const [kept, last] = added.data as Json[]
      expect(await openai.conversations.items.retrieve(kept.id, { conversation_id: id })).toEqual(kept)
      await openai.conversations.items.delete(kept.id, { conversation_id: id })
      await openai.conversations.items.delete(last.id, { conversation_id: id })
      await expect(openai.conversations.items.delete(last.id, { conversation_id: id })).rejects.toMatchObject(
        { status: 404, code: 'item_not_found' },
      )
      const answer = await openai.responses.create({ model: 'counting', input: 'c', conversation: id })
      expect(answer.output_text).toBe('u:a|a:b|u:c')
      const listed: Json[] = []
      for await (const item of openai.conversations.items.list(id, { order: 'asc' })) listed.push(item)
      expect(listed.map(({ content }) => content[0].text)).toEqual(['a', 'b', 'c', 'u:a|a:b|u:c'])
      const next = await openai.responses.create({ model: 'counting', input: 'd', conversation: id })
      expect(next.output_text).toBe('u:a|a:b|u:c|a:u:a|a:b|u:c|u:d')
      const input: Json[] = []
      for await (const item of openai.responses.inputItems.list(answer.id, { order: 'asc' })) input.push(item)
      expect(input.map(({ role, content }) => `${role}: ${content[0].text}`)).toEqual([
        'user: a',
        'assistant: b',
        'user: c',
      ])
    }
    const count = await request('POST', '/responses/input_tokens', {
      model: 'counting',
      input: 'a'.repeat(40),
    })
    expect(count.body).toEqual({ object: 'response.input_tokens', input_tokens: 10 })
  })

  test('an item of a conversation is read by one response, however many are sent at once', async () => {
    const { baseURL } = await served({ counting })
    const [[, openai]] = clientsOf(baseURL) as readonly Json[]
    const { id } = await openai.conversations.create({
      items: [{ type: 'message', role: 'user', content: 'once' }],
    })
    const ask = (input: string) => openai.responses.create({ model: 'counting', input, conversation: id })
    await Promise.all(['b', 'c', 'd'].map(ask))
    const last = await ask('e')
    expect((last.output_text as string).split('|').filter((said) => said === 'u:once')).toHaveLength(1)
  })

  test('takes along what was said to another model', async () => {
    const { openai } = await served({ counting, assistant })
    const one = await openai.responses.create({ model: 'assistant', input: 'a' })
    const two = await openai.responses.create({ model: 'counting', input: 'b', previous_response_id: one.id })
    expect(two.output_text).toBe('u:a|a:You said: a|u:b')
  })

  test('has the instructions of its newest response', async () => {
    const { openai } = await served({ counting })
    const one = await openai.responses.create({ model: 'counting', input: 'a', instructions: 'one' })
    const two = await openai.responses.create({
      model: 'counting',
      input: 'b',
      instructions: 'two',
      previous_response_id: one.id,
    })
    expect(two.output_text).toBe('s:two|u:a|a:s:one|u:a|u:b')
  })

  test.each(['counting', 'graph', 'other'])(
    'has no instructions of an earlier one, with %s',
    async (model) => {
      const graph = langgraph(
        chat((messages) => ({ text: messages.map((one) => `${one.getType()[0]}:${one.text}`).join('|') })),
      )
      const { openai } = await served({ counting, other: counting, graph })
      const first = model === 'other' ? 'counting' : model
      const one = await openai.responses.create({ model: first, input: 'a', instructions: 'one' })
      const two = await openai.responses.create({ model, input: 'b', previous_response_id: one.id })
      expect(two.output_text.replaceAll('h:', 'u:')).toBe('u:a|a:s:one|u:a|u:b')
      const three = await openai.responses.create({ model, input: 'c', previous_response_id: two.id })
      expect(three.output_text.startsWith(two.output_text.slice(0, 3))).toBe(true)
    },
  )
})

test('a call of a tool of the client ends the response, and its result goes on with it', async () => {
  const { baseURL } = await served({ assistant })
  for (const [, openai] of clientsOf(baseURL)) {
    const first = await openai.responses
      .stream({ model: 'assistant', input: 'Weather?', tools: [tool] })
      .finalResponse()
    expect(first.output).toMatchObject([
      {
        type: 'function_call',
        call_id: 'call_weather',
        name: 'get_weather',
        arguments: '{"location":"Oslo"}',
      },
    ])
    const second = await openai.responses.create({
      model: 'assistant',
      previous_response_id: first.id,
      tools: [tool],
      input: [{ type: 'function_call_output', call_id: 'call_weather', output: 'rain' }],
    })
    expect(second.output_text).toBe('The weather: rain')
  }
})

test('a model that uses an id again in each step does not keep the client’s tools waiting', async () => {
  const again = defineAgent({
    async run({ messages, message }) {
      const results = messages.filter(({ role }) => role === 'tool')
      const answer = message()
      const call = { id: 'functions.get_weather:0', name: 'get_weather', args: { location: 'Oslo' } }
      if (results.length < 2) await answer.toolCall(call)
      else await answer.text(results.map(textOf).join(' and '))
      await answer.end({ reason: 'stop' })
    },
  })
  const { openai } = await served({ again })
  const about = { model: 'again', tools: [tool] }
  let response = await openai.responses.create({ ...about, input: 'Weather?' })
  for (const output of ['rain', 'sun']) {
    const call = response.output.find(({ type }) => type === 'function_call') as
      | { call_id: string }
      | undefined
    expect(call, output).toMatchObject({
      call_id: 'functions.get_weather:0',
      arguments: '{"location":"Oslo"}',
    })
    const input = [{ type: 'function_call_output' as const, call_id: call!.call_id, output }]
    response = await openai.responses.create({ ...about, input, previous_response_id: response.id })
  }
  expect(response.output_text).toBe('rain and sun')
})

describe('questions', () => {
  test('are function calls', async () => {
    const { openai } = await served({ asking })
    const first = await openai.responses.create({ model: 'asking', input: 'Go' })
    const [call] = first.output
    expect(call).toMatchObject({
      type: 'function_call',
      name: 'interrupt',
      arguments: '{"question":"Which city?"}',
    })
    if (call?.type !== 'function_call') throw new Error('There is no call.')
    const answer = { type: 'function_call_output', call_id: call.call_id, output: 'Oslo' } as const
    const second = await openai.responses.create({
      model: 'asking',
      input: [answer],
      previous_response_id: first.id,
    })
    expect(second.output_text).toBe('You want "Oslo".')
    await expect(openai.responses.create({ model: 'asking', input: [answer] })).rejects.toMatchObject({
      status: 400,
    })
  })

  test('about actions are requests for approval of a client that names this server', async () => {
    const { openai } = await served({ supervised: langgraph(supervised()) })
    for (const approve of [true, false]) {
      const tools = [{ type: 'mcp', server_label: 'agentwire', server_url: 'http://127.0.0.1/none' }] as const
      const first = await openai.responses.create({ model: 'supervised', input: 'Add', tools: [...tools] })
      const [asked] = first.output
      expect(asked).toMatchObject({
        type: 'mcp_approval_request',
        name: 'add',
        arguments: '{"a":2,"b":3}',
        server_label: 'agentwire',
      })
      const second = await openai.responses.create({
        model: 'supervised',
        previous_response_id: first.id,
        input: [{ type: 'mcp_approval_response', approval_request_id: asked!.id!, approve }],
      })
      expect(second.output_text).toBe('Done.')
    }
  })
})

describe('a stored response', () => {
  const half = () => {
    const { opened, open } = gate()
    const agent = defineAgent({
      async run({ message, signal }) {
        const answer = message()
        await answer.text('half ')
        await Promise.race([opened, new Promise((resolve) => signal.addEventListener('abort', resolve))])
        await answer.text('whole')
        await answer.end()
      },
    })
    return { agent, open }
  }

  test('in the background is read later, as often as wanted, byte for byte as it was sent', async () => {
    const { agent, open } = half()
    const { openai, request } = await served({ slow: agent })
    const begun = await openai.responses.create({ model: 'slow', input: 'Hi', background: true })
    expect(begun.status).toBe('queued')
    expect((await openai.responses.retrieve(begun.id)).status).toMatch(/queued|in_progress/)
    const live = request('GET', `/responses/${begun.id}?stream=true`)
    open()
    const { text } = await live
    expect((await openai.responses.retrieve(begun.id)).output_text).toBe('half whole')
    const again = await request('GET', `/responses/${begun.id}?stream=true`)
    expect(withoutComments(again.text)).toBe(withoutComments(text))
    const events = eventsOf(text)
    const rest = await openai.responses.retrieve(begun.id, { stream: true, starting_after: 4 })
    const numbers: number[] = []
    for await (const { sequence_number } of rest) numbers.push(sequence_number)
    expect(numbers).toEqual(events.slice(5).map(({ sequence_number }) => sequence_number))
    const whole = openai.responses.stream({ response_id: begun.id, starting_after: 4 })
    expect((await whole.finalResponse()).output_text).toBe('half whole')
  })

  test('is cancelled and deleted', async () => {
    const { agent } = half()
    const { openai, threadIds } = await served({ slow: agent })
    const begun = await openai.responses.create({ model: 'slow', input: 'Hi', background: true })
    expect((await openai.responses.cancel(begun.id)).status).toBe('cancelled')
    expect((await openai.responses.cancel(begun.id)).status).toBe('cancelled')
    await openai.responses.delete(begun.id)
    await expect(openai.responses.retrieve(begun.id)).rejects.toMatchObject({ status: 404 })
    expect(await threadIds()).toEqual([])
  })

  test('is cancelled where its client leaves, unless it is in the background', async () => {
    const { agent } = half()
    const { openai, server, threadIds } = await served({ slow: agent })
    const stream = await openai.responses.create({ model: 'slow', input: 'Hi', stream: true })
    let id = ''
    for await (const event of stream) {
      if (event.type === 'response.created') id = event.response.id
      if (event.type === 'response.output_text.delta') break
    }
    const [threadId] = await threadIds()
    await expect
      .poll(async () => (await server.engine.findThread({ threadId: threadId! }))?.status)
      .toBe('idle')
    expect((await openai.responses.retrieve(id)).status).toBe('cancelled')
  })
})

test('a response that is not stored leaves nothing', async () => {
  const { openai, threadIds } = await served({ assistant })
  const { id } = await openai.responses.create({ model: 'assistant', input: 'Hi', store: false })
  expect(await threadIds()).toEqual([])
  await expect(openai.responses.retrieve(id)).rejects.toMatchObject({ status: 404 })
})

test('a failure is in the response', async () => {
  const { openai } = await served({ broken: langgraph(failing()) })
  const whole = await openai.responses.create({ model: 'broken', input: 'Hi' })
  expect(whole).toMatchObject({ status: 'failed', error: { code: 'server_error' } })
  const final = await openai.responses.stream({ model: 'broken', input: 'Hi' }).finalResponse()
  expect(final).toMatchObject({ status: 'failed' })
})

test('what every stream sends is sent again byte for byte', async () => {
  const agents = {
    assistant,
    asking,
    calculator: langgraph(calculator()),
    chat: langgraph(chat()),
    supervised: langgraph(supervised()),
  }
  const { request } = await served(agents)
  for (const model of Object.keys(agents)) {
    const { text } = await request('POST', '/responses', { model, input: 'Hi', stream: true, tools: [tool] })
    const { id } = eventsOf(text)[0].response
    const again = await request('GET', `/responses/${id}?stream=true`)
    expect(withoutComments(again.text)).toBe(withoutComments(text))
  }
})
