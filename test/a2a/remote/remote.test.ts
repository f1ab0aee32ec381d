import { describe, expect, test } from 'vitest'
import { AgentRejection } from '../../../src/agents/errors.ts'
import { a2aAgent } from '../../../src/faces/a2a/remote/agent.ts'
import { A2ARemoteError } from '../../../src/faces/a2a/remote/remote-error.ts'
import type { AgentEvent } from '../../../src/messages/thread-events/index.ts'
import { answers, input, messagesIn, newThread, run, stateOf, taskOf } from '../../agents/run.ts'
import { gate } from '../../kit/wait.ts'
import { type RemoteOptions, type Script, startRemote, type Version } from './server.ts'

const say = (content: unknown) => input({ messages: [{ role: 'user', content }] })

const asked = (events: readonly AgentEvent[]) =>
  events.flatMap(({ method, data }) =>
    method === 'input.requested' ? [data as { interrupt_id: string; payload: unknown }] : [],
  )

const deltas = (events: readonly AgentEvent[]) =>
  events.flatMap(({ method, data }) => {
    const { event, delta } = data as { event?: string; delta?: { text?: string } }
    return method === 'messages' && event === 'content-block-delta' ? [delta?.text] : []
  })

const VERSIONS: readonly Version[] = ['1.0', '0.3']

