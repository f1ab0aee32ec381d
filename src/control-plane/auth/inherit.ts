import { formerOwnerOf } from '../../principal.ts'
import type { Store } from '../../storage/index.ts'
import { copyPartition, inherit } from '../../storage/inherit.ts'
import {
  DEFAULTS,
  PROVIDERS,
  TOKENS,
  tenantPartition,
  userKeyOf,
  userPartition,
  WORKSPACE_TOKENS,
} from './stored.ts'

/** Copies, once, the providers and tokens that earlier versions stored under the owner's former name. */
export const inheritTokens = async (
  store: Store,
  owner: string | null,
  user: string | null,
): Promise<void> => {
  const former = formerOwnerOf(owner)
  await inherit(store, {
    owner,
    former,
    what: PROVIDERS,
    copy: async (from) =>
      copyPartition(store, await tenantPartition(from), await tenantPartition(owner), [
        PROVIDERS,
        WORKSPACE_TOKENS,
      ]),
  })
  const partitionOf = async (of: string | null) => userPartition(await userKeyOf(of, user))
  await inherit(store, {
    owner,
    former,
    what: `${TOKENS} of ${user}`,
    copy: async (from) =>
      copyPartition(store, await partitionOf(from), await partitionOf(owner), [TOKENS, DEFAULTS]),
  })
}
