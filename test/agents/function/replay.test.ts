import { readFileSync } from 'node:fs'
import ts from 'typescript'
import { expect, test } from 'vitest'
import type { Agent, RunInput } from '../../../src/agents/agent.ts'
import { type AgentDefinition, defineAgent } from '../../../src/agents/function/define-agent.ts'
import { type Message, textOf } from '../../../src/messages/index.ts'
import type { AgentEvent } from '../../../src/messages/thread-events/index.ts'
import { openaiChat } from '../../../src/models/formats/index.ts'
import { openai } from '../../../src/models/formats/models.ts'
import { gate } from '../../kit/wait.ts'
import {
  answers,
  ask,
  collect,
  input,
  messagesIn,
  newThread,
  run,
  stateOf,
  type Thread,
  taskOf,
  turn,
} from '../run.ts'

const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: 'chatcmpl',
  object: 'chat.completion.chunk',
  model: 'gpt',
  choices: [{ index: 0, delta, finish_reason }],
})

/** What a model streams: a text, and calls of tools with their ids. */
async function* reply(text: string, ...calls: readonly { id: string; name: string; args: object }[]) {
  yield chunk({ role: 'assistant', content: text })
  for (const [index, { id, name, args }] of calls.entries())
    yield chunk({
      tool_calls: [{ index, id, type: 'function', function: { name, arguments: JSON.stringify(args) } }],
    })
  yield chunk({}, calls.length > 0 ? 'tool_calls' : 'stop')
}

const asked = (events: readonly AgentEvent[]) =>
  events.flatMap(({ method, data }) =>
    method === 'input.requested' ? [data as { interrupt_id: string; payload: unknown }] : [],
  )

const startedMessages = (events: readonly AgentEvent[]) =>
  events.filter(
    ({ method, data }) => method === 'messages' && (data as { event: string }).event === 'message-start',
  )

const texts = (messages: readonly Message[]) =>
  messages.map((message) => `${message.role}: ${textOf(message)}`)

/** Runs an agent until it asks nothing any more, with this answer to every question. */
async function answerAll(agent: Agent, thread: Thread, answer: unknown, first: RunInput = ask) {
  const attempts = [await run(agent, thread, first)]
  for (let open = asked(attempts[0]!); open.length > 0; open = asked(attempts.at(-1)!)) {
    expect(attempts.length).toBeLessThan(20)
    attempts.push(await run(agent, thread, answers({ [open[0]!.interrupt_id]: answer })))
  }
  return attempts
}

/** Runs an agent and leaves it, as a process that is lost does, at the first event for which `at` holds. */
async function lose(
  agent: Agent,
  thread: Thread,
  start: RunInput,
  at: (event: AgentEvent) => boolean | undefined,
) {
  for await (const event of agent.stream(taskOf(thread, start))) if (at(event)) return
  throw new Error('The run ended before it was lost.')
}

const hasMessages =
  (count: number, depth = 0) =>
  ({ method, namespace, data }: AgentEvent) =>
    method === 'values' && namespace.length === depth && messagesIn(data).length === count

