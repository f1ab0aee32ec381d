import { readFileSync } from 'node:fs'
import ts from 'typescript'
import { expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import * as z3 from 'zod/v3'
import type { ModelAgentDefinition } from '../../../src/agents/function/types.ts'
import {
  approve,
  reject,
  type ScriptedReply,
  scriptedModel,
  toolCallsOf,
} from '../../../src/agents/testing.ts'
import { createAgentEngine, defineAgent, runToolCalls, type Subagent, tool } from '../../../src/index.ts'
import { gate } from '../../kit/wait.ts'

const refund = tool({
  description: 'Refunds an order',
  input: z.object({ order: z.number() }),
  approve: true,
  run: ({ order }) => `Order ${order} is refunded.`,
})

const callOf = (name: string, args: Readonly<Record<string, unknown>> = {}) => ({ name, args })

/** An engine with an agent whose model answers from a script. */
function scripted(script: readonly ScriptedReply[], options: Partial<ModelAgentDefinition> = {}) {
  const model = scriptedModel(script)
  const agent = defineAgent({ model, ...options })
  const engine = createAgentEngine({ agents: { agent }, onError: () => {} })
  onTestFinished(() => engine.close())
  return { engine, model, agent }
}

test('a model calls a tool, a person approves it, and the model answers with its result', async () => {
  const { engine, model } = scripted([{ calls: [callOf('refund', { order: 17 })] }, 'It is done.'], {
    instructions: 'You help with orders.',
    tools: { refund },
  })
  const asked = await engine.run({ input: 'Refund order 17.' })
  expect(asked).toMatchObject({ status: 'interrupted', text: '' })
  expect(asked.interrupts.map(({ value }) => value)).toEqual([
    {
      actionRequests: [{ name: 'refund', args: { order: 17 } }],
      reviewConfigs: [{ actionName: 'refund', allowedDecisions: ['approve', 'edit', 'reject'] }],
    },
  ])
  const done = await engine.run({ threadId: asked.threadId, answers: approve(asked.interrupts) })
  expect(done).toMatchObject({ status: 'success', text: 'It is done.', interrupts: [] })
  expect(toolCallsOf(done.messages)).toEqual([
    { name: 'refund', args: { order: 17 }, result: 'Order 17 is refunded.', status: 'success' },
  ])
  expect(model.inputs).toHaveLength(2)
  expect(model.inputs[1]).toMatchObject({
    instructions: 'You help with orders.',
    tools: [
      {
        name: 'refund',
        description: 'Refunds an order',
        parameters: { type: 'object', properties: { order: { type: 'number' } }, required: ['order'] },
      },
    ],
  })
  expect(model.inputs[1]!.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
})

test('the model reads that a person rejected its call, and why', async () => {
  const { engine } = scripted([{ calls: [callOf('refund', { order: 17 })] }, 'As you wish.'], {
    tools: { refund },
  })
  const { threadId, interrupts } = await engine.run({ input: 'Refund.' })
  const { messages } = await engine.run({ threadId, answers: reject(interrupts, 'Not this one.') })
  expect(toolCallsOf(messages)).toMatchObject([{ result: 'Not this one.', status: 'error' }])
})

test('arguments are checked before a person is asked, and the model reads what is wrong', async () => {
  const { engine } = scripted([{ calls: [callOf('refund', { order: 'all' })] }, 'Which one?'], {
    tools: { refund },
  })
  const { status, messages, text } = await engine.run({ input: 'Refund.' })
  expect([status, text]).toEqual(['success', 'Which one?'])
  expect(toolCallsOf(messages)).toEqual([
    {
      name: 'refund',
      args: { order: 'all' },
      result: 'The call is not valid. order: Invalid input: expected number, received string',
      status: 'error',
    },
  ])
})

test('a call that its schema refuses does not run unapproved if the schema changes its mind', async () => {
  let checks = 0
  let runs = 0
  const fickle = z.object({}).refine(() => ++checks > 1, 'Not now.')
  const parameters = { type: 'object' }
  const pay = tool({ input: fickle, jsonSchema: parameters, approve: true, run: () => ++runs })
  const { engine } = scripted([{ calls: [callOf('pay')] }, 'Later.'], { tools: { pay } })
  const { messages, status } = await engine.run({ input: 'Pay.' })
  expect([status, runs]).toEqual(['success', 0])
  expect(toolCallsOf(messages)).toMatchObject([
    { result: 'The call is not valid. Not now.', status: 'error' },
  ])
})

test('a call about which approve fails does not run', async () => {
  let runs = 0
  const approveIt = () => Promise.reject(new Error('The rules cannot be read.'))
  const pay = tool({ approve: approveIt, run: () => ++runs })
  const { engine } = scripted([{ calls: [callOf('pay')] }, 'Later.'], { tools: { pay } })
  const { messages } = await engine.run({ input: 'Pay.' })
  expect(runs).toBe(0)
  expect(toolCallsOf(messages)).toMatchObject([{ result: 'The rules cannot be read.', status: 'error' }])
})

test('what a person edits is checked, too', async () => {
  const { engine } = scripted([{ calls: [callOf('refund', { order: 1 })] }, 'Hm.'], { tools: { refund } })
  const { threadId, interrupts } = await engine.run({ input: 'Refund.' })
  const decisions = [{ type: 'edit', editedAction: { name: 'refund', args: { order: 'two' } } }]
  const { messages } = await engine.run({ threadId, answers: { [interrupts[0]!.id]: { decisions } } })
  expect(toolCallsOf(messages)).toMatchObject([{ args: { order: 'two' }, status: 'error' }])
})

test('approve may be a function of the arguments and of who asks, which is called once for each call', async () => {
  const asks = vi.fn(({ order }: { order: number }, { principal }: { principal: unknown }) => {
    return order > 10 && (principal as { id: string } | null)?.id === 'ada'
  })
  const careful = tool({ input: z.object({ order: z.number() }), approve: asks, run: () => 'Done.' })
  const calls = [callOf('refund', { order: 5 }), callOf('refund', { order: 50 })]
  const { engine } = scripted([{ calls }, 'Good.'], { tools: { refund: careful } })
  const principal = { id: 'ada' }
  const { threadId, interrupts } = await engine.run({ input: 'Refund.', principal })
  expect(interrupts[0]?.value).toMatchObject({ actionRequests: [{ args: { order: 50 } }] })
  const { text } = await engine.run({ threadId, principal, answers: approve(interrupts) })
  expect(text).toBe('Good.')
  expect(asks).toHaveBeenCalledTimes(2)
})

test('tools know the run, and its caller', async () => {
  const whoami = tool({
    run: (_, { principal, thread, toolCallId, config }) =>
      `${principal?.id} ${thread.id} ${toolCallId} ${config.configurable.locale}`,
  })
  const { engine } = scripted([{ calls: [callOf('whoami')] }, 'Hi.'], { tools: { whoami } })
  const { threadId, messages } = await engine.run({
    input: 'Who am I?',
    principal: { id: 'ada' },
    config: { configurable: { locale: 'de' } },
  })
  expect(toolCallsOf(messages)[0]?.result).toBe(`ada ${threadId} call_0_0 de`)
})

test('calls of one answer run at once, and the model reads errors of tools, and of tools that it made up', async () => {
  let running = 0
  let most = 0
  const both = gate()
  const wait = tool({
    async run() {
      most = Math.max(most, ++running)
      if (running === 2) both.open()
      await both.opened
      throw new Error('The mail server is down.')
    },
  })
  const calls = [callOf('wait'), callOf('wait'), callOf('nothing')]
  const { engine } = scripted([{ text: 'Let me see.', calls }, 'Sorry.'], { tools: { wait } })
  const { messages, text, status } = await engine.run({ input: 'Go.' })
  expect([status, text, most]).toEqual(['success', 'Sorry.', 2])
  expect(toolCallsOf(messages).map(({ result }) => result)).toEqual([
    'The mail server is down.',
    'The mail server is down.',
    'Unknown tool nothing. Available tools: wait.',
  ])
})

test('a model that never stops calling tools ends the run after maxSteps, and clients read why', async () => {
  const look = tool({ run: () => 'Nothing yet.' })
  const endless = Array.from({ length: 9 }, () => ({ calls: [callOf('look')] }))
  const { engine, model } = scripted(endless, { tools: { look }, maxSteps: 3 })
  const { status, error } = await engine.run({ input: 'Look.' })
  expect([status, error]).toEqual(['error', 'There was no answer after 3 steps. Ask again to go on.'])
  expect(model.inputs).toHaveLength(3)
})

test('stopWhen ends the run when the tools of an answer have run', async () => {
  const submit = tool({ run: () => 'Submitted.' })
  const { engine, model } = scripted([{ text: 'Here.', calls: [callOf('submit')] }], {
    tools: { submit },
    stopWhen: (reply) => reply.content.some((block) => block.type === 'toolCall' && block.name === 'submit'),
  })
  const { status, messages, text } = await engine.run({ input: 'Submit.' })
  expect([status, text, model.inputs.length]).toEqual(['success', 'Here.', 1])
  expect(toolCallsOf(messages)[0]?.result).toBe('Submitted.')
})

test('subagents have their own messages, and share the model of who calls them', async () => {
  const look = tool({ run: () => 'People drink tea.' })
  const subagents: Record<string, Subagent> = {
    researcher: { description: 'Finds facts', instructions: 'Be brief.', tools: { look } },
    stylist: { description: 'Chooses a tone', run: () => 'plain' },
  }
  const task = (subagent_type: string) => callOf('task', { subagent_type, description: 'About tea' })
  const model = scriptedModel(({ instructions, messages }) => {
    if (instructions === 'Be brief.')
      return messages.length === 1 ? { calls: [callOf('look')] } : 'Tea is drunk.'
    return messages.length === 1 ? { calls: [task('researcher'), task('stylist'), task('nobody')] } : 'Done.'
  })
  const engine = createAgentEngine({ agents: { agent: defineAgent({ model, subagents }) } })
  onTestFinished(() => engine.close())
  const { text, messages } = await engine.run({ input: 'Write about tea.' })
  expect(text).toBe('Done.')
  expect(toolCallsOf(messages).map(({ result }) => result)).toEqual([
    'Tea is drunk.',
    'plain',
    'Expected a description, and a subagent_type that is one of: researcher, stylist.',
  ])
  const [first] = model.inputs
  expect(first?.tools?.map(({ name }) => name)).toEqual(['task'])
  expect(first?.tools?.[0]?.description).toContain('- researcher: Finds facts')
  const inside = model.inputs.find(({ instructions }) => instructions === 'Be brief.')
  expect(inside?.tools?.map(({ name }) => name)).toEqual(['look'])
})

test('a tool of a subagent asks a person, and the subagent goes on where it was', async () => {
  const model = scriptedModel(({ instructions, messages }) => {
    if (instructions === 'Refund.')
      return messages.length === 1 ? { calls: [callOf('refund', { order: 3 })] } : 'It is refunded.'
    const args = { subagent_type: 'clerk', description: 'Order 3' }
    return messages.length === 1 ? { calls: [callOf('task', args)] } : 'Done.'
  })
  const clerk = { description: 'Refunds', instructions: 'Refund.', tools: { refund } }
  const engine = createAgentEngine({ agents: { agent: defineAgent({ model, subagents: { clerk } }) } })
  onTestFinished(() => engine.close())
  const { threadId, interrupts, status } = await engine.run({ input: 'Refund order 3.' })
  expect([status, interrupts.length]).toEqual(['interrupted', 1])
  const { text, messages } = await engine.run({ threadId, answers: approve(interrupts) })
  expect([text, toolCallsOf(messages)[0]?.result]).toEqual(['Done.', 'It is refunded.'])
  expect(model.inputs).toHaveLength(4)
})

test('a subagent that finds no end is an error that the model reads', async () => {
  const look = tool({ run: () => 'Nothing.' })
  const researcher = { description: 'Finds facts', instructions: 'Look.', tools: { look }, maxSteps: 2 }
  const model = scriptedModel(({ instructions, messages }) => {
    if (instructions === 'Look.') return { calls: [{ name: 'look', id: `look_${messages.length}` }] }
    const args = { subagent_type: 'researcher', description: 'Find it' }
    return messages.length === 1 ? { calls: [callOf('task', args)] } : 'I could not find it.'
  })
  const engine = createAgentEngine({ agents: { agent: defineAgent({ model, subagents: { researcher } }) } })
  onTestFinished(() => engine.close())
  const { messages, text } = await engine.run({ input: 'Find it.' })
  expect(text).toBe('I could not find it.')
  expect(toolCallsOf(messages)).toMatchObject([{ result: 'researcher found no end.', status: 'error' }])
})

test('a failed call of the model fails the run', async () => {
  const { engine } = scripted([new Error('429 Too many requests')])
  const { status, text, messages } = await engine.run({ input: 'Hi' })
  expect([status, text, messages.length]).toEqual(['error', '', 1])
})

test("the client's tools are offered, and a call of one ends the run without a result", async () => {
  const open_map = { type: 'function', function: { name: 'open_map', description: 'Opens a map' } } as const
  const look = tool({ run: () => 'Seen.' })
  const { engine, model } = scripted([{ calls: [callOf('look'), callOf('open_map', { at: 'Rome' })] }], {
    tools: { look },
  })
  const { status, messages } = await engine.run({
    input: 'Where?',
    config: { configurable: { client_tools: [open_map] } },
  })
  expect(status).toBe('success')
  expect(model.inputs[0]?.tools?.map(({ name }) => name)).toEqual(['look', 'open_map'])
  expect(toolCallsOf(messages)).toMatchObject([
    { name: 'look', result: 'Seen.' },
    { name: 'open_map', result: undefined },
  ])
})

test('instructions may depend on the run', async () => {
  const { engine, model } = scripted(['Ciao.'], {
    instructions: ({ principal }) => `You talk to ${principal?.id}.`,
  })
  await engine.run({ input: 'Hi', principal: { id: 'ada' } })
  expect(model.inputs[0]?.instructions).toBe('You talk to ada.')
})

test.each<[string, () => unknown, RegExp]>([
  ['no model', () => defineAgent({ model: 'gpt-5' as never }), /model must be a model, such as openai\(/],
  [
    'a model and a function',
    () => defineAgent({ model: scriptedModel([]), run: () => 'a' } as never),
    /model or run, not both/,
  ],
  [
    'a tool that is a plain function',
    () => defineAgent({ model: scriptedModel([]), tools: { add: (() => 1) as never } }),
    /tools\.add must be made with tool\(/,
  ],
  [
    'a tool with a name that no model takes',
    () => defineAgent({ model: scriptedModel([]), tools: { 'send mail': refund } }),
    /"send mail" is no name/,
  ],
  [
    'a tool with the name by which subagents are called',
    () =>
      defineAgent({
        model: scriptedModel([]),
        tools: { task: refund },
        subagents: { a: { description: 'A', run: () => 'a' } },
      }),
    /tools\.task/,
  ],
  [
    'a misspelled option',
    () => defineAgent({ model: scriptedModel([]), instruction: 'Help.' } as never),
    /unknown option instruction\. Did you mean instructions/,
  ],
  [
    'a schema without a JSON Schema',
    () => tool({ input: z3.z.object({ a: z3.z.string() }), run: () => 1 }),
    /pass jsonSchema, such as/,
  ],
  [
    'a schema that JSON Schema cannot express',
    () => tool({ input: z.object({ when: z.date() }), run: () => 1 }),
    /JSON Schema cannot express: Date/,
  ],
  ['a schema of a text', () => tool({ input: z.string(), run: () => 1 }), /schema of one object/],
])('%s is refused at once', (_, make, sentence) => {
  expect(make).toThrow(sentence)
})

test('a schema of a library without JSON Schema is checked, with the JSON Schema beside it', async () => {
  const input = z3.z.object({ order: z3.z.number() })
  const jsonSchema = { type: 'object', properties: { order: { type: 'number' } }, required: ['order'] }
  const old = tool({ input, jsonSchema, run: ({ order }) => order + 1 })
  const calls = [callOf('old', { order: 1 }), callOf('old', {})]
  const { engine, model } = scripted([{ calls }, 'Done.'], { tools: { old } })
  const { messages } = await engine.run({ input: 'Go' })
  expect(toolCallsOf(messages).map(({ result }) => result)).toEqual([
    '2',
    'The call is not valid. order: Required',
  ])
  expect(model.inputs[0]?.tools?.[0]?.parameters).toEqual(jsonSchema)
})

test('a tool with a plain JSON Schema gets the arguments as they are, and one without any gets an object', async () => {
  const parameters = { type: 'object', properties: { city: { type: 'string' } } }
  const weather = tool({ input: parameters, run: ({ city }) => `Sunny in ${city}.` })
  const clock = tool({ run: (args) => JSON.stringify(args) })
  const calls = [callOf('weather', { city: 'Rome' }), callOf('clock')]
  const { engine, model } = scripted([{ calls }, 'Done.'], { tools: { weather, clock } })
  const { messages } = await engine.run({ input: 'Go' })
  expect(toolCallsOf(messages).map(({ result }) => result)).toEqual(['Sunny in Rome.', '{}'])
  expect(model.inputs[0]?.tools?.map((one) => one.parameters)).toEqual([
    parameters,
    { type: 'object', properties: {}, additionalProperties: false },
  ])
})

test('a copy of the loop needs only what the package exports, and runs the same', async () => {
  const read = (path: string) => readFileSync(new URL(`../../../src/${path}`, import.meta.url), 'utf8')
  const source = read('agents/function/loop.ts')
  expect(source.split('\n').length).toBeLessThan(200)
  const named = [...source.matchAll(/^import (?:type )?\{([^}]*)\}/gm)].flatMap(([, names]) =>
    names!.split(',').map((name) => name.trim()),
  )
  const exported = read('index.ts') + read('models/formats/models.ts')
  expect(named.filter((name) => !new RegExp(`\\b${name},`).test(exported))).toEqual([])
  const copied = source.replace(/^import .*$/gm, '').replaceAll('export ', '')
  const { outputText } = ts.transpileModule(`${copied}\nreturn runLoop`, {
    compilerOptions: { target: ts.ScriptTarget.ES2022 },
  })
  const runLoop = new Function('runToolCalls', outputText)(runToolCalls)
  const model = scriptedModel([{ calls: [callOf('look')] }, 'Done.'])
  const tools = { look: tool({ run: () => 'Seen.' }) }
  const agent = defineAgent({ run: (context) => runLoop(context, { model, tools }) })
  const engine = createAgentEngine({ agents: { agent } })
  onTestFinished(() => engine.close())
  const { messages, text } = await engine.run({ input: 'Look.' })
  expect([text, toolCallsOf(messages)[0]?.result]).toEqual(['Done.', 'Seen.'])
})