describe.each(VERSIONS)('a remote agent of A2A %s', (version) => {
  const start = (script: Script, options?: RemoteOptions) => startRemote(version, script, options)

  /** The messages of a thread after one run that says `go`. */
  async function answered(script: Script, options?: RemoteOptions) {
    const { url, requests } = await start(script, options)
    const agent = a2aAgent({ url })
    const thread = newThread()
    const events = await run(agent, thread, say('go'))
    const { values } = await stateOf(agent, thread)
    const messages = messagesIn(values).filter(({ type }) => type === 'ai')
    return { events, values, requests, messages, contents: messages.map(({ content }) => content) }
  }

  test('its artifact chunks are one streamed message, and its context goes on with the next turn', async () => {
    const remote = await start(function* ({ text, task, status, artifact }) {
      yield task()
      yield status('working')
      yield artifact('a', 'You said: ')
      yield artifact('a', text, { append: true, lastChunk: true })
      yield status('completed')
    })
    const agent = a2aAgent({ url: remote.url })
    const thread = newThread()
    const events = await run(agent, thread, say('hello'))
    expect(deltas(events)).toEqual(['You said: ', 'hello'])
    const { values } = await stateOf(agent, thread)
    expect(messagesIn(values).map(({ type, content }) => [type, content])).toEqual([
      ['human', 'hello'],
      ['ai', 'You said: hello'],
    ])
    const { contextId, taskId } = values.a2a as Record<string, unknown>
    expect(values.a2a).toEqual({
      contextId,
      taskId,
      state: 'completed',
      messageId: expect.any(String),
      sent: expect.any(String),
    })
    await run(agent, thread, say('again'))
    const sent = remote.requests.map(({ params }) => params.message)
    expect(sent).toHaveLength(2)
    expect(sent[1]).toMatchObject({ contextId })
    expect(sent[1].taskId).toBeUndefined()
    expect(sent[1].parts).toHaveLength(1)
    expect(remote.headers.map((headers) => headers['a2a-version'])).toEqual(['1.0', version, version])
  })

  test('texts that its statuses give cumulatively, and its artifact repeats, are said once', async () => {
    const { contents, events } = await answered(function* ({ task, status, artifact }) {
      yield task()
      for (const text of ['It', 'It is', 'It is sunny', 'It is sunny']) yield status('working', text)
      yield artifact('a', 'It is sunny in Oslo.', { name: 'Assistant Response', lastChunk: true })
      yield status('completed')
    })
    expect(deltas(events)).toEqual(['It is', ' sunny', ' in Oslo.'])
    expect(contents).toEqual(['It is sunny in Oslo.'])
  })

  test('texts of two artifacts and of the end are paragraphs of the one message, and those of its work are reasoning', async () => {
    const { contents } = await answered(function* ({ task, status, artifact }) {
      yield task()
      yield status('working', 'Looking it up.')
      yield status('working', 'Writing.')
      yield artifact('a', 'one')
      yield artifact('b', 'two', { lastChunk: true })
      yield artifact('a', ' more', { append: true, lastChunk: true })
      yield status('completed', 'Done.')
    })
    expect(contents).toEqual([
      [
        { type: 'reasoning', reasoning: 'Looking it up.\n\nWriting.' },
        { type: 'text', text: 'one more\n\ntwo\n\nDone.' },
      ],
    ])
  })

  test('a text of its work that the one artifact begins with is said once', async () => {
    const { contents } = await answered(function* ({ task, status, artifact }) {
      yield task()
      yield status('working', 'It is sunny.')
      yield artifact('a', 'It is ')
      yield artifact('a', 'sunny.', { append: true, lastChunk: true })
      yield status('completed')
    })
    expect(contents).toEqual(['It is sunny.'])
  })

  test('of statuses alone the last one is the answer, or the question', async () => {
    const { contents } = await answered(function* ({ task, status }) {
      yield task()
      yield status('working', 'Looking it up.')
      yield status('completed', 'It is sunny.')
    })
    expect(contents).toEqual([
      [
        { type: 'reasoning', reasoning: 'Looking it up.' },
        { type: 'text', text: 'It is sunny.' },
      ],
    ])
    const asking = await answered(function* ({ task, status }) {
      yield task()
      yield status('working', 'Looking it up.')
      yield status('input-required', 'Which city?')
    })
    expect(asked(asking.events).map(({ payload }) => payload)).toEqual(['Which city?'])
    expect(asking.contents).toEqual([[{ type: 'reasoning', reasoning: 'Looking it up.' }]])
  })

  test('an answer in the last status alone is the message', async () => {
    const { contents } = await answered(function* ({ task, status }) {
      yield task()
      yield status('completed', 'All is well.')
    })
    expect(contents).toEqual(['All is well.'])
  })

  test('a bare message is the message, with its data and files', async () => {
    const { contents, values } = await answered(function* ({ bare }) {
      yield bare({ kind: 'text', text: 'Here:' }, { kind: 'data', data: { degrees: 21 } })
    })
    expect(contents).toEqual([
      [
        { type: 'text', text: 'Here:' },
        { type: 'non_standard', value: { type: 'data', data: { degrees: 21 } } },
      ],
    ])
    expect(values.a2a).toMatchObject({ state: 'completed' })
    expect(values.a2a).not.toHaveProperty('taskId')
  })

  test('files and data of artifacts are content blocks, and those of the user are parts', async () => {
    const png = { kind: 'bytes', bytes: 'aGk=', name: 'a.png', mediaType: 'image/png' } as const
    const remote = await start(function* ({ task, status, artifact }) {
      yield task()
      yield artifact('a', [
        { kind: 'text', text: 'See' },
        png,
        { kind: 'uri', uri: 'https://example.com/b.pdf', name: 'b.pdf', mediaType: 'application/pdf' },
        { kind: 'data', data: { a: [1] } },
      ])
      yield status('completed')
    })
    const agent = a2aAgent({ url: remote.url })
    const thread = newThread()
    const given = [
      { type: 'text', text: 'look' },
      { type: 'image', data: 'aGk=', mimeType: 'image/png', metadata: { filename: 'a.png' } },
      { type: 'file', url: 'https://example.com/c.pdf', mimeType: 'application/pdf' },
      { type: 'non_standard', value: { type: 'data', data: { b: 2 } } },
    ]
    await run(agent, thread, input({ messages: [{ role: 'user', content: given }], city: 'Oslo' }))
    const [{ params }] = remote.requests
    const parts =
      version === '1.0'
        ? [
            { text: 'look' },
            { raw: 'aGk=', filename: 'a.png', mediaType: 'image/png' },
            { url: 'https://example.com/c.pdf', mediaType: 'application/pdf' },
            { data: { b: 2 } },
            { data: { city: 'Oslo' } },
          ]
        : [
            { kind: 'text', text: 'look' },
            { kind: 'file', file: { bytes: 'aGk=', name: 'a.png', mimeType: 'image/png' } },
            { kind: 'file', file: { uri: 'https://example.com/c.pdf', mimeType: 'application/pdf' } },
            { kind: 'data', data: { b: 2 } },
            { kind: 'data', data: { city: 'Oslo' } },
          ]
    expect(params.message.parts).toEqual(parts)
    const { values } = await stateOf(agent, thread)
    expect(messagesIn(values).at(-1)!.content).toMatchObject([
      { type: 'text', text: 'See' },
      { type: 'image', data: 'aGk=', mime_type: 'image/png', metadata: { filename: 'a.png' } },
      { type: 'file', url: 'https://example.com/b.pdf', mime_type: 'application/pdf' },
      { type: 'non_standard', value: { type: 'data', data: { a: [1] } } },
    ])
  })

  test('a question in words is an interrupt, and its answer goes back as text to the same task', async () => {
    const remote = await start(function* ({ text, isAnswer, task, status, artifact }) {
      yield task(isAnswer ? 'working' : 'submitted')
      if (!isAnswer) {
        yield artifact('a', 'First.', { lastChunk: true })
        yield status('input-required', 'Which city?')
        return
      }
      yield artifact('b', `Sunny in ${text}`, { lastChunk: true })
      yield status('completed')
    })
    const agent = a2aAgent({ url: remote.url })
    const thread = newThread()
    const events = await run(agent, thread, say('weather'))
    expect(asked(events).map(({ payload }) => payload)).toEqual(['Which city?'])
    const { taskId } = (await stateOf(agent, thread)).values.a2a as { taskId: string }
    const second = await run(agent, thread, answers({ [asked(events)[0]!.interrupt_id]: 'Oslo' }))
    expect(deltas(second)).toEqual(['Sunny in Oslo'])
    const { values } = await stateOf(agent, thread)
    expect(messagesIn(values).map(({ content }) => content)).toEqual(['weather', 'First.', 'Sunny in Oslo'])
    expect(remote.requests).toHaveLength(2)
    expect(remote.requests[1].params.message).toMatchObject({ taskId, parts: [{ text: 'Oslo' }] })
    expect(values.a2a).toMatchObject({ state: 'completed', taskId })
  })

  test('another message of the user answers a task that waits', async () => {
    const remote = await start(function* ({ text, isAnswer, task, status }) {
      yield task()
      yield isAnswer ? status('completed', `Sunny in ${text}`) : status('input-required', 'Which city?')
    })
    const agent = a2aAgent({ url: remote.url })
    const thread = newThread()
    await run(agent, thread, say('weather'))
    await run(agent, thread, say('Bergen'))
    const { values } = await stateOf(agent, thread)
    expect(messagesIn(values).map(({ content }) => content)).toEqual(['weather', 'Bergen', 'Sunny in Bergen'])
    expect(remote.requests[1].params.message.parts).toMatchObject([{ text: 'Bergen' }])
  })

  test('a message of the user to a task that has ended meanwhile begins another one', async () => {
    const remote = await start(function* ({ text, task, status }) {
      yield task()
      yield text === 'weather' ? status('input-required', 'Which city?') : status('completed', `So: ${text}`)
    })
    const agent = a2aAgent({ url: remote.url })
    const thread = newThread()
    await run(agent, thread, say('weather'))
    const { taskId, contextId } = (await stateOf(agent, thread)).values.a2a as Record<string, string>
    await a2aAgent({ url: remote.url }).ask({
      answers: ['done'],
      link: { taskId, contextId, state: 'input-required' },
    })
    await run(agent, thread, say('another thing'))
    const { values } = await stateOf(agent, thread)
    expect(messagesIn(values).at(-1)!.content).toBe('So: another thing')
    expect(values.a2a).toMatchObject({ contextId, state: 'completed' })
    expect(remote.requests.slice(-2).map(({ params }) => params.message.taskId)).toEqual([taskId, undefined])
  })

  test('a task that asks again at once is asked about again', async () => {
    let answered = 0
    const remote = await start(function* ({ isAnswer, task, status }) {
      if (!isAnswer) {
        yield task()
        return yield status('input-required', 'Which city?')
      }
      if (answered++ > 0) {
        yield task('working')
        return yield status('completed', 'Thanks.')
      }
      yield task('input-required')
    })
    const agent = a2aAgent({ url: remote.url })
    const thread = newThread()
    const first = await run(agent, thread, say('weather'))
    const second = await run(agent, thread, answers({ [asked(first)[0]!.interrupt_id]: 'Nowhere' }))
    expect(asked(second)).toHaveLength(1)
    await run(agent, thread, answers({ [asked(second)[0]!.interrupt_id]: 'Oslo' }))
    expect(messagesIn((await stateOf(agent, thread)).values).at(-1)!.content).toBe('Thanks.')
  })

  test('an Interrupt artifact is an interrupt with its value, and the answer goes back as resume', async () => {
    const value = { question: 'Send it?', draft: 'Hi' }
    const remote = await start(function* ({ message, isAnswer, task, status, artifact }) {
      yield task()
      if (isAnswer) {
        const [part] = message.parts
        yield status('completed', JSON.stringify(part.data ?? part.content.value))
        return
      }
      yield artifact('i', [{ kind: 'data', data: { id: 'int-1', value } }], { name: 'Interrupt' })
      yield status('input-required')
    })
    const agent = a2aAgent({ url: remote.url })
    const thread = newThread()
    const first = await run(agent, thread, say('mail'))
    expect(asked(first).map(({ payload }) => payload)).toEqual([value])
    await run(agent, thread, answers({ [asked(first)[0]!.interrupt_id]: { approved: true } }))
    const { values } = await stateOf(agent, thread)
    expect(messagesIn(values).map(({ content }) => content)).toEqual(['mail', '{"resume":{"approved":true}}'])
  })

  test('several interrupts are answered together, with their ids, and asked again one by one', async () => {
    const remote = await start(function* ({ message, isAnswer, task, status, artifact }) {
      yield task()
      if (isAnswer) {
        const [part] = message.parts
        yield status('completed', JSON.stringify(part.data ?? part.content.value))
        return
      }
      yield artifact(
        'i',
        [
          { kind: 'data', data: { id: 'a', value: 'A?' } },
          { kind: 'data', data: { id: 'b', value: 'B?' } },
        ],
        { name: 'Interrupt' },
      )
      yield status('input-required', 'Two questions.')
    })
    const agent = a2aAgent({ url: remote.url })
    const thread = newThread()
    const first = await run(agent, thread, say('go'))
    expect(asked(first).map(({ payload }) => payload)).toEqual(['A?', 'B?'])
    const second = await run(agent, thread, answers({ [asked(first)[1]!.interrupt_id]: 2 }))
    expect(asked(second).map(({ payload }) => payload)).toEqual(['A?'])
    expect(remote.requests).toHaveLength(1)
    await run(agent, thread, answers({ [asked(second)[0]!.interrupt_id]: 1 }))
    const { values } = await stateOf(agent, thread)
    expect(messagesIn(values).at(-1)!.content).toBe('{"resume":[{"id":"a","value":1},{"id":"b","value":2}]}')
  })

  test('a run that is lost when its question is known, and before it is asked, asks it without sending again', async () => {
    const remote = await start(function* ({ task, status }) {
      yield task()
      yield status('input-required', 'Which city?')
    })
    const agent = a2aAgent({ url: remote.url })
    const thread = newThread()
    const task = taskOf(thread, say('weather'))
    for await (const { method, data } of agent.stream(task)) {
      const { a2a } = data as { a2a?: { state?: string } }
      if (method === 'values' && a2a?.state === 'input-required') break
    }
    const events = await run(agent, thread, input(null), { runId: task.runId })
    expect(asked(events).map(({ payload }) => payload)).toEqual(['Which city?'])
    expect(remote.methods().filter((method) => /send|stream/i.test(method))).toHaveLength(1)
  })

  test('a remote that needs authorization says so in an interrupt, and goes on after it', async () => {
    const remote = await start(function* ({ isAnswer, task, status }) {
      yield task()
      yield isAnswer ? status('completed', 'Thanks.') : status('auth-required', 'Log in at the bank.')
    })
    const agent = a2aAgent({ url: remote.url })
    const thread = newThread()
    const first = await run(agent, thread, say('pay'))
    expect(asked(first).map(({ payload }) => payload)).toEqual([
      { type: 'auth-required', message: 'Log in at the bank.' },
    ])
    await run(agent, thread, answers({ [asked(first)[0]!.interrupt_id]: 'done' }))
    const { values } = await stateOf(agent, thread)
    expect(messagesIn(values).map(({ content }) => content)).toEqual(['pay', 'Thanks.'])
  })

  test('a failed and a rejected task end the run with what the remote says, and a retry sends anew', async () => {
    let state: 'failed' | 'rejected' | 'completed' = 'failed'
    const remote = await start(function* ({ task, status }) {
      yield task()
      yield status(state, 'So it is.')
    })
    const agent = a2aAgent({ url: remote.url })
    const thread = newThread()
    await expect(run(agent, thread, say('go'))).rejects.toMatchObject({
      name: 'A2ARemoteError',
      code: 'task_failed',
      message: 'So it is.',
    })
    expect((await stateOf(agent, thread)).values.a2a).toMatchObject({ state: 'failed' })
    state = 'rejected'
    const rejected = run(agent, thread, input(null))
    await expect(rejected).rejects.toBeInstanceOf(AgentRejection)
    await expect(rejected).rejects.toThrow('So it is.')
    state = 'completed'
    await run(agent, thread, input(null))
    const { values } = await stateOf(agent, thread)
    expect(messagesIn(values).map(({ content }) => content)).toEqual(['go', 'So it is.'])
    const ids = remote.requests.map(({ params }) => params.message.messageId)
    expect(new Set(ids).size).toBe(3)
  })

  test('a remote that cannot stream is sent the message once and asked for the task until it ends', async () => {
    const finish = gate()
    const script: Script = async function* ({ task, status, artifact }) {
      yield task()
      yield status('working')
      await finish.opened
      yield artifact('a', 'At last.', { lastChunk: true })
      yield status('completed')
    }
    setTimeout(finish.open, 400)
    const { contents, requests } = await answered(script, { streaming: false })
    expect(contents).toEqual(['At last.'])
    const methods = requests.map(({ method }) => method)
    const [send, get] = version === '1.0' ? ['SendMessage', 'GetTask'] : ['message/send', 'tasks/get']
    expect(methods.filter((method) => method === send)).toHaveLength(1)
    expect(methods.slice(1).length).toBeGreaterThan(0)
    expect(methods.slice(1).every((method) => method === get)).toBe(true)
  })

  test('a remote that cannot stream asks, and is answered', async () => {
    const remote = await start(
      function* ({ text, isAnswer, task, status }) {
        yield task()
        yield isAnswer ? status('completed', `Sunny in ${text}`) : status('input-required', 'Which city?')
      },
      { streaming: false },
    )
    const agent = a2aAgent({ url: remote.url })
    const thread = newThread()
    const first = await run(agent, thread, say('weather'))
    expect(asked(first).map(({ payload }) => payload)).toEqual(['Which city?'])
    await run(agent, thread, answers({ [asked(first)[0]!.interrupt_id]: 'Oslo' }))
    const { values } = await stateOf(agent, thread)
    expect(messagesIn(values).at(-1)!.content).toBe('Sunny in Oslo')
  })

  test('the link is not for callers to set', async () => {
    const remote = await start(function* ({ bare }) {
      yield bare({ kind: 'text', text: 'hi' })
    })
    const agent = a2aAgent({ url: remote.url })
    const thread = newThread()
    const stolen = { a2a: { contextId: 'of somebody else' } }
    await expect(agent.validateInput(stolen)).rejects.toThrow('is reserved for the agent')
    await expect(run(agent, thread, input({ ...stolen, messages: ['hi'] }))).rejects.toThrow(
      'is reserved for the agent',
    )
    await run(agent, thread, say('hi'))
    await expect(agent.updateState(thread, { values: stolen })).rejects.toThrow('is reserved for the agent')
    await expect(agent.updateState(thread, { values: [['a2a', {}]] })).rejects.toThrow(
      'is reserved for the agent',
    )
  })

  test('a turn without anything to send is refused', async () => {
    const remote = await start(function* ({ bare }) {
      yield bare({ kind: 'text', text: 'hi' })
    })
    const agent = a2aAgent({ url: remote.url })
    await expect(run(agent, newThread(), input({ messages: [] }))).rejects.toThrow('nothing to send')
    expect(remote.requests).toEqual([])
  })

  test('outside of a run it is asked with a link, as a node of a graph does', async () => {
    const remote = await start(function* ({ text, isAnswer, task, status, artifact }) {
      yield task()
      if (text === 'fail') return yield status('failed', 'No.')
      if (!isAnswer) return yield status('input-required', 'Which city?')
      yield artifact('a', `Sunny in ${text}`, { lastChunk: true })
      yield status('completed')
    })
    const agent = a2aAgent({ url: remote.url })
    const pieces: string[] = []
    const first = await agent.ask({ message: 'weather' })
    expect(first).toMatchObject({ text: '', content: [], link: { questions: [{ value: 'Which city?' }] } })
    const kept = JSON.parse(JSON.stringify(first.link))
    const second = await agent.ask({ answers: ['Oslo'], link: kept, onText: (piece) => pieces.push(piece) })
    expect(second.text).toBe('Sunny in Oslo')
    expect(second.link.questions).toBeUndefined()
    expect(pieces).toEqual(['Sunny in Oslo'])
    await expect(agent.ask({ message: 'fail', link: second.link })).rejects.toBeInstanceOf(A2ARemoteError)
    expect(remote.requests.at(-1).params.message.contextId).toBe(first.link.contextId)
  })
})
