import { type Account, Violation, violate } from './account.ts'
import type { Conversation } from './clients.ts'
import type { Cluster, Trace } from './cluster.ts'
import type { Process, World } from './world.ts'

/** A client that follows a thread, and comes back after its last event where the connection breaks. */
export interface Reader {
  readonly of: Conversation
  readonly name: string
  /** What it has received, as the text of each event. */
  readonly seen: string[]
  /** Whether it wants an event with this method. */
  readonly wants: (method: string) => boolean
  /** The last sequence number that it has. */
  after: number
  isGone: boolean
}

interface ReaderOptions {
  readonly world: World
  readonly cluster: Cluster
  readonly account: Account
  readonly trace: Trace
  readonly fail: (violation: unknown) => void
}

const ALL = ['values', 'updates', 'messages', 'tools', 'lifecycle', 'input', 'checkpoints', 'tasks', 'custom']

export function createReaders({ world, cluster, account, trace, fail }: ReaderOptions) {
  const readers: Reader[] = []
  let isHurried = false
  const leaving = new AbortController()
  let mayBeGone = false

  function follow(of: Conversation, client: Process): void {
    const { random } = client
    const channels = random.chance(0.5) ? ALL : random.pick([['lifecycle'], ['custom', 'input'], ['values']])
    const methods = channels.map((channel) => (channel === 'input' ? 'input.requested' : channel))
    const reader: Reader = {
      of,
      name: client.name,
      seen: [],
      wants: (method) => methods.includes(method),
      after: 0,
      isGone: false,
    }
    readers.push(reader)
    const slowMs = random.pick([2, 2, 2, 400])
    const { threadId, owner } = of

    async function read(): Promise<void> {
      while (!leaving.signal.aborted) {
        const alive = cluster.alive()
        if (alive.length === 0) {
          await world.sleep(50)
          continue
        }
        let rest = ''
        // Some connections are cut, and the client comes back.
        const cut = new AbortController()
        const cancelCut = random.chance(0.3)
          ? world.after(random.between(0, 5_000), client, () => cut.abort())
          : () => {}
        const status = await cluster.stream(
          random.pick(alive),
          client,
          {
            method: 'POST',
            path: `/threads/${threadId}/stream`,
            owner,
            body: { channels, since: reader.after },
          },
          (text) => {
            const frames = (rest + text).split('\n\n')
            rest = frames.pop()!
            for (const frame of frames) if (frame.includes('data: ')) take(reader, frame)
          },
          AbortSignal.any([leaving.signal, cut.signal]),
          () => random.between(0.1, isHurried ? 1 : slowMs),
        )
        cancelCut()
        if (status === 404) {
          reader.isGone = true
          return
        }
        if (status !== undefined && status !== 503) violate(`${client.name} is told ${status}`)
        await world.sleep(random.between(1, status === 503 ? 1_000 : 100))
      }
    }
    world.after(0, client, () => void read().catch(fail))
  }

  function take(reader: Reader, frame: string): void {
    if (reader.isGone) return
    const data = frame.slice(frame.indexOf('data: ') + 6)
    const event = JSON.parse(data) as { readonly type: string; readonly seq: number; readonly method: string }
    if (event.type === 'gap') {
      // The thread was deleted, and another has its id.
      if (account.thread(reader.of.threadId).deletedAt === undefined)
        fail(new Violation(`${reader.name} is told of a gap: ${data}`))
      reader.isGone = true
      return
    }
    if (event.seq <= reader.after) {
      trace(reader.name, data)
      fail(new Violation(`${reader.name} gets event ${event.seq} after ${reader.after}`))
      return
    }
    reader.after = event.seq
    reader.seen.push(data)
  }

  /** What a reader lacks, or has beyond the log. Undefined if it has exactly what it wants. */
  function differenceOf({ of, seen, wants, name, isGone }: Reader): string | undefined {
    const thread = account.thread(of.threadId)
    if (isGone || thread.deletedAt !== undefined) return undefined
    const due = thread.log.filter(({ method }) => wants(method)).map(({ text }) => text)
    const at = due.findIndex((text, i) => text !== seen[i])
    if (at >= 0)
      return `${name} has ${seen.length} of ${due.length} events, and ${seen[at]?.slice(0, 120)} for ${due[at]!.slice(0, 120)}`
    return seen.length > due.length ? `${name} has ${seen[due.length]}, which the log lacks` : undefined
  }

  return {
    follow,
    readers,
    differenceOf,
    /** What they have read, or what a server still has in memory for them, may not exist any more. Others come at the end. */
    excuse(): void {
      mayBeGone = true
      for (const reader of readers) reader.isGone = true
    },
    async renew(conversations: readonly Conversation[]): Promise<void> {
      if (!mayBeGone) return
      for (const reader of readers) reader.isGone = true
      // By then, servers have looked again.
      await world.sleep(3_000)
      for (const of of conversations) follow(of, world.process(`r${of.threadId}.z`))
    },
    /** From now on all of them read as fast as they can. */
    hurry(): void {
      isHurried = true
    },
    leave(): void {
      leaving.abort()
    },
  }
}
