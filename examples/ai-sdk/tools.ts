import { tool } from 'ai'
import { z } from 'zod'

export const multiply = ({ a, b }: { readonly a: number; readonly b: number }): number => a * b

/** Only pretends to send. Replace it with your mail service. */
export const send_mail = ({ to }: { readonly to: string; readonly text: string }): string => `sent to ${to}`

/** Replace it with your search. */
export const look_up = ({ topic }: { readonly topic: string }): string => `People drink ${topic} everywhere.`

// None has an `execute`: the agent runs them, so that clients see them and the user is asked.
export const assistantTools = {
  multiply: tool({
    description: 'Multiplies two numbers.',
    inputSchema: z.object({ a: z.number(), b: z.number() }),
  }),
  send_mail: tool({
    description: 'Sends a mail.',
    inputSchema: z.object({ to: z.string(), text: z.string() }),
  }),
  task: tool({
    description: 'Lets a subagent do a task.',
    inputSchema: z.object({ subagent_type: z.enum(['researcher']), description: z.string() }),
  }),
}

export const researcherTools = {
  look_up: tool({
    description: 'Finds what is known about a topic.',
    inputSchema: z.object({ topic: z.string() }),
  }),
}
