import { createAgentClient } from 'agentwire/react'

/** The URL of the agents: the page's own origin, where the catch-all route serves them. */
export const apiUrl = typeof location === 'undefined' ? '' : location.origin

/** What the hooks share: the thread list, and requests that wait while the server is unavailable. */
export const agents = createAgentClient({ apiUrl })
