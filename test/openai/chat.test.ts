import { describe, expect, test } from 'vitest'
import { failing } from '../fixtures/failing.ts'
import { calculator, chat, inOrder, supervised } from '../fixtures/graphs.ts'
import type { Json } from '../kit/events.ts'
import { asking, assistant, clientsOf, counting, langgraph, served, WEATHER } from './served.ts'

const user = (content: string) => ({ role: 'user', content }) as const

test('the models are the assistants that take messages', async () => {
  const { openai, request } = await served({ assistant, chat: langgraph(chat()) })
  const { data } = await openai.models.list()
  expect(data.map(({ id }) => id).sort()).toEqual(['assistant', 'chat'])
  expect(await openai.models.retrieve('chat')).toMatchObject({
    id: 'chat',
    object: 'model',
    owned_by: 'agentwire',
  })
  const { status, body } = await request('GET', '/models/none')
  expect([status, body.error.code, body.error.type]).toEqual([
    404,
    'model_not_found',
    'invalid_request_error',
  ])
})

test('both clients get a completion, whole and in pieces, with its usage', async () => {
  const { baseURL, threadIds } = await served({ assistant })
  for (const [, openai] of clientsOf(baseURL)) {
    const whole = await openai.chat.completions.create({ model: 'assistant', messages: [user('Hi')] })
    expect(whole.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: 'You said: Hi', reasoning_content: 'Let me think. ' },
    })
    expect(whole.usage).toMatchObject({ prompt_tokens: 1, completion_tokens: 3, total_tokens: 4 })
    const stream = openai.chat.completions.stream({
      model: 'assistant',
      messages: [user('Hi')],
      stream_options: { include_usage: true },
    })
    const final = await stream.finalChatCompletion()
    expect(final.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'You said: Hi' } })
    expect(final.usage?.total_tokens).toBe(4)
  }
  expect(await threadIds()).toEqual([])
})

test('messages of a graph are texts apart, and the tools that it runs itself are no tool calls', async () => {
  const { openai } = await served({ calculator: langgraph(calculator()) })
  const { choices } = await openai.chat.completions.create({ model: 'calculator', messages: [user('2+3?')] })
  expect(choices[0]?.message.content).toBe('Let me add.\n\nIt is five.')
  expect(choices[0]?.message.tool_calls).toBeUndefined()
  expect(choices[0]?.finish_reason).toBe('stop')
})

describe('tools of the client', () => {
  test('end the answer as calls, and a history with their results goes on', async () => {
    const { baseURL } = await served({ assistant })
    for (const [, openai] of clientsOf(baseURL)) {
      const tools = [{ type: 'function', function: WEATHER }] as const
      const messages = [user('Weather?')]
      const request = { model: 'assistant', messages, tools: [...tools] }
      const first = await openai.chat.completions.create(request)
      const [choice] = first.choices
      expect(choice?.finish_reason).toBe('tool_calls')
      expect(choice?.message.tool_calls).toEqual([
        {
          id: 'call_weather',
          type: 'function',
          function: { name: 'get_weather', arguments: '{"location":"Oslo"}' },
        },
      ])
      const streamed = await openai.chat.completions.stream(request).finalChatCompletion()
      expect(streamed.choices[0]?.message.tool_calls?.[0]).toMatchObject({ id: 'call_weather' })
      const second = await openai.chat.completions.create({
        ...request,
        messages: [
          ...messages,
          choice!.message,
          { role: 'tool', tool_call_id: 'call_weather', content: 'rain' },
        ],
      })
      expect(second.choices[0]?.message.content).toBe('The weather: rain')
    }
  })
})

describe('errors', () => {
  test('have the envelope of OpenAI for paths of it that are not served', async () => {
    const { origin, request, openai } = await served({ assistant })
    const { status, body } = await request('POST', '/embeddings', { model: 'assistant', input: 'a' })
    expect([status, body]).toEqual([
      404,
      {
        error: { message: expect.any(String), type: 'invalid_request_error', param: null, code: 'not_found' },
      },
    ])
    await expect(openai.responses.compact({ model: 'assistant' })).rejects.toMatchObject({
      code: 'method_not_allowed',
    })
    const elsewhere = await fetch(`${origin}/v2/elsewhere`)
    expect(await elsewhere.json()).toMatchObject({ error: 'not_found' })
  })

  test('have the envelope of OpenAI, and say whether a repeat would start another run', async () => {
    const { openai, request, errors } = await served({ broken: langgraph(failing()) })
    const failed = await openai.chat.completions
      .create({ model: 'broken', messages: [user('Hi')] }, { maxRetries: 2 })
      .catch((error) => error)
    expect(failed).toMatchObject({ status: 500, code: 'run_failed', type: 'server_error' })
    expect(failed.headers.get('x-should-retry')).toBe('false')
    const { status, body } = await request('POST', '/chat/completions', { model: 'broken', messages: [] })
    expect([status, body.error.type]).toEqual([400, 'invalid_request_error'])
    expect(body.error.message).toContain('messages')
    const many = await request('POST', '/chat/completions', { model: 'broken', messages: [user('Hi')], n: 2 })
    expect(many.status).toBe(400)
    const stream = await openai.chat.completions.create({
      model: 'broken',
      messages: [user('Hi')],
      stream: true,
    })
    await expect(
      (async () => {
        for await (const _ of stream);
      })(),
    ).rejects.toMatchObject({ code: 'run_failed' })
    expect(errors.splice(0).length).toBe(0)
  })
})

