import { get } from 'node:http'
import { pause } from '../../../../time.ts'
import { DeployError } from '../../errors.ts'
import type { Ended } from '../../supervised.ts'
import { BACKEND_HOST } from '../proxy/backend.ts'

export interface ReadyOptions {
  readonly port: number
  /** Settles when the server has ended. */
  readonly ended: Promise<Ended>
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** How long one request for `/ok` may take, in milliseconds. */
const PROBE_MS = 5_000

/** Settles when the server answers `GET /ok` with 200. Rejects with a `DeployError` where it ends before, or takes too long, and with the reason of the signal. */
export async function untilReady({ port, ended, timeoutMs, signal }: ReadyOptions): Promise<void> {
  const over = new AbortController()
  const leave = () => over.abort(signal.reason)
  let status: number | undefined
  const timer = setTimeout(() => over.abort(late(timeoutMs, port, status)), timeoutMs)
  signal.addEventListener('abort', leave)
  if (signal.aborted) leave()
  void ended.then((how) =>
    over.abort(new DeployError(`The server ended ${describe(how)} before it was ready.`)),
  )
  const begunAt = performance.now()
  try {
    while (!over.signal.aborted) {
      status = await probe(port, over.signal)
      if (status === 200 && !over.signal.aborted) return
      await pause(delayAfter(performance.now() - begunAt), over.signal)
    }
    throw over.signal.reason
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', leave)
  }
}

/** A twentieth of the time that has gone: who starts fast is seen fast, and who takes long is asked seldom. */
const delayAfter = (elapsedMs: number): number => Math.min(200, Math.max(4, elapsedMs / 20))

/** The status of `GET /ok`. Undefined where nothing answers. */
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
      ? `nothing answers on port ${port}. It has to listen on the port that the variable PORT names`
      : `GET /ok answers ${status} instead of 200`
  return new DeployError(`The server was not ready within ${timeoutMs / 1_000} seconds: ${seen}.`)
}

/** How something ended, as the end of a sentence about it. */
export const describe = ({ code, signal }: Ended): string =>
  signal === null ? `with exit code ${code}` : `by ${signal}`
