import { toNext } from 'agentwire/next'
import { server } from '../../server/server.ts'

export const runtime = 'nodejs'
export const dynamic = 'force-dynamic'
export const maxDuration = 300
export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = toNext(server)
