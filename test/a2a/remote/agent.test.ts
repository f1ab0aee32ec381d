import { describe, expect, onTestFinished, test } from 'vitest'
import { type A2AAgent, a2aAgent } from '../../../src/faces/a2a/remote/agent.ts'
import { type Agent, type AgentEngine, defineAgent } from '../../../src/index.ts'
import { messagesIn } from '../../agents/run.ts'
import { engineOf, start } from '../../kit/engine.ts'
import { dataOf, type Json } from '../../kit/events.ts'
import { type Host, serveAgents } from '../../kit/host.ts'
import { killable, sharedFile } from '../../kit/shared.ts'
import { gate } from '../../kit/wait.ts'
import type { Version } from './server.ts'

/** Settles when an event of the run has this text. */
async function until(engine: AgentEngine, runId: string, text: string): Promise<void> {
  for await (const event of engine.events({ threadId: 't', runId }))
    if (JSON.stringify(event).includes(text)) return
}

/** A server of ours calls an agent that another server of ours serves. */
describe.each<Version>(['1.0', '0.3'])('our own server, in A2A %s', (version) => {
  async function serve(agent: Agent): Promise<Host & { readonly remote: () => A2AAgent }> {
    const host = await serveAgents({ agents: { far: agent } })
    const answer = await fetch(`${host.origin}/a2a/far/.well-known/agent-card.json`, {
      headers: { 'a2a-version': version },
    })
    const card = (await answer.json()) as Json
    expect(card.protocolVersion ?? card.supportedInterfaces[0].protocolVersion).toMatch(version)
    return {
      ...host,
      remote: () => a2aAgent(version === '1.0' ? { url: `${host.origin}/a2a/far` } : { card }),
    }
  }

  /** A thread of a server in front of the agent. */
  async function front(agent: Agent) {
    const { remote } = await serve(agent)
    const host = await serveAgents({ agents: { near: remote() } })
    return host.thread('t')
  }

  const user = (content: unknown) => ({ messages: [{ role: 'user', content }] })
  const contents = async (thread: Awaited<ReturnType<typeof front>>) =>
    messagesIn((await thread.idle()).values).map(({ content }) => content)

  test('its answer is streamed through, and the next turn is of the same conversation', async () => {
    const halfway = gate()
    const thread = await front(
      defineAgent({
        async run({ message, messages }) {
          const said = message()
          await said.text(`${messages.length} `)
          await halfway.opened
          await said.text('messages')
        },
      }),
    )
    const stream = await thread.stream({ channels: ['messages'] })
    await thread.start(user('one'))
    await stream.until((events) => dataOf(events, 'messages').some(({ delta }) => delta?.text === '1 '))
    halfway.open()
    expect(await contents(thread)).toEqual(['one', '1 messages'])
    await thread.start(user('two'))
    await thread.transcript(2)
    expect(await contents(thread)).toEqual(['one', '1 messages', 'two', '3 messages'])
  })

  test('its interrupts are asked here, several at once too, and answered there', async () => {
    const thread = await front(
      defineAgent({
        async run({ interrupt, message }) {
          await message('First.')
          const name = await interrupt('Who?')
          const [a, b] = await Promise.all([interrupt({ pick: 'a' }), interrupt({ pick: 'b' })])
          await message(`${name} ${a} ${b}`)
        },
      }),
    )
    const answerAll = async (...values: readonly unknown[]) => {
      const { tasks } = await thread.idle()
      const interrupts: Json[] = tasks.flatMap((task: Json) => task.interrupts)
      expect(interrupts).toHaveLength(values.length)
      const responses = interrupts.map(({ id }, at) => ({
        interrupt_id: id,
        namespace: [],
        response: values[at],
      }))
      await thread.ok('input.respond', responses.length === 1 ? responses[0] : { responses })
      return interrupts.map(({ value }) => value)
    }
    await thread.start(user('go'))
    await thread.transcript(1)
    expect(await answerAll('Ada')).toEqual(['Who?'])
    await thread.transcript(2)
    expect(await answerAll(1, 2)).toEqual([{ pick: 'a' }, { pick: 'b' }])
    await thread.transcript(3)
    expect(await contents(thread)).toEqual(['go', 'First.', 'Ada 1 2'])
  })

  test('its files, data and rejections are ours', async () => {
    const { remote } = await serve(
      defineAgent({
        async run({ message, messages, reject }) {
          const [first] = messages.at(-1)!.content
          if (first!.type === 'text') reject('Only files, please.')
          const said = message()
          await said.block(first!)
          await said.block({ type: 'nonStandard', value: { type: 'data', data: { seen: true } } })
        },
      }),
    )
    const file = {
      type: 'file',
      base64: 'aGk=',
      mimeType: 'application/pdf',
      extras: { filename: 'a.pdf' },
    } as const
    const { content } = await remote().ask({ message: [file] })
    expect(content).toEqual([file, { type: 'nonStandard', value: { type: 'data', data: { seen: true } } }])
    await expect(remote().ask({ message: 'hi' })).rejects.toMatchObject({
      name: 'AgentRejection',
      message: 'Only files, please.',
    })
  })

  test('a cancel here is a cancel there', async () => {
    const stopped = gate()
    const { remote } = await serve(
      defineAgent({
        async run({ message, signal }) {
          signal.addEventListener('abort', stopped.open)
          await message().text('Well, ')
          await new Promise(() => {})
        },
      }),
    )
    const engine = engineOf({ a: remote() })
    onTestFinished(() => engine.close())
    const { runId } = await start(engine, 't', user('go'))
    await until(engine, runId, 'Well')
    await engine.cancel({ threadId: 't', runId })
    await stopped.opened
  })

  test('a lost process and a lost connection in the middle double and lose nothing', async () => {
    const steps = [gate(), gate()]
    const host = await serve(
      defineAgent({
        async run({ message }) {
          const said = message()
          await said.text('One, ')
          await steps[0]!.opened
          await said.text('two, ')
          await steps[1]!.opened
          await said.text('three.')
        },
      }),
    )
    const shared = sharedFile()
    const { place, kill } = killable(shared())
    const options = { leaseTtlMs: 400, onError: () => {} }
    const first = engineOf({ a: host.remote() }, { ...place, ...options })
    const { runId } = await start(first, 't', user('count'))
    await until(first, runId, 'One')
    kill()
    const second = engineOf({ a: host.remote() }, { ...shared(), ...options })
    onTestFinished(() => Promise.all([first.close(), second.close()]).then(() => {}))
    steps[0]!.open()
    await until(second, runId, 'two')
    host.cut()
    steps[1]!.open()
    await second.wait({ threadId: 't', runId })
    const thread = (await second.findThread({ threadId: 't' }))!
    const { values } = (await second.readState(thread))!
    expect(messagesIn(values).map(({ content }) => content)).toEqual(['count', 'One, two, three.'])
  })
})
