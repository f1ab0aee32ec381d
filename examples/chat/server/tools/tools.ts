import { tool } from '@langchain/core/tools'
import { interrupt } from '@langchain/langgraph'
import { z } from 'zod'
import { calculate } from './calculate.ts'
import { searchLibrary } from './library.ts'

export const calculator = tool(
  ({ expression }) => {
    try {
      return `${expression} = ${calculate(expression)}`
    } catch (error) {
      if (error instanceof RangeError) return `Error: ${error.message}`
      throw error
    }
  },
  {
    name: 'calculator',
    description: 'Computes arithmetic: + - * / ^ % and parentheses.',
    schema: z.object({ expression: z.string().describe('Such as 12 * (3 + 4)') }),
  },
)

export const search = tool(({ query }) => JSON.stringify(searchLibrary(query)), {
  name: 'search',
  description:
    'Searches a small library of pages. Gives a JSON array of { title, file, excerpt }, best first.',
  schema: z.object({ query: z.string() }),
})

export const askUser = tool(({ question }) => interrupt<object, string>({ question }), {
  name: 'ask_user',
  description: 'Asks the user a question and waits for the answer.',
  schema: z.object({ question: z.string() }),
})

/** Nothing leaves the machine: approved mails are stored here for the lifetime of the process. */
export const outbox: { readonly to: string; readonly subject: string; readonly body: string }[] = []

export const sendEmail = tool(
  (letter) => {
    outbox.push(letter)
    return `The letter to ${letter.to} lies in the outbox (${outbox.length} so far).`
  },
  {
    name: 'send_email',
    description: 'Puts a letter into the outbox.',
    schema: z.object({ to: z.string(), subject: z.string(), body: z.string() }),
  },
)
