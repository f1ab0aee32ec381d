/**
 * The longest processor time of one turn of the event loop during some work, in milliseconds. A busy machine
 * makes a turn longer, but uses no more of this process's time.
 */
export async function longestTurn<T>(work: () => Promise<T>): Promise<{ result: T; longest: number }> {
  let longest = 0
  let isOver = false
  let before = usedMs()
  const look = () => {
    const now = usedMs()
    longest = Math.max(longest, now - before)
    before = now
    if (!isOver) setImmediate(look)
  }
  setImmediate(look)
  const result = await work()
  look()
  isOver = true
  return { result, longest }
}

function usedMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
