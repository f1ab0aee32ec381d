import { HumanMessage } from '@langchain/core/messages'
import { expect, test } from 'vitest'
import { scriptedModels } from '../../examples/chat/server/models/models.ts'
import { type Script, ScriptedModel } from '../../examples/chat/server/models/scripted-model.ts'
import { calculator } from '../../examples/chat/server/tools/tools.ts'

const question = [new HumanMessage('Well?')]

test('streams its text word by word, and the pieces make the text', async () => {
  const text = 'One  two\nthree, four.'
  const chunks = await collect(new ScriptedModel({ script: () => ({ text }), delayMs: 0 }).stream(question))
  expect(chunks.map((chunk) => chunk.text).filter((piece) => piece !== '')).toEqual([
    'One',
    '  two',
    '\nthree,',
    ' four.',
  ])
  expect(new Set(chunks.map((chunk) => chunk.id)).size).toBe(1)
})

test('streams tool calls beside its text, in pieces that make whole calls', async () => {
  const calls = [
    { name: 'a', args: { x: 'one' } },
    { name: 'b', args: {} },
  ]
  const model = new ScriptedModel({ script: () => ({ text: 'Both.', calls }), delayMs: 0 })
  const [first, ...rest] = await collect(model.stream(question))
  const whole = rest.reduce((sum, chunk) => sum.concat(chunk), first!)
  expect(whole.text).toBe('Both.')
  expect(whole.tool_calls?.map(({ name, args }) => ({ name, args }))).toEqual(calls)
  expect(whole.usage_metadata).toMatchObject({ input_tokens: 1, output_tokens: 3, total_tokens: 4 })
})

test('invoke gives what stream gives', async () => {
  const model = new ScriptedModel({ script: () => ({ text: 'All at once.' }), delayMs: 0 })
  expect((await model.invoke(question)).text).toBe('All at once.')
})

test('the script sees the conversation and the bound tools', async () => {
  const script: Script = (messages, tools) => ({ text: `${messages.at(-1)?.text} ${tools.join()}` })
  const model = new ScriptedModel({ script, delayMs: 0 })
  expect((await model.invoke(question)).text).toBe('Well? ')
  expect((await model.bindTools([calculator]).invoke(question)).text).toBe('Well? calculator')
})

test('stops in the middle when its signal aborts, and at once when the signal has aborted before', async () => {
  const model = new ScriptedModel({ script: () => ({ text: 'word '.repeat(1000) }), delayMs: 1 })
  const controller = new AbortController()
  let seen = 0
  const reading = (async () => {
    for await (const _ of await model.stream(question, { signal: controller.signal }))
      if (++seen === 3) controller.abort()
  })()
  await expect(reading).rejects.toThrow(/abort/i)
  expect(seen).toBe(3)
  await expect(model.invoke(question, { signal: AbortSignal.abort() })).rejects.toThrow(/abort/i)
})

async function collect<T>(stream: Promise<AsyncIterable<T>>): Promise<T[]> {
  const items: T[] = []
  for await (const item of await stream) items.push(item)
  return items
}

test('writes thoughts, text, pictures and calls as blocks of one message, in this order', async () => {
  const picture = { type: 'image', mimeType: 'image/png', data: 'AAAA' } as const
  const reply = {
    reasoning: 'A picture.',
    text: 'Look there:',
    media: [picture],
    calls: [{ name: 'a', args: { x: 'one' } }],
  }
  const [first, ...rest] = await collect(
    new ScriptedModel({ script: () => reply, delayMs: 0 }).stream(question),
  )
  const whole = rest.reduce((sum, chunk) => sum.concat(chunk), first!)
  expect(whole.content).toEqual([
    { type: 'reasoning', reasoning: 'A picture.', index: 0 },
    { type: 'text', text: 'Look there:', index: 1 },
    { ...picture, index: 2 },
  ])
  expect(whole.tool_calls).toMatchObject([{ name: 'a', args: { x: 'one' } }])
  expect(whole.usage_metadata).toMatchObject({ output_tokens: 6 })
})

test('fails after its text where the script says so', async () => {
  const script: Script = () => ({ text: 'Half of', error: 'It broke.' })
  await expect(new ScriptedModel({ script, delayMs: 0 }).invoke(question)).rejects.toThrow('It broke.')
})

test.each([
  ['Tell me a long story', '# The *miller*\n\nOnce', 'The miller'],
  ['What is 12 * (3 + 4), and what is a checkpoint?', '84', '12 * (3 + 4) and checkpoint'],
  ['Draw a chart of a week of coffee', 'Here', 'Chart of a week of coffee'],
  ['A script', '```sh\n# install\n```', 'Script'],
  ['Hello, echo', 'Hello', 'Hello, echo'],
])('names the conversation that begins with “%s”', async (question, answer, title) => {
  const { text } = await scriptedModels(0).titler.invoke(`Question: ${question}\n\nAnswer: ${answer}`)
  expect(text).toBe(title)
})