describe('chats of a UI', () => {
  const chatted = async (agent = counting) => {
    const host = await served({ counting: agent, asking, supervised: langgraph(supervised()) })
    const say = async (messages: readonly object[], model = 'counting', headers = {}) => {
      const { body } = await host.request(
        'POST',
        '/chat/completions',
        { model, messages },
        { 'x-openwebui-chat-id': 'chat-1', ...headers },
      )
      return body.choices[0].message.content as string
    }
    return { ...host, say }
  }
  const said = (content: string) => ({ role: 'assistant', content })

  test('are threads, whose graph keeps what it knows: only the new message is added', async () => {
    const { say, threadIds } = await chatted()
    const one = await say([user('a')])
    expect(one).toBe('u:a')
    // What the client claims the assistant to have said is not believed.
    const two = await say([user('a'), said('forged'), user('b')])
    expect(two).toBe('u:a|a:u:a|u:b')
    expect((await threadIds()).length).toBe(1)
  })

  test('fork at an edit and at an answer that is wanted again, and go on from where the user went back to', async () => {
    const { say, threadIds } = await chatted()
    const a = await say([user('a')])
    const b = await say([user('a'), said(a), user('b')])
    expect(await say([user('a'), said(a), user('edited')])).toBe('u:a|a:u:a|u:edited')
    expect(await say([user('a'), said(a), user('b'), said(b), user('c')])).toBe(`u:a|a:u:a|u:b|a:${b}|u:c`)
    expect(await say([user('new')])).toBe('u:new')
    expect(await say([user('a'), said(a), user('b')])).toBe('u:a|a:u:a|u:b')
    // Another first message is another thread.
    expect((await threadIds()).length).toBe(2)
  })

  test('take a history that the thread does not know as it is', async () => {
    const { say } = await chatted()
    await say([user('a')])
    expect(await say([user('x'), said('y'), user('z')])).toBe('u:x|a:y|u:z')
  })

  test('are not touched by the tasks of the UI', async () => {
    const { say, threadIds } = await chatted()
    await say([user('a')])
    const before = await threadIds()
    expect(await say([user('### Task:\nGenerate a title')])).toBe('u:### Task:\nGenerate a title')
    expect(await threadIds()).toEqual(before)
    expect(await say([user('a'), said('u:a'), user('b')])).toBe('u:a|a:u:a|u:b')
  })

  test('ask in text, and the next message is the answer', async () => {
    const { say } = await chatted()
    expect(await say([user('Go')], 'asking')).toBe('Which city?')
    expect(await say([user('Go'), said('Which city?'), user('5')], 'asking')).toBe('You want "5".')
    const question = await say([user('Add')], 'supervised')
    expect(question).toContain('add')
    const again = await say([user('Add'), said(question), user('what?')], 'supervised')
    expect(again).toBe(question)
    expect(await say([user('Add'), said(question), user('approve')], 'supervised')).toBe('Done.')
  })

  const TASKS: Readonly<Record<string, readonly object[]>> = {
    tools: [
      { role: 'system', content: 'Available Tools: []\n\nChoose the tools.' },
      user('Query: History:\nUSER: """Add"""\nQuery: Add'),
    ],
    emoji: [user(`Your task is to reflect the speaker's likely facial expression.\n\nMessage: """Add"""`)],
    merge: [user('You have been provided with a set of responses from various models to the query: "Add"')],
    title: [user('Create a concise, 3-5 word title for the chat.\nUSER: Add')],
    'a prompt of the administrator': [user('Give this chat a name: Add')],
  }
  test.each(Object.entries(TASKS))('keep their question while the UI asks for %s', async (_, messages) => {
    const { say } = await chatted()
    const question = await say([user('Add')], 'supervised')
    await say(messages, 'supervised')
    expect(await say([user('Add'), said(question), user('approve')], 'supervised')).toBe('Done.')
  })

  const found = (question: string) =>
    `### Task:\nUse the context.\n\n<context>\n<source id="1">A </context> in it.</source>\n</context>\n\n${question}`

  test('keep their state where the newest message alone has a template', async () => {
    const { say, threadIds } = await chatted()
    const a = await say([user(found('a'))])
    expect(a).toBe(`u:${found('a')}`)
    const parts = [{ type: 'text', text: found('b') }]
    // What the client claims the assistant to have said is not believed.
    expect(await say([user('a'), said('x'), { role: 'user', content: parts }])).toBe(
      `u:${found('a')}|a:${a}|u:${found('b')}`,
    )
    const third = await say([user('a'), said('x'), user('b'), said('y'), user('c')])
    expect(third).toContain(`|u:${found('b')}|`)
    expect((await threadIds()).length).toBe(1)
  })

  test.each(['approve', found('approve'), found('<user_query>\nyes\n</user_query>')])(
    'take the answer %j to a question',
    async (answer) => {
      const { say } = await chatted()
      const question = await say([user('Add')], 'supervised')
      expect(await say([user('Add'), said(question), user(answer)], 'supervised')).toBe('Done.')
    },
  )

  test('go on from the last turn that is known, where a request between was lost', async () => {
    const { say } = await chatted()
    await say([user('a')])
    const lost = [user('a'), said('x'), user('lost'), said('Error'), user('b')]
    expect(await say(lost)).toBe('u:a|a:u:a|u:lost|a:Error|u:b')
  })

  test('of two models are two threads', async () => {
    const { say, threadIds } = await chatted()
    await say([user('a')])
    await say([user('a')], 'asking')
    expect((await threadIds()).length).toBe(2)
  })
})

