import { formerOwnerOf } from '../principal.ts'
import { inherit, putCopies } from '../storage/inherit.ts'
import { pagesOf } from '../storage/store/pages.ts'
import type { Store } from '../storage/store/store.ts'
import {
  ASSISTANTS,
  changedField,
  listField,
  placeOf,
  putAssistant,
  putVersion,
  recordOf,
  VERSIONS,
} from './record.ts'

/**
 * Copies the assistants that earlier versions stored under the owner's former name, with their versions,
 * once.
 */
export const inheritAssistants = (store: Store, owner: string | null): Promise<void> =>
  inherit(store, {
    owner,
    former: formerOwnerOf(owner),
    what: ASSISTANTS,
    async copy(former, renew) {
      for (const orderBy of [listField(former, 'createdAt'), changedField(former)])
        for await (const docs of pagesOf(store, ASSISTANTS, { orderBy })) {
          for (const doc of docs) {
            const record = { ...recordOf(doc), owner }
            const place = placeOf(owner, record.assistantId)
            for await (const versions of pagesOf(store, VERSIONS, { partition: doc.partition }))
              await putCopies(
                store,
                place,
                versions.map((version) => putVersion({ ...recordOf(version), owner })),
              )
            await putCopies(store, place, [putAssistant(record)])
          }
          await renew()
        }
    },
  })
