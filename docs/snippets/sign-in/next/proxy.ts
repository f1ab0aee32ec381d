// #region proxy
import { type NextRequest, NextResponse } from 'next/server'
import { userOf } from './session'

export async function proxy(request: NextRequest) {
  const user = await userOf(request.cookies.get('session')?.value)
  if (!user) return NextResponse.redirect(new URL('/login', request.url))
  return NextResponse.next()
}

export const config = { matcher: '/chat/:path*' } // the pages, not /agents, which answers 401 itself
// #endregion
