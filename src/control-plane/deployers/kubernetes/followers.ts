interface Follower {
  readonly end: AbortController
  readonly ended: Promise<void>
}

/** What goes on in the background for each workload, at most once. */
export interface Followers {
  /** Begins, once what was begun before for the workload has ended. `work` must not reject. */
  follow(workload: string, work: (signal: AbortSignal) => Promise<void>): Promise<void>
  /** Ends all. */
  close(): Promise<void>
}

export function createFollowers(): Followers {
  const followers = new Map<string, Follower>()

  async function endOne(follower: Follower | undefined): Promise<void> {
    follower?.end.abort()
    await follower?.ended
  }

  return {
    async follow(workload, work) {
      await endOne(followers.get(workload))
      const end = new AbortController()
      const ended = work(end.signal).finally(() => {
        if (followers.get(workload)?.end === end) followers.delete(workload)
      })
      followers.set(workload, { end, ended })
    },
    async close() {
      await Promise.all([...followers.values()].map(endOne))
    },
  }
}
