import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { oneStep } from '../../../src/agents/description.ts'
import { type Agent, AgentRejection, defineAgent, type Writer } from '../../../src/index.ts'
import type { ContentBlock } from '../../../src/messages/index.ts'

/** Longer than a call may take before it is a task. */
const LONG_MS = 400

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const image: ContentBlock = { type: 'image', base64: PNG, mimeType: 'image/png' }
const file: ContentBlock = {
  type: 'file',
  base64: btoa('This is an embedded resource content.'),
  mimeType: 'text/plain',
}

const nothing = z.object({})

const writes = (...content: readonly ContentBlock[]): Agent =>
  defineAgent({ input: nothing, run: () => ({ messages: [{ role: 'assistant', content }] }) })

/** A question in MCP's own words. */
const ask = (key: string, field: string, type = 'string') => ({
  key,
  message: `${field}?`,
  requestedSchema: { type: 'object', properties: { [field]: { type } }, required: [field] },
})

type Accepted = { readonly content?: Readonly<Record<string, unknown>> }

const asking = (...questions: readonly (readonly [key: string, field: string, type?: string])[]): Agent =>
  defineAgent({
    input: nothing,
    async run({ interrupt, message }) {
      const given: unknown[] = []
      for (const [key, field, type] of questions)
        given.push((await interrupt<Accepted>(ask(key, field, type))).content?.[field])
      await message(`state-ok: ${given.join(', ')}`)
    },
  })

/** A function sleeps once, although it runs again after each answer. */
const rest = (step: Writer['step'], signal: AbortSignal, ms: number): Promise<unknown> =>
  step(async () => void (await sleep(ms, undefined, { signal })))

const seconds = z.object({ seconds: z.number(), label: z.string().optional() })

const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
}

/** The agents that the scenarios of the conformance suite call, by the names and with the behaviour that they ask for. */
export const agents: Readonly<Record<string, Agent>> = {
  test_simple_text: writes({ type: 'text', text: 'This is a simple text response for testing.' }),
  test_image_content: writes(image),
  test_audio_content: writes({ type: 'audio', base64: btoa('RIFF'), mimeType: 'audio/wav' }),
  test_embedded_resource: writes(file),
  test_multiple_content_types: writes({ type: 'text', text: 'Multiple content types test:' }, image, file),
  test_error_handling: defineAgent({
    input: nothing,
    run() {
      throw new Error('This tool intentionally returns an error for testing')
    },
  }),
  test_tool_with_progress: defineAgent({
    input: nothing,
    async run({ custom, message }) {
      for (const progress of [0, 50, 100]) {
        await custom({ progress, total: 100 })
        await sleep(20)
      }
      await message('Done.')
    },
  }),
  // It writes no log messages, as no assistant does.
  test_logging_tool: writes({ type: 'text', text: 'Logged nothing.' }),
  test_streaming_elicitation: defineAgent({
    input: nothing,
    async run({ custom, interrupt, message }) {
      await custom({ progress: 1 })
      await interrupt(ask('name', 'name'))
      await message('Done.')
    },
  }),
  json_schema_2020_12_tool: { ...defineAgent({ run: () => ({}) }), describe: () => oneStep('tool', SCHEMA) },
  test_input_required_result_elicitation: asking(['user_name', 'name']),
  test_input_required_result_request_state: asking(['confirm', 'ok', 'boolean']),
  test_input_required_result_tampered_state: asking(['confirm', 'ok', 'boolean']),
  test_input_required_result_multi_round: asking(['step1', 'name'], ['step2', 'color']),
  greet: defineAgent({
    input: z.object({ name: z.string() }),
    run: ({ input, message }) => message(`Hello, ${input.name}!`).then(() => undefined),
  }),
  slow_compute: defineAgent({
    input: seconds,
    async run({ input, step, signal, message }) {
      await rest(step, signal, input.seconds * 1_000)
      await message(`Computed ${input.label}.`)
    },
  }),
  failing_job: defineAgent({
    input: nothing,
    async run({ step, signal }) {
      await rest(step, signal, LONG_MS)
      throw new Error('The job has failed.')
    },
  }),
  protocol_error_job: defineAgent({
    input: nothing,
    async run({ step, signal }) {
      await rest(step, signal, LONG_MS)
      throw new AgentRejection('The job is declined.')
    },
  }),
  confirm_delete: defineAgent({
    input: z.object({ filename: z.string() }),
    async run({ step, signal, interrupt, message, input }) {
      await rest(step, signal, LONG_MS)
      const { content } = await interrupt<Accepted>(ask('confirm', 'confirm', 'boolean'))
      await message(`${input.filename}: ${content?.confirm}`)
    },
  }),
  multi_input: defineAgent({
    input: nothing,
    async run({ step, signal, interrupt, message }) {
      await rest(step, signal, LONG_MS)
      const asked = [ask('name', 'name'), ask('confirm', 'confirm', 'boolean')]
      const given = await Promise.all(asked.map((one) => interrupt<Accepted>(one)))
      await message(JSON.stringify(given))
    },
  }),
  test_tool_with_task: defineAgent({
    input: nothing,
    async run({ step, signal, interrupt, message }) {
      const { content } = await interrupt<Accepted>(ask('user_name', 'name'))
      await rest(step, signal, LONG_MS)
      await message(`Hello, ${content?.name}!`)
    },
  }),
}
