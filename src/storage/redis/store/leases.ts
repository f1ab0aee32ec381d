import type { LeaseRecord, Store } from '../../store/store.ts'
import { fromText } from '../../text.ts'
import type { Database } from '../database.ts'
import { type Directory, GRACE_MS, type Moved } from './directory.ts'

const PAGE = 200

/** The directory may list leases before they expire, and released ones. Wrong entries are corrected. */
export async function expiredLeases(
  { keys }: Database,
  directory: Directory,
  inspect: Store['inspect'],
  limit: number,
): Promise<LeaseRecord[]> {
  const expired: LeaseRecord[] = []
  const wrong: Moved[] = []
  for (let seen = 0; ; ) {
    const { now, members } = await directory.due(keys.leases, seen, PAGE)
    await Promise.all(
      members.map(async (due) => {
        const [name, tokenText] = due.member.split('\0') as [string, string]
        const token = Number(tokenText)
        const state = await inspect(fromText(name))
        const { lease } = state
        if (lease?.token !== token) {
          // No process can take a lease with a token that was already issued, or this late.
          if (token <= state.token || due.score < now - GRACE_MS) wrong.push(due)
        } else if (lease.expiresAt > state.now) wrong.push({ ...due, to: lease.expiresAt })
        else expired.push(lease)
      }),
    )
    seen += members.length
    // A lease never expires before its time in the directory, so the remaining ones expire after the last one
    // read.
    expired.sort((a, b) => a.expiresAt - b.expiresAt)
    const last = members.at(-1)
    if (members.length < PAGE || (expired.length >= limit && expired[limit - 1]!.expiresAt <= last!.score))
      break
  }
  if (wrong.length > 0) await directory.settle(keys.leases, wrong)
  return expired.slice(0, limit)
}
