import { createAgentClient } from 'agentwire/react'

/** Where the agents are: on the page's own address, as the catch-all route serves them. */
export const apiUrl = typeof location === 'undefined' ? '' : location.origin

/** What the hooks share: the list of threads, and requests that wait for a server that is away. */
export const agents = createAgentClient({ apiUrl })
