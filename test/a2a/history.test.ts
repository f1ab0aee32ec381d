import { AIMessage, type BaseMessage } from '@langchain/core/messages'
import { Annotation, interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { describe, expect, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { defineAgent } from '../../src/index.ts'
import { DATABASES } from '../kit/databases.ts'
import type { Json } from '../kit/events.ts'
import { answerOf, clientOf, serve, stateOf, turnsOf, VERSIONS } from './served.ts'
import { asks, asksAsGraph } from './served-agents.ts'

/** Asks twice, one question after the other. */
const asksInTurn = () =>
  langgraph(
    new StateGraph(MessagesAnnotation)
      .addNode('first', () => ({ messages: [new AIMessage(`One: ${interrupt('First?')}`)] }))
      .addNode('second', () => ({ messages: [new AIMessage(`Two: ${interrupt({ question: 'Second?' })}`)] }))
      .addEdge(START, 'first')
      .addEdge('first', 'second')
      .compile(),
  )

const ofMessage = ({ role, messageId, parts }: Json) => [role, messageId, parts[0].text ?? parts[0].data]

describe.each(Object.keys(DATABASES))('over %s', (name) => {
  test.each(VERSIONS)(
    'in v%s a history has the questions and their answers, with the ids of both',
    async (version) => {
      const agents = { asksInTurn: asksInTurn(), asks: asks() }
      const { server, errors } = serve(agents, await (await DATABASES[name]!())())
      const client = clientOf(server, { assistant: 'asksInTurn', version })
      const { result: one } = await client.send({ text: 'Begin', messageId: 'b' })
      const ids = { taskId: one.id }
      const { result: two } = await client.send({ text: 'red', messageId: 'r', ...ids })
      const parts = [{ kind: 'data', data: { resume: 'blue' } }]
      const { result: done } = await client.send({ parts, messageId: 'c', ...ids })
      const [asked, again] = [one, two].map(({ status }) => status.message.messageId)
      expect(done.history.map(ofMessage)).toEqual([
        ['user', 'b', 'Begin'],
        ['agent', asked, 'First?'],
        ['user', 'r', 'red'],
        ['agent', expect.any(String), 'One: red'],
        ['agent', again, 'Second?'],
        ['user', 'c', { resume: 'blue' }],
        ['agent', expect.any(String), 'Two: blue'],
      ])
      for (const message of done.history)
        expect(message).toMatchObject({ taskId: done.id, contextId: done.contextId })
      expect(two.history.map(ofMessage)).toEqual(done.history.slice(0, 4).map(ofMessage))
      expect((await client.get(done.id)).result).toEqual(done)
      expect((await client.get(done.id, { historyLength: 2 })).result.history).toEqual(done.history.slice(-2))
      const whole = await client.get(done.id, { historyScope: 'context' })
      expect(turnsOf(whole.result)).toEqual(turnsOf(done))
      expect(answerOf(done)).toBe('Two: blue')
      expect(errors).toEqual([])
    },
  )
})

describe.each(VERSIONS)('version %s', (version) => {
  test.each([
    ['a graph', asksAsGraph],
    ['a function', asks],
  ])('%s is asked over the next task, too, whose history is its own', async (_, agent) => {
    const { server } = serve({ chat: agent() })
    const client = clientOf(server, { version })
    const { result: one } = await client.send({ text: 'one', contextId: 'c' })
    await client.send({ text: 'red', taskId: one.id })
    const { result: two } = await client.send({ text: 'two', contextId: 'c' })
    const { result: done } = await client.send({ text: 'blue', taskId: two.id })
    expect(turnsOf(done)).toEqual(['user: two', 'agent: Which colour?', 'user: blue', 'agent: It is "blue".'])
    const { result: whole } = await client.get(done.id, { historyScope: 'context' })
    expect(turnsOf(whole)).toHaveLength(8)
    expect(turnsOf(whole).slice(0, 3)).toEqual(['user: one', 'agent: Which colour?', 'user: red'])
  })

  test('an answer that is sent again is in the history once', async () => {
    const { server } = serve({ chat: asks() })
    const client = clientOf(server, { version })
    const { result: task } = await client.send({ text: 'x' })
    const answer = { text: 'red', messageId: 'a', taskId: task.id }
    await Promise.all([client.send(answer), client.send(answer)])
    const { result } = await client.send(answer)
    expect(turnsOf(result)).toEqual(['user: x', 'agent: Which colour?', 'user: red', 'agent: It is "red".'])
  })

  test('a task whose agent keeps messages under other ids shows no answer of an earlier one', async () => {
    // Keeps what was said as texts of its own, and says nothing the second time.
    const State = Annotation.Root({
      messages: Annotation<BaseMessage[]>({
        reducer: (before, more) => [
          ...before,
          ...[more]
            .flat()
            .map((message: Json) => (message.getType ? message : { ...message, id: undefined })),
        ],
        default: () => [],
      }),
    })
    const graph = new StateGraph(State)
      .addNode('say', ({ messages }) => ({
        messages: messages.length > 2 ? [] : [new AIMessage({ content: 'Only once.', id: 'once' })],
      }))
      .addEdge(START, 'say')
      .compile()
    const { server } = serve({ chat: langgraph(graph) })
    const client = clientOf(server, { version })
    const { result: first } = await client.send({ text: 'one', contextId: 'c' })
    expect([stateOf(first), answerOf(first)]).toEqual(['completed', 'Only once.'])
    const { result: second } = await client.send({ text: 'two', contextId: 'c' })
    expect([stateOf(second), second.artifacts ?? []]).toEqual(['completed', []])
    expect(turnsOf(second)).not.toContain('agent: Only once.')
    const { items } = await client.stream({ text: 'three', contextId: 'c' })
    expect(JSON.stringify(items)).not.toContain('Only once.')
    expect((await client.get(first.id)).result).toEqual(first)
  })

  test('an agent that replaces its messages shows its own', async () => {
    const State = Annotation.Root({ messages: Annotation<BaseMessage[]> })
    const graph = new StateGraph(State)
      .addNode('say', ({ messages }) => ({ messages: [new AIMessage(`Said: ${messages.length}`)] }))
      .addEdge(START, 'say')
      .compile()
    const { server } = serve({ chat: langgraph(graph) })
    const client = clientOf(server, { version })
    for (const text of ['one', 'two']) {
      const { result } = await client.send({ text, contextId: 'c' })
      expect(answerOf(result)).toBe('Said: 1')
    }
  })

  test('a function that says nothing of a later message shows nothing of the first', async () => {
    const agent = defineAgent({
      async run({ messages, message, setState }: Json) {
        if (messages.length > 1) return
        await message('Hello.')
        void setState
      },
    })
    const { server } = serve({ chat: agent })
    const client = clientOf(server, { version })
    expect(answerOf((await client.send({ text: 'one', contextId: 'c' })).result)).toBe('Hello.')
    const { result } = await client.send({ text: 'two', contextId: 'c' })
    expect(answerOf(result)).toBe('')
  })
})
