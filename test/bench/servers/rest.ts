import type { WebHandler } from '../../../src/index.ts'

/** The body that creates a run of the REST, on a thread that need not be there. */
export const runBody = (assistantId: string, say: string) => ({
  assistant_id: assistantId,
  input: { messages: [{ type: 'human', content: say }] },
  if_not_exists: 'create',
})

interface WaitRuns {
  readonly say: string
  readonly times: number
}

/** Waits for so many runs of the echo graph on new threads, without a socket. Gives the CPU time of each in microseconds. */
export const waitRuns =
  (handler: Pick<WebHandler, 'fetch'>) =>
  async ({ say, times }: WaitRuns): Promise<number> => {
    const before = process.cpuUsage()
    for (let i = 0; i < times; i++) {
      const response = await handler.fetch(
        new Request(`http://127.0.0.1/threads/${crypto.randomUUID()}/runs/wait`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(runBody('echoGraph', say)),
        }),
      )
      const text = await response.text()
      if (!text.includes('"type":"ai"')) throw new Error(text)
    }
    const { user, system } = process.cpuUsage(before)
    return (user + system) / times
  }
