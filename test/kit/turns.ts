/**
 * The turns of the event loop during some work that a timer of a millisecond sees, and the longest processor time of one, in
 * milliseconds. A busy machine makes a turn longer, but uses no more of this process's time.
 */
export async function turnsDuring<T>(
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly turns: number; readonly longest: number }> {
  let turns = 0
  let longest = 0
  let before = usedMs()
  const look = () => {
    const now = usedMs()
    longest = Math.max(longest, now - before)
    before = now
    turns++
  }
  const timer = setInterval(look, 1)
  try {
    const result = await work()
    look()
    return { result, turns, longest }
  } finally {
    clearInterval(timer)
  }
}

function usedMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
