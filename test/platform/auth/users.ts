import { Client } from '@langchain/langgraph-sdk'
import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth'

/** The user that a request names, each with a team. */
export const USERS = {
  ann: { identity: 'ann', permissions: ['threads'], team: 'red', id: 7, tenant: 'acme' },
  bob: { identity: 'bob', permissions: [], team: 'blue', id: 8, tenant: 'acme' },
  solo: { identity: 'solo', permissions: [] },
} as const
export type Name = keyof typeof USERS

export const bearer = (name: string) => ({ authorization: `Bearer ${name}` })

/** An `Auth` that knows the users, without any other handler. */
export const knowing = () =>
  new Auth().authenticate((request) => {
    const user = USERS[request.headers.get('authorization')?.replace('Bearer ', '') as Name]
    if (!user) throw new HTTPException(401, { message: 'Who are you?', headers: { 'x-why': 'token' } })
    return { ...user, permissions: [...user.permissions] }
  })

/** The handler of the documentation: what somebody makes is theirs, and nobody else's. */
export const owning = () =>
  knowing().on('*', ({ value, user }) => {
    const named = value as { metadata?: Record<string, unknown> | null }
    if ('metadata' in named) named.metadata = { ...named.metadata, owner: user.identity }
    return { owner: user.identity }
  })

export const clientOf = (apiUrl: string, name: string) =>
  new Client({ apiUrl, apiKey: null, defaultHeaders: bearer(name), callerOptions: { maxRetries: 0 } })
