import { get } from 'node:http'
import { pause } from '../../../../core/time.ts'
import { DeployError } from '../../deployer.ts'
import type { Ended } from '../../supervised.ts'
import { BACKEND_HOST } from '../proxy/backend.ts'

/** The timeout of one request to `/ok`, in milliseconds. */
const PROBE_MS = 5_000

/**
 * Resolves when the server responds to `GET /ok` with 200. Rejects with a `DeployError` if it ends before or
 * takes too long, and with the signal's reason.
 */
export async function untilReady(
  port: number,
  ended: Promise<Ended>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  const failed = new AbortController()
  const over = AbortSignal.any([signal, failed.signal])
  let status: number | undefined
  const timer = setTimeout(() => failed.abort(late(timeoutMs, port, status)), timeoutMs)
  void ended.then((how) =>
    failed.abort(new DeployError(`The server ended ${describe(how)} before it was ready.`)),
  )
  const begunAt = performance.now()
  try {
    while (!over.aborted) {
      status = await probe(port, over)
      if (status === 200 && !over.aborted) return
      // A twentieth of the time so far: a fast start is noticed fast, and a slow one is polled rarely.
      await pause(Math.min(200, Math.max(4, (performance.now() - begunAt) / 20)), over)
    }
    throw over.reason
  } finally {
    clearTimeout(timer)
  }
}

/** The status of `GET /ok`. Undefined without a response. */
function probe(port: number, signal: AbortSignal): Promise<number | undefined> {
  return new Promise((resolve) => {
    const sent = get({ host: BACKEND_HOST, port, path: '/ok', agent: false, timeout: PROBE_MS, signal })
    sent.once('response', (response) => {
      // Its body may never end.
      response.on('error', () => {})
      sent.destroy()
      resolve(response.statusCode)
    })
    sent.once('timeout', () => sent.destroy())
    sent.on('error', () => resolve(undefined))
  })
}

function late(timeoutMs: number, port: number, status: number | undefined): DeployError {
  const seen =
    status === undefined
      ? `nothing responds on port ${port}. The server must listen on the port in the PORT variable`
      : `GET /ok returns ${status} instead of 200`
  return new DeployError(`The server was not ready within ${timeoutMs / 1_000} seconds: ${seen}.`)
}

/** How a command ended, as the end of a sentence about it. */
export const describe = ({ code, signal }: Ended): string =>
  signal === null ? `with exit code ${code}` : `by ${signal}`
