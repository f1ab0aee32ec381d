import type { LeaseRecord, PartitionState } from '../../store/store.ts'
import { fromText } from '../../text.ts'
import type { Database } from '../database.ts'
import { type Directory, type Due, GRACE_MS } from './directory.ts'

const PAGE = 200

/**
 * The directory may have leases at an earlier time than they expire, because they are entered before the commit, and leases that
 * were released. What is found wrong is corrected.
 */
export async function expiredLeases(
  { keys }: Database,
  directory: Directory,
  inspect: (partition: string) => Promise<PartitionState>,
  limit: number,
): Promise<LeaseRecord[]> {
  const expired: LeaseRecord[] = []
  const wrong: (Due & { to: number | undefined })[] = []
  for (let seen = 0; ; ) {
    const { now, members } = await directory.due(keys.leases, seen, PAGE)
    const found = await Promise.all(
      members.map(async (due) => {
        const [name, token] = due.member.split('\0') as [string, string]
        return { due, token: Number(token), state: await inspect(fromText(name)) }
      }),
    )
    for (const { due, token, state } of found) {
      const { lease } = state
      if (lease?.token !== token) {
        // Nobody can take a lease with a token that was given out, or be that late.
        if (token <= state.token || due.score < now - GRACE_MS) wrong.push({ ...due, to: undefined })
      } else if (lease.expiresAt > state.now) wrong.push({ ...due, to: lease.expiresAt })
      else expired.push(lease)
    }
    seen += members.length
    // A lease ends no earlier than the directory says, so those that follow are younger than the last one seen.
    expired.sort((a, b) => a.expiresAt - b.expiresAt)
    const last = members.at(-1)
    if (members.length < PAGE || (expired.length >= limit && expired[limit - 1]!.expiresAt <= last!.score))
      break
  }
  if (wrong.length > 0) await directory.settle(keys.leases, wrong)
  return expired.slice(0, limit)
}
