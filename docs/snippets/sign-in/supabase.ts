import { WebSocket } from 'ws'

process.env.SUPABASE_URL ??= 'http://127.0.0.1:9'
process.env.SUPABASE_PUBLISHABLE_KEY ??= 'none'
Object.assign(globalThis, { WebSocket: globalThis.WebSocket ?? WebSocket }) // Node 20 has none

// #region supabase
import { createClient, isAuthRetryableFetchError } from '@supabase/supabase-js'

const { auth } = createClient(process.env.SUPABASE_URL!, process.env.SUPABASE_PUBLISHABLE_KEY!, {
  auth: { persistSession: false, autoRefreshToken: false },
})

export async function authenticate(request: Request) {
  const token = request.headers.get('authorization')?.replace(/^Bearer /i, '')
  if (!token) return null
  const { data, error } = await auth.getClaims(token)
  if (isAuthRetryableFetchError(error)) throw error // Supabase cannot be reached: 500, not 401
  return data?.claims.sub ? { id: data.claims.sub, email: data.claims.email } : null
}
// #endregion
