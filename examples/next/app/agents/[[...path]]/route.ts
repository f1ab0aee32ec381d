import { toNext } from 'agentwire/next'
import { server } from '../../../agents.ts'

export const runtime = 'nodejs'
export const dynamic = 'force-dynamic'
export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = toNext(server, { basePath: '/agents' })
