import { expect, onTestFinished, test } from 'vitest'
import { approve, reject, type ScriptedReply, scriptedModel, toolCallsOf } from '../../src/agents/testing.ts'
import { createAgentEngine, defineAgent, tool } from '../../src/index.ts'

function engineOf(script: readonly ScriptedReply[]) {
  const model = scriptedModel(script)
  const pay = tool({ approve: true, run: () => 'Paid.' })
  const errors: unknown[] = []
  const engine = createAgentEngine({
    agents: { agent: defineAgent({ model, tools: { pay } }) },
    onError: (error) => void errors.push(error),
  })
  onTestFinished(() => engine.close())
  return { engine, model, errors }
}

test('a script that has ended says how long it was, and what it was asked', async () => {
  const { engine, errors } = engineOf(['One.'])
  const { threadId } = await engine.run({ input: 'First' })
  expect((await engine.run({ threadId, input: 'Second' })).status).toBe('error')
  expect(errors).toMatchObject([
    {
      code: 'script_ended',
      message:
        'The script of the model has one reply, and it was asked once more: the user message "Second".',
    },
  ])
})

test('a text is streamed word by word, and arrives as it is', async () => {
  const text = ' Two  words,\nand a line. '
  const { engine } = engineOf([text])
  const run = await engine.run({ input: 'Go' })
  expect(run.text).toBe(text)
  let pieces = 0
  const { threadId, runId } = run
  for await (const event of engine.events({ threadId, runId }))
    if (event.type === 'event' && Object(event.data).event === 'content-block-delta') pieces++
  expect(pieces).toBe(5)
})

test('all that is asked at once is approved or rejected at once', async () => {
  const calls = [{ name: 'pay' }, { name: 'pay' }]
  const { engine } = engineOf([{ calls }, { calls }, 'Done.'])
  const first = await engine.run({ input: 'Go' })
  expect(toolCallsOf(first.messages)).toMatchObject([{ result: undefined }, { result: undefined }])
  const { threadId } = first
  const second = await engine.run({ threadId, answers: approve(first.interrupts) })
  const { messages } = await engine.run({ threadId, answers: reject(second.interrupts, 'No.') })
  expect(toolCallsOf(messages).map(({ result, status }) => `${status}: ${result}`)).toEqual([
    'success: Paid.',
    'success: Paid.',
    'error: No.',
    'error: No.',
  ])
})

test('a question that is no approval is not answered by accident', () => {
  expect(() => approve([{ id: 'q', value: 'Which one?' }])).toThrow(/q does not ask to approve tool calls/)
})
