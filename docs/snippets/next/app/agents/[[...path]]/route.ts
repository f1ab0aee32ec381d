// #region route
import { toNext } from 'agentwire/next'
import { server } from '../../../lib/agents'

export const runtime = 'nodejs'
export const dynamic = 'force-dynamic'
export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = toNext(server, { basePath: '/agents' })
// #endregion
