// #region callbacks
import type { AuthConfig } from '@auth/core'

export const callbacks: AuthConfig['callbacks'] = {
  jwt({ token, account }) {
    if (account) token.sub = `${account.provider}:${account.providerAccountId}` // at a sign-in only
    return token
  },
}
// #endregion
