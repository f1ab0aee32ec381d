import type { Authenticate } from '../../../http/index.ts'

/** Lets in who any of them lets in, such as `either(apiKeys({ … }), bearer(verify))`. The first one that knows the caller decides. */
export function either(...ways: readonly Authenticate[]): Authenticate {
  const authenticate: Authenticate = async (request) => {
    for (const way of ways) {
      const principal = await way(request)
      if (principal !== null) return principal
    }
    return null
  }
  return Object.assign(authenticate, { schemes: Object.assign({}, ...ways.map(({ schemes }) => schemes)) })
}
