import { agents, createAgentServer, toNext } from '../../../.tmp/agentwire.mjs'

export const dynamic = 'force-dynamic'
export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = toNext(createAgentServer({ agents }), {
  basePath: '/others',
})
