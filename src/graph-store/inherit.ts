import { formerOwnerOf } from '../principal.ts'
import { inherit, putCopies } from '../storage/inherit.ts'
import { pagesOf } from '../storage/store/pages.ts'
import type { Store } from '../storage/store/store.ts'
import { fieldOf, ITEMS, type Owner, partitionOf, putItem, putNamespace, storedItem } from './layout.ts'

/** Copies the items that earlier versions stored under the owner's former name, once. */
export const inheritItems = (store: Store, owner: Owner): Promise<void> =>
  inherit(store, {
    owner,
    former: formerOwnerOf(owner),
    what: 'graph-items',
    async copy(former, renew) {
      for await (const docs of pagesOf(store, ITEMS, { orderBy: fieldOf(former, []) })) {
        for (const item of docs.map(storedItem)) {
          const place = partitionOf(owner, item.namespace)
          await putCopies(store, place, [putItem(owner, item), putNamespace(owner, item.namespace)])
        }
        await renew()
      }
    },
  })