test('the approval loop of the docs calls the model once per step and runs each approved tool once', async () => {
  const page = readFileSync(new URL('../../../docs/function-agents.md', import.meta.url), 'utf8')
  const [, code = ''] = /#approval -->\n```ts\n(.*?)```/s.exec(page)!
  const [source] = /(?<=const careful = )defineAgent\(.*?^}\)/ms.exec(code)!
  const { outputText } = ts.transpileModule(`return ${source}`, {
    compilerOptions: { target: ts.ScriptTarget.ES2022 },
  })
  const requests: (readonly string[])[] = []
  const performed: unknown[] = []
  const client = {
    chat: {
      completions: {
        create({ messages }: { messages: readonly { role: string; content: unknown }[] }) {
          requests.push(messages.map(({ role, content }) => `${role}: ${content ?? ''}`))
          if (requests.length > 1) return reply('Both are done.')
          return reply(
            '',
            { id: 'a', name: 'refund', args: { order: 1 } },
            { id: 'b', name: 'refund', args: { order: 2 } },
          )
        },
      },
    },
  }
  /** The agent of the page, whose tools are counted. */
  const counted = ({ run, ...rest }: AgentDefinition<unknown>) =>
    defineAgent({
      ...rest,
      run(context) {
        const tool: typeof context.tool = (name, args, work, options) => {
          const once = (scope: Parameters<typeof work>[0]) => {
            performed.push(args.order)
            return work(scope)
          }
          return context.tool(name, args, once, options)
        }
        return run(Object.create(context, { tool: { value: tool } }))
      },
    })
  const parts = { defineAgent: counted, model: openai('gpt', client as never), tools: [] }
  const agent = new Function(...Object.keys(parts), outputText)(...Object.values(parts)) as Agent
  const thread = newThread()
  const attempts = await answerAll(agent, thread, true)
  expect(attempts).toHaveLength(3)
  expect(requests).toEqual([
    ['user: go'],
    ['user: go', 'assistant: ', 'tool: Order 1 is refunded.', 'tool: Order 2 is refunded.'],
  ])
  expect(performed).toEqual([1, 2])
  const messages = messagesIn((await stateOf(agent, thread)).values)
  expect(
    messages.map(({ type, content }) => [type, typeof content === 'string' ? content : 'calls']),
  ).toEqual([
    ['human', 'go'],
    ['ai', 'calls'],
    ['tool', 'Order 1 is refunded.'],
    ['tool', 'Order 2 is refunded.'],
    ['ai', 'Both are done.'],
  ])
  expect(attempts.flatMap(startedMessages)).toHaveLength(2)
})

test('at every position the function sees the state that it saw there before', async () => {
  const seen: string[][] = []
  const agent = defineAgent({
    async run(context) {
      const steps: string[] = []
      seen.push(steps)
      const look = () => steps.push(JSON.stringify([context.state.n ?? null, texts(context.messages)]))
      look()
      await context.model(reply('one'), openaiChat)
      look()
      await context.setState({ n: 1, gone: true })
      look()
      const writer = context.message()
      await writer.text('two')
      void writer.end()
      look()
      await context.tool('look', {}, () => 'seen')
      look()
      await context.interrupt('A?')
      look()
      await context.setState({ n: 2, gone: undefined, messages: [{ type: 'remove', id: 'h' }] })
      look()
      await context.interrupt('B?')
      look()
    },
  })
  const thread = newThread()
  const [a] = asked(await run(agent, thread, ask))
  const update = { n: 10, messages: [{ type: 'human', content: 'hurry' }] }
  const [b] = asked(await run(agent, thread, { kind: 'resume', answers: { [a!.interrupt_id]: 1 }, update }))
  await run(agent, thread, answers({ [b!.interrupt_id]: 1 }))
  expect(seen.map((steps) => steps.length)).toEqual([5, 7, 8])
  expect(seen[1]!.slice(0, 5)).toEqual(seen[0])
  expect(seen[2]!.slice(0, 7)).toEqual(seen[1])
  // What comes with an answer is seen from the answer on.
  expect(JSON.parse(seen[1]![5]!)).toEqual([
    10,
    ['user: go', 'assistant: one', 'assistant: two', 'assistant: ', 'tool: seen', 'user: hurry'],
  ])
  expect(JSON.parse(seen[1]![6]!)[0]).toBe(2)
  const { values } = await stateOf(agent, thread)
  expect([values.n, 'gone' in values, messagesIn(values).length]).toEqual([2, false, 5])
})

