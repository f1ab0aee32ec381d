import { AIMessage } from '@langchain/core/messages'
import {
  Annotation,
  Command,
  END,
  interrupt,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph'
import { Client } from '@langchain/langgraph-sdk'
import { StreamController } from '@langchain/langgraph-sdk/stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { defineAgent } from '../../../src/agents/function/define-agent.ts'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import { sleep } from '../../../src/core/time.ts'
import { type AgentEngine, subscribe as subscribeTo } from '../../../src/engine/index.ts'
import { type A2AAgentOptions, a2aAgent } from '../../../src/faces/a2a/remote/agent.ts'
import type { A2ALink } from '../../../src/faces/a2a/remote/exchange.ts'
import { messagesIn } from '../../agents/run.ts'
import { engineOf, readUntil, start, transcript } from '../../kit/engine.ts'
import { dataOf, isRoot, type WireEvent } from '../../kit/events.ts'
import { serveAgents } from '../../kit/host.ts'
import { killable, sharedFile } from '../../kit/shared.ts'
import { untilStore } from '../../kit/stream-store.ts'
import { eventually, type Gate, gate } from '../../kit/wait.ts'
import { type RemoteServer, type Script, startRemote, type Version } from './server.ts'

const VERSIONS: readonly Version[] = ['1.0', '0.3']
const METHODS = {
  '1.0': {
    stream: 'SendStreamingMessage',
    get: 'GetTask',
    cancel: 'CancelTask',
    subscribe: 'SubscribeToTask',
  },
  '0.3': {
    stream: 'message/stream',
    get: 'tasks/get',
    cancel: 'tasks/cancel',
    subscribe: 'tasks/resubscribe',
  },
} as const

/** An agent that says one word, waits, and says the rest. */
function slow(): { readonly script: Script; readonly go: Gate } {
  const go = gate()
  return {
    go,
    async *script({ task, status, artifact }) {
      yield task()
      yield status('working')
      yield artifact('a', 'One')
      await go.opened
      yield artifact('a', ' and two', { append: true })
      yield artifact('a', ' and three', { append: true, lastChunk: true })
      yield status('completed')
    },
  }
}

async function stateIn(engine: AgentEngine): Promise<Readonly<Record<string, unknown>>> {
  const thread = await engine.findThread({ threadId: 't' })
  return (thread && (await engine.readState(thread))?.values) ?? {}
}

const linkIn = async (engine: AgentEngine): Promise<A2ALink> => ((await stateIn(engine)).a2a as A2ALink) ?? {}

/** The text of all messages that were streamed. */
const textIn = (events: readonly WireEvent[]): string =>
  dataOf(events, 'messages')
    .map(({ delta }) => delta?.text ?? '')
    .join('')

const HELLO = { messages: [{ role: 'user', content: 'hello', id: 'h' }] }

describe.each(VERSIONS)('a run of a remote agent of A2A %s', (version) => {
  const { stream, get, cancel, subscribe } = METHODS[version]

  async function started(script: Script, options: Partial<A2AAgentOptions> = {}) {
    const remote = await startRemote(version, script)
    const engine = engineOf({ a: a2aAgent({ url: remote.url, ...options } as A2AAgentOptions) })
    onTestFinished(() => engine.close())
    const { runId } = await start(engine, 't', HELLO)
    return { remote, engine, runId }
  }

  const count = (remote: RemoteServer, method: string) =>
    remote.methods().filter((one) => one === method).length

  test('its cancel cancels the task of the remote', async () => {
    const { script } = slow()
    const { remote, engine, runId } = await started(script)
    await eventually(async () => (await stateIn(engine)).a2a !== undefined)
    await engine.cancel({ threadId: 't', runId })
    const events = await transcript(engine, 't')
    expect(events.filter(isRoot).at(-1)!.params.data.event).toBe('interrupted')
    await eventually(() => count(remote, cancel) === 1)
    expect(remote.requests.at(-1).params.id).toBe((await linkIn(engine)).taskId)
  })

  test('a cancel before the remote has named the task is sent as soon as it is named', async () => {
    const go = gate()
    const { remote, engine, runId } = await started(async function* ({ task, cancelled }) {
      await go.opened
      yield task()
      await new Promise((resolve) => cancelled.addEventListener('abort', resolve))
    })
    await eventually(() => count(remote, stream) === 1)
    await engine.cancel({ threadId: 't', runId })
    await transcript(engine, 't')
    expect(count(remote, cancel)).toBe(0)
    go.open()
    await eventually(() => count(remote, cancel) === 1)
  })

  test('a connection that is lost in the middle is opened again, and nothing is said twice', async () => {
    const { script, go } = slow()
    const { remote, engine } = await started(script)
    await readUntil(
      subscribeTo(engine, { threadId: 't', filter: { channels: ['messages'] }, since: 0 }),
      (events) => textIn(events).includes('One'),
    )
    remote.cut()
    await eventually(() => count(remote, subscribe) === 1)
    go.open()
    const events = await transcript(engine, 't')
    expect(textIn(events)).toBe('One and two and three')
    expect(remote.methods().filter((method) => method !== get)).toEqual([stream, subscribe])
  })

  test('a connection that is cut again and again loses and doubles nothing', async () => {
    const words = Array.from({ length: 60 }, (_, at) => `w${at} `)
    const { remote, engine } = await started(async function* ({ task, status, artifact }) {
      yield task()
      for (const [at, word] of words.entries()) {
        await sleep(25)
        yield artifact('a', word, { append: at > 0, lastChunk: at === words.length - 1 })
      }
      yield status('completed')
    })
    for (let cuts = 0; cuts < 4; cuts++) {
      await sleep(100 + Math.random() * 300)
      remote.cut()
    }
    const events = await transcript(engine, 't')
    expect(textIn(events)).toBe(words.join(''))
    expect(messagesIn(await stateIn(engine)).at(-1)!.content).toBe(words.join(''))
    expect([count(remote, stream), count(remote, cancel)]).toEqual([1, 0])
  })

  test('the run of a process that is gone goes on in another one with the same task, over SQLite', async () => {
    const { script, go } = slow()
    const remote = await startRemote(version, script)
    const shared = sharedFile()
    const agents = { a: a2aAgent({ url: remote.url }) }
    const { place, kill } = killable(shared())
    const options = { leaseTtlMs: 400, onError: () => {} }
    const first = engineOf(agents, { ...place, ...options })
    await start(first, 't', HELLO)
    await eventually(async () => (await linkIn(first)).taskId !== undefined)
    const { taskId, messageId } = await linkIn(first)
    kill()
    const second = engineOf({ a: a2aAgent({ url: remote.url }) }, { ...shared(), ...options })
    onTestFinished(() => Promise.all([first.close(), second.close()]).then(() => {}))
    await eventually(() => count(remote, subscribe) === 1)
    go.open()
    await transcript(second, 't')
    const state = await stateIn(second)
    expect(messagesIn(state).map(({ content }) => content)).toEqual(['hello', 'One and two and three'])
    expect(state.a2a).toMatchObject({ taskId, messageId, state: 'completed' })
    expect([count(remote, stream), count(remote, cancel)]).toEqual([1, 0])
  })

  test('a process that closes hands the task over and does not cancel it', async () => {
    const { script, go } = slow()
    const remote = await startRemote(version, script)
    const shared = sharedFile()
    const agent = () => ({ a: a2aAgent({ url: remote.url }) })
    const first = engineOf(agent(), { ...shared(), drainMs: 0, leaseTtlMs: 400 })
    await start(first, 't', HELLO)
    await eventually(async () => (await linkIn(first)).taskId !== undefined)
    await first.close()
    const second = engineOf(agent(), { ...shared(), leaseTtlMs: 400 })
    onTestFinished(() => second.close())
    await eventually(() => count(remote, subscribe) === 1)
    go.open()
    await transcript(second, 't')
    expect(messagesIn(await stateIn(second)).map(({ content }) => content)).toEqual([
      'hello',
      'One and two and three',
    ])
    expect([count(remote, stream), count(remote, cancel)]).toEqual([1, 0])
  })

  test('a task that has ended while nobody listened is read', async () => {
    const { script, go } = slow()
    const remote = await startRemote(version, script)
    const shared = sharedFile()
    const { place, kill } = killable(shared())
    const options = { leaseTtlMs: 400, onError: () => {} }
    const first = engineOf({ a: a2aAgent({ url: remote.url }) }, { ...place, ...options })
    await start(first, 't', HELLO)
    await eventually(async () => (await linkIn(first)).taskId !== undefined)
    kill()
    go.open()
    await first.close()
    await new Promise((resolve) => setTimeout(resolve, 50))
    const second = engineOf({ a: a2aAgent({ url: remote.url }) }, { ...shared(), ...options })
    onTestFinished(() => second.close())
    await transcript(second, 't')
    expect(messagesIn(await stateIn(second)).at(-1)!.content).toBe('One and two and three')
    expect([count(remote, stream), count(remote, subscribe)]).toEqual([1, 0])
  })

  test('served behind the threads protocol, the client streams it, answers it and sees its thread', async () => {
    const halfway = gate()
    const remote = await startRemote(version, async function* ({ text, isAnswer, task, status, artifact }) {
      yield task()
      if (!isAnswer) return yield status('input-required', 'Which city?')
      yield artifact('a', 'Sunny in ')
      await halfway.opened
      yield artifact('a', text, { append: true, lastChunk: true })
      yield status('completed')
    })
    const { origin } = await serveAgents({
      agents: { weather: a2aAgent({ url: remote.url, name: 'Weather' }) },
    })
    const client = new Client({ apiUrl: origin, callerOptions: { maxRetries: 0 } })
    const page = new StreamController({ assistantId: 'weather', client, threadId: 't' })
    onTestFinished(() => page.dispose())
    await page.hydrate('t')
    await page.submit({ messages: [{ type: 'human', content: 'weather' }] })
    const { interrupt: question } = await untilStore(page.rootStore, (now) => now.interrupts.length === 1)
    expect(question!.value).toBe('Which city?')
    await page.respond('Oslo', { interruptId: question!.id! })
    await untilStore(page.rootStore, ({ messages }) => messages.at(-1)?.text === 'Sunny in ')
    halfway.open()
    const done = await untilStore(page.rootStore, (now) => !now.isLoading && now.messages.length === 2)
    expect(done.messages.map(({ text }) => text)).toEqual(['weather', 'Sunny in Oslo'])
    expect(remote.requests).toHaveLength(2)
  })

  test('an agent function calls it as a subagent, with its questions', async () => {
    const remote = await startRemote(version, function* ({ text, isAnswer, task, status }) {
      yield task()
      yield isAnswer
        ? status('completed', `Sunny in ${text}`)
        : status('input-required', `${text} Which city?`)
    })
    const weather = a2aAgent({ url: remote.url })
    const planner = defineAgent({
      async run({ subagent, message }) {
        const said = await subagent('weather', 'How is the weather?', weather.run)
        await message(`They say: ${said}.`)
      },
    })
    const engine = engineOf({ a: planner })
    onTestFinished(() => engine.close())
    const { runId } = await start(engine, 't', HELLO)
    const waiting = await engine.wait({ threadId: 't', runId })
    const [question] = (await engine.findThread({ threadId: 't' }))!.interrupts
    expect(waiting).toMatchObject({ status: 'interrupted' })
    expect(question).toMatchObject({ value: 'How is the weather? Which city?' })
    const next = await engine.respond({ threadId: 't', answers: { [question!.id]: 'Oslo' } })
    await engine.wait({ threadId: 't', runId: next.runId })
    expect(messagesIn(await stateIn(engine)).at(-1)!.content).toBe('They say: Sunny in Oslo.')
    expect(count(remote, stream)).toBe(2)
  })

  test('a node of a graph asks it, and its questions are interrupts of the graph', async () => {
    const remote = await startRemote(version, function* ({ text, isAnswer, task, status }) {
      yield task()
      yield isAnswer ? status('completed', `Sunny in ${text}`) : status('input-required', 'Which city?')
    })
    const weather = a2aAgent({ url: remote.url })
    const State = Annotation.Root({ ...MessagesAnnotation.spec, link: Annotation<A2ALink | undefined> })
    const graph = new StateGraph(State)
      .addNode(
        'weather',
        async ({ messages, link }, { signal }) => {
          const reply = await weather.ask({ message: messages.at(-1)!.text, link, signal })
          if (reply.link.questions) return new Command({ goto: 'question', update: { link: reply.link } })
          return new Command({
            goto: END,
            update: { link: reply.link, messages: [new AIMessage(reply.text)] },
          })
        },
        { ends: ['question', END] },
      )
      .addNode('question', async ({ link }, { signal }) => {
        const answers = link!.questions!.map(({ value }) => interrupt(value))
        const reply = await weather.ask({ answers, link, signal })
        return { link: reply.link, messages: [new AIMessage(reply.text)] }
      })
      .addEdge(START, 'weather')
      .addEdge('question', END)
      .compile()
    const engine = engineOf({ a: langgraph(graph) })
    onTestFinished(() => engine.close())
    const { runId } = await start(engine, 't', HELLO)
    await engine.wait({ threadId: 't', runId })
    const [question] = (await engine.findThread({ threadId: 't' }))!.interrupts
    expect(question).toMatchObject({ value: 'Which city?' })
    const next = await engine.respond({ threadId: 't', answers: { [question!.id]: 'Oslo' } })
    await engine.wait({ threadId: 't', runId: next.runId })
    expect(messagesIn(await stateIn(engine)).at(-1)!.content).toBe('Sunny in Oslo')
    expect(count(remote, stream)).toBe(2)
  })
})
