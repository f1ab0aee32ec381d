import { tool } from 'agentwire'
import { z } from 'zod'

/** Replace it with your search. */
export const look_up = tool({
  description: 'Finds what is known about a topic.',
  input: z.object({ topic: z.string() }),
  run: ({ topic }) => `People drink ${topic} everywhere.`,
})

/** Only pretends to send. Replace it with your mail service. */
export const send_mail = tool({
  description: 'Sends a mail.',
  input: z.object({ to: z.string(), text: z.string() }),
  approve: true, // the user is asked before it runs
  run: ({ to }) => `Sent to ${to}.`,
})