test('a model that is given as a function is not called again, and one that is given as a stream is stopped', async () => {
  let called = 0
  let stopped = 0
  const open = () => ({
    controller: Object.assign(new AbortController(), { abort: () => void stopped++ }),
    [Symbol.asyncIterator]: () => reply('streamed'),
  })
  const agent = defineAgent({
    async run({ model, interrupt, message }) {
      const first = await model(() => {
        called++
        return Promise.resolve(reply('called'))
      }, openaiChat)
      const second = await model(open(), openaiChat)
      await interrupt('Go on?')
      await message(`${textOf(first)} ${textOf(second)}`)
    },
  })
  const thread = newThread()
  const attempts = await answerAll(agent, thread, true)
  expect(messagesIn((await stateOf(agent, thread)).values).at(-1)!.content).toBe('called streamed')
  expect([called, stopped]).toEqual([1, 1])
  expect(attempts.map((events) => startedMessages(events).length)).toEqual([2, 1])
})

test('calls of parallel branches complete in the order in which they did before', async () => {
  const holds = [gate(), gate(), gate()]
  const made: string[] = []
  const agent = defineAgent({
    async run({ tool, interrupt, message }) {
      const branch = async (at: number) => {
        await tool('first', { at }, () => holds[at]!.opened)
        const second = await tool('second', { at }, () => {
          made.push(`second ${at}`)
          return at
        })
        return interrupt<number>(`${at}: ${second}?`)
      }
      const heard = await Promise.all([0, 1, 2].map(branch))
      await message(heard.join(' '))
    },
  })
  const thread = newThread()
  const opening = (async () => {
    for (const at of [2, 0, 1]) {
      for (let turns = 0; turns < 20; turns++) await turn()
      holds[at]!.open()
    }
  })()
  const attempts = await answerAll(agent, thread, 'yes')
  await opening
  expect(made).toEqual(['second 2', 'second 0', 'second 1'])
  const questions = attempts.flatMap(asked).map(({ payload }) => payload)
  expect([...new Set(questions)]).toEqual(['2: 2?', '0: 0?', '1: 1?'])
  expect(messagesIn((await stateOf(agent, thread)).values).at(-1)!.content).toBe('yes yes yes')
})

test('a subagent that asks goes on behind what it has completed, and one that has ended does not run again', async () => {
  const calls: string[] = []
  const agent = defineAgent({
    async run({ subagent, message }) {
      const results = await Promise.all(
        ['a', 'b'].map((name) =>
          subagent(name, `Do ${name}`, async (inner) => {
            calls.push(`run ${name}`)
            await inner.model(() => {
              calls.push(`model ${name}`)
              return reply(`plan ${name}`)
            }, openaiChat)
            const plan = textOf(inner.messages.at(-1)!)
            const sure = name === 'a' ? await inner.interrupt<boolean>(plan) : true
            const done = await inner.tool('do', { plan }, () => {
              calls.push(`do ${name}`)
              return `${plan} ${sure}`
            })
            return `${done} ${inner.messages.length}`
          }),
        ),
      )
      await message(results.join(', '))
    },
  })
  const thread = newThread()
  await answerAll(agent, thread, 'yes')
  expect(messagesIn((await stateOf(agent, thread)).values).at(-1)!.content).toBe(
    'plan a yes 4, plan b true 4',
  )
  expect(calls.toSorted()).toEqual(
    ['run a', 'run b', 'model a', 'model b', 'do b', 'run a', 'do a'].toSorted(),
  )
})

test.each<[string, AgentDefinition<unknown>['run'], string]>([
  ['calls another tool', ({ tool }) => tool('write', {}, () => 1).then(() => {}), 'Call 0 was tool "read"'],
  [
    'calls it with another input',
    ({ tool }) => tool('read', { a: 2 }, () => 1).then(() => {}),
    'Call 0 was tool "read"',
  ],
  ['writes a message', ({ message }) => message('x').then(() => {}), 'is now message'],
  ['asks', ({ interrupt }) => interrupt('x').then(() => {}), 'is now interrupt'],
  [
    'catches the error',
    ({ message }) =>
      message('x').then(
        () => {},
        () => {},
      ),
    'is now message',
  ],
  ['ends at once', async () => {}, 'ended before call 0'],
  [
    'calls a tool in place of an answered question',
    async ({ tool }) => {
      await tool('read', { a: 1 }, () => 1)
      await tool('read', {}, () => 1)
    },
    'Call 1 was interrupt',
  ],
  [
    'asks something else than was answered',
    async ({ tool, interrupt }) => {
      await tool('read', { a: 1 }, () => 1)
      await interrupt('Delete all?')
    },
    'Call 1 was interrupt',
  ],
])('a function that %s when it runs again fails, and can go on once it is right', async (_, other, text) => {
  let attempts = 0
  const agent = defineAgent({
    async run(context) {
      attempts++
      if (attempts === 2) return void (await other(context))
      const n = await context.tool('read', { a: 1 }, () => attempts)
      const answer = await context.interrupt('Go on?')
      await context.message(`${n} ${answer}`)
    },
  })
  const thread = newThread()
  const [question] = asked(await run(agent, thread, ask))
  const resumed = run(agent, thread, answers({ [question!.interrupt_id]: 'yes' }))
  await expect(resumed).rejects.toThrow(text)
  await run(agent, thread, input(null))
  expect(messagesIn((await stateOf(agent, thread)).values).at(-1)!.content).toBe('1 yes')
})

