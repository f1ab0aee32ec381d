import { formerOwnerOf } from '../../principal.ts'
import type { Store } from '../../storage/index.ts'
import { copyPartition, inherit, rewriteAll } from '../../storage/inherit.ts'
import { LISTENER_COLLECTIONS, partitionOf } from './listeners.ts'
import { copyNames } from './names.ts'
import { DEPLOYMENTS, ofOwner, recordOf, relisted } from './stored.ts'

/** Moves, once, what earlier versions stored under an owner's former name. */
export const inheritDeployments = (store: Store, owner: string | null): Promise<void> =>
  inherit(store, {
    owner,
    former: formerOwnerOf(owner),
    what: DEPLOYMENTS,
    async copy(former, renew) {
      await copyPartition(store, partitionOf(former), partitionOf(owner), LISTENER_COLLECTIONS)
      await rewriteAll(store, DEPLOYMENTS, ofOwner(former), {
        async put(doc) {
          await copyNames(store, recordOf(doc))
          return relisted(doc)
        },
        renew,
      })
    },
  })
