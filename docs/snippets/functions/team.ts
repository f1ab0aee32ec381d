import assert from 'node:assert/strict'
import { calls, fakeOpenAI, says } from '../kit/providers.ts'

const task = { subagent_type: 'researcher', description: 'When does water boil?' }
fakeOpenAI([
  calls('task', task),
  calls('look_up', { topic: 'water' }),
  says('At 100 °C.'),
  says('At 100 °C!'),
])

// #region team
import { defineAgent, tool } from 'agentwire'
import { openai } from 'agentwire/models'
import OpenAI from 'openai'
import { z } from 'zod'

const look_up = tool({
  description: 'Finds what is known about a topic',
  input: z.object({ topic: z.string() }),
  run: ({ topic }, { principal }) =>
    `Notes of ${principal?.id ?? 'everyone'} about ${topic}: it boils at 100 °C.`,
})

export const writer = defineAgent({
  instructions: ({ principal }) => `You write for ${principal?.id ?? 'everyone'}.`,
  model: openai('gpt-5-mini', new OpenAI(), { reasoning_effort: 'low' }),
  subagents: {
    researcher: { description: 'Finds facts', instructions: 'Be brief.', tools: { look_up } },
    stylist: { description: 'Chooses a tone', run: () => 'plain' },
  },
  maxSteps: 10,
})
// #endregion

import { createAgentEngine } from 'agentwire'

const engine = createAgentEngine({ agents: { writer } })
const { text } = await engine.run({ input: 'Write about water.' })
assert.equal(text, 'At 100 °C!')
await engine.close()