test('a failed call that the function has caught fails again in the same way', async () => {
  let called = 0
  const agent = defineAgent({
    async run({ model, tool, interrupt, message }) {
      const reasons: string[] = []
      const note = (error: Error & { code?: string }) =>
        void reasons.push(`${error.name} ${error.code} ${error.message}`)
      await model(() => {
        called++
        throw Object.assign(new RangeError('too long'), { code: 'limit' })
      }, openaiChat).catch(note)
      await tool('look', {}, () => {
        called++
        throw new TypeError('no eyes')
      }).catch(note)
      await interrupt('Go on?')
      await message(reasons.join(', '))
    },
  })
  const thread = newThread()
  await answerAll(agent, thread, true)
  expect(called).toBe(2)
  expect(messagesIn((await stateOf(agent, thread)).values).at(-1)!.content).toBe(
    'RangeError limit too long, TypeError undefined no eyes',
  )
})

test.each([
  ['its error', (error: unknown) => error],
  ['an error with it as its cause', (cause: unknown) => new Error('failed', { cause })],
  ['another error', () => new Error('failed')],
])(
  'a run that has failed with %s makes the failed call again when it goes on, and no other',
  async (_, thrown) => {
    const made: string[] = []
    const agent = defineAgent({
      async run({ tool, message }) {
        const skipped = await tool('optional', {}, () => {
          made.push('optional')
          throw new Error('is away')
        }).catch(() => 'skipped')
        await tool('first', {}, () => void made.push('first'))
        const second = await tool('second', {}, () => {
          made.push('second')
          if (made.length < 4) throw new Error('try again')
          return 'ok'
        }).catch((error: unknown) => {
          throw thrown(error)
        })
        await message(`${skipped} ${second}`)
      },
    })
    const thread = newThread()
    await expect(run(agent, thread, ask)).rejects.toThrow()
    await run(agent, thread, input(null))
    expect(made).toEqual(['optional', 'first', 'second', 'second'])
    const messages = messagesIn((await stateOf(agent, thread)).values)
    expect(messages.map(({ content }) => content).filter((content) => typeof content === 'string')).toEqual([
      'go',
      'is away',
      'ok',
      'skipped ok',
    ])
  },
)

test('an attempt that is lost leaves its completed calls to the next one, also those of a subagent', async () => {
  const made: string[] = []
  let isLost = false
  const agent = defineAgent({
    async run({ model, subagent, message }) {
      await model(() => {
        made.push('model')
        return reply('plan')
      }, openaiChat)
      const text = await subagent('helper', 'Help', async (inner) => {
        await inner.model(() => {
          made.push('inner')
          return reply('inner plan')
        }, openaiChat)
        if (!isLost) await new Promise(() => {})
        return `${inner.messages.length} messages`
      })
      await message(text)
    },
  })
  const thread = newThread()
  await lose(agent, thread, ask, hasMessages(2, 1))
  isLost = true
  const events = await run(agent, thread, input(null))
  expect(made).toEqual(['model', 'inner'])
  expect(messagesIn((await stateOf(agent, thread)).values).at(-1)!.content).toBe('2 messages')
  expect(startedMessages(events)).toHaveLength(1)
})

