import { tool } from 'agentwire'
import { z } from 'zod'

export const multiply = tool({
  description: 'Multiplies two numbers.',
  input: z.object({ a: z.number(), b: z.number() }),
  run: ({ a, b }) => a * b,
})

/** Only pretends to send. Replace it with your mail service. */
export const send_mail = tool({
  description: 'Sends a mail.',
  input: z.object({ to: z.string(), text: z.string() }),
  approve: true,
  run: ({ to }) => `sent to ${to}`,
})

/** Replace it with your search. */
export const look_up = tool({
  description: 'Finds what is known about a topic.',
  input: z.object({ topic: z.string() }),
  run: ({ topic }) => `People drink ${topic} everywhere.`,
})