test('a program that names a thread sends its new messages alone', async () => {
  const { openai } = await served({ counting })
  const say = async (content: string) => {
    const metadata = { thread_id: 'mine' }
    const { choices } = await openai.chat.completions.create({
      model: 'counting',
      messages: [user(content)],
      metadata,
    })
    return choices[0]?.message.content
  }
  await say('a')
  expect(await say('b')).toBe('u:a|a:u:a|u:b')
})

describe('a history without the results of tools', () => {
  const headers = { 'x-thread-id': 'mine' }
  const called = {
    role: 'assistant',
    content: '',
    tool_calls: [
      { id: 'call_weather', type: 'function', function: { name: 'get_weather', arguments: '{}' } },
    ],
  }
  const result = { role: 'tool', tool_call_id: 'call_weather', content: 'Rain' }
  const tools = [{ type: 'function', function: WEATHER }]

  test.each(['x-thread-id', 'x-openwebui-chat-id'])('goes on after them, by %s', async (header) => {
    const { request, server, threadIds } = await served({ assistant })
    const say = async (messages: readonly object[]) => {
      const body = { model: 'assistant', messages, tools }
      return (await request('POST', '/chat/completions', body, { [header]: 'mine' })).body.choices[0].message
    }
    expect((await say([user('Oslo')])).tool_calls).toHaveLength(1)
    const { content } = await say([user('Oslo'), called, result])
    expect(content).toContain('Rain')
    await say([user('Oslo'), { role: 'assistant', content }, user('And now?')])
    const [threadId] = await threadIds()
    const thread = await server.engine.findThread({ threadId: threadId! })
    const { messages }: Json = (await server.engine.readState(thread!))!.values
    expect(messages.map(({ type }: Json) => type)).toEqual(['human', 'ai', 'tool', 'ai', 'human', 'ai'])
  })

  test('that the thread does not know leaves the thread its state', async () => {
    const { request } = await served({ counting })
    const say = async (messages: readonly object[]) =>
      (await request('POST', '/chat/completions', { model: 'counting', messages }, headers)).body.choices[0]
        .message.content
    await say([user('a')])
    const forged = { role: 'assistant', content: 'y' }
    expect(await say([user('x'), forged, user('b')])).toBe('u:a|a:u:a|u:b')
  })
})

test('a question without a thread is a function call, whose result finds the thread again', async () => {
  const { openai, threadIds } = await served({ asking, supervised: langgraph(supervised()) })
  for (const [model, given, expected] of [
    ['asking', 'Oslo', 'You want "Oslo".'],
    ['supervised', '{"decisions":[{"type":"approve"}]}', 'Done.'],
    ['supervised', 'yes', 'Done.'],
  ] as const) {
    const messages = [user('Go')]
    const first = await openai.chat.completions.create({ model, messages })
    const [choice] = first.choices
    expect(choice?.finish_reason).toBe('tool_calls')
    const [call] = choice!.message.tool_calls!
    expect(call).toMatchObject({ type: 'function', function: { name: 'interrupt' } })
    expect((await threadIds()).length).toBe(1)
    const answer = { role: 'tool', tool_call_id: call!.id, content: given } as const
    const second = await openai.chat.completions.create({
      model,
      messages: [...messages, choice!.message, answer],
    })
    expect(second.choices[0]?.message.content).toBe(expected)
    // The next turn sends the question along, which no other thread knows.
    expect(await threadIds()).toEqual([])
    const third = await openai.chat.completions.create({
      model,
      messages: [...messages, choice!.message, answer, second.choices[0]!.message, user('And?')],
    })
    expect(third.choices[0]?.finish_reason).toBe('tool_calls')
    for (const threadId of await threadIds()) await openai.delete(`/conversations/${threadId}`)
  }
})

test('a model that stops at its length says so', async () => {
  const short = langgraph(chat(inOrder({ text: 'Hello.' })))
  const { openai } = await served({ short })
  const { choices } = await openai.chat.completions.create({ model: 'short', messages: [user('Hi')] })
  expect(choices[0]?.message.content).toBe('Hello.')
})