test('a completed model call is kept while the function works on by itself', async () => {
  let called = 0
  let isLost = false
  const agent = defineAgent({
    async run({ model, message }) {
      const plan = await model(() => {
        called++
        return reply('plan')
      }, openaiChat)
      if (!isLost) await new Promise(() => {})
      await message(`${textOf(plan)} done`)
    },
  })
  const thread = newThread()
  await lose(agent, thread, ask, hasMessages(2))
  isLost = true
  await run(agent, thread, input(null))
  expect(called).toBe(1)
  expect(messagesIn((await stateOf(agent, thread)).values).at(-1)!.content).toBe('plan done')
})

test('a fork from a checkpoint in the middle replays the calls before it, and makes those behind it', async () => {
  const made: string[] = []
  const agent = defineAgent({
    async run({ tool, subagent, state }) {
      for (const name of ['one', 'two', 'three']) {
        await tool(name, {}, () => void made.push(name))
        await subagent('helper', name, async (inner) => {
          await inner.tool(`inner ${name}`, {}, () => void made.push(`inner ${name}`))
        })
      }
      return { started: state.started ?? 'no' }
    },
  })
  const thread = newThread()
  await run(agent, thread, ask)
  expect(made).toEqual(['one', 'inner one', 'two', 'inner two', 'three', 'inner three'])
  const snapshots = await collect(agent.getHistory(thread))
  const middle = snapshots.find(({ values }) => messagesIn(values).length === 7)!
  made.length = 0
  await run(agent, thread, input(null), { checkpointId: middle.checkpoint.checkpointId })
  expect(made).toEqual(['inner two', 'three', 'inner three'])
  expect(messagesIn((await stateOf(agent, thread)).values)).toHaveLength(13)
})

test('a replayed result is what JSON keeps of it', async () => {
  const results: unknown[] = []
  const agent = defineAgent({
    async run({ tool, interrupt }) {
      results.push(
        await tool('rich', {}, () => ({ at: new Date(0), big: 1n, skipped: undefined })),
        await tool('nothing', {}, () => undefined),
        await tool('null', {}, () => null),
        await tool('text', {}, () => '42'),
      )
      await interrupt('Go on?')
    },
  })
  await answerAll(agent, newThread(), true)
  expect(results.slice(4)).toEqual([{ at: '1970-01-01T00:00:00.000Z', big: '1' }, undefined, null, '42'])
})

test('a run that has ended leaves no log of its calls in the newest checkpoint', async () => {
  const agent = defineAgent({
    async run({ tool, interrupt }) {
      await tool('look', {}, () => 'seen')
      await interrupt('Go on?')
    },
  })
  const thread = newThread()
  const { threadId, checkpointer } = thread
  const newest = async () => {
    const tuple = await checkpointer.getTuple({ configurable: { thread_id: threadId } })
    return Object.keys(tuple!.checkpoint.channel_values).filter((key) => key.startsWith('__'))
  }
  const [question] = asked(await run(agent, thread, ask))
  expect(await newest()).toContain('__call__0')
  await run(agent, thread, answers({ [question!.interrupt_id]: true }))
  expect(await newest()).toEqual([])
})

test('a message that was half written when the function asked is written again', async () => {
  const agent = defineAgent({
    async run({ message, interrupt }) {
      const writer = message()
      await writer.text('Half, ')
      const rest = await interrupt<string>('And?')
      await writer.text(rest)
      await writer.end()
    },
  })
  const thread = newThread()
  const [first, second] = await answerAll(agent, thread, 'whole.')
  expect(messagesIn((await stateOf(agent, thread)).values).map(({ content }) => content)).toEqual([
    'go',
    'Half, whole.',
  ])
  expect(startedMessages(second!).map(({ data }) => (data as { id: string }).id)).toEqual(
    startedMessages(first!).map(({ data }) => (data as { id: string }).id),
  )
})
