import type { ChatCompletionTool } from 'openai/resources/chat/completions'

export const multiply = ({ a, b }: { readonly a: number; readonly b: number }): number => a * b

/** Only pretends to send. Replace it with your mail service. */
export const send_mail = ({ to }: { readonly to: string; readonly text: string }): string => `sent to ${to}`

/** Replace it with your search. */
export const look_up = ({ topic }: { readonly topic: string }): string => `People drink ${topic} everywhere.`

/** Declares a tool to the model. All arguments are required. */
const declare = (
  name: string,
  description: string,
  properties: Readonly<Record<string, object>>,
): ChatCompletionTool => ({
  type: 'function',
  function: {
    name,
    description,
    parameters: { type: 'object', properties, required: Object.keys(properties) },
  },
})

const text = { type: 'string' }
const number = { type: 'number' }

export const assistantTools = [
  declare('multiply', 'Multiplies two numbers.', { a: number, b: number }),
  declare('send_mail', 'Sends a mail.', { to: text, text }),
  declare('task', 'Lets a subagent do a task.', {
    subagent_type: { type: 'string', enum: ['researcher'] },
    description: text,
  }),
]

export const researcherTools = [declare('look_up', 'Finds what is known about a topic.', { topic: text })]
