/**
 * What a page with a list of conversations needs: users, their own threads with titles, and an agent that
 * knows its user.
 */
import { createAgentServer, defineAgent, type Principal } from 'agentwire'
import { serve } from 'agentwire/node'

/** Replace this with your sessions: a database lookup, or a token that you verify. */
const users: Readonly<Record<string, Principal & { name: string; mayDelete: boolean }>> = {
  'token-of-ada': { id: 'ada', name: 'Ada', mayDelete: true },
  'token-of-bob': { id: 'bob', name: 'Bob', mayDelete: false },
}

function authenticate(request: Request): Principal | null {
  const token = request.headers.get('authorization')?.replace(/^Bearer /, '') ?? ''
  return Object.hasOwn(users, token) ? users[token]! : null // null: the response is 401
}

const greeter = defineAgent({
  async run({ principal, message }) {
    await message(`Hello ${principal?.name}.`)
  },
})

const server = createAgentServer({
  agents: { greeter },
  authenticate,
  // Each user only sees their own threads. This rejects further actions.
  authorize: (principal, action) => action !== 'threads:delete' || principal?.mayDelete === true,
})

await serve(server, { port: Number(process.env.PORT ?? 3000) })
