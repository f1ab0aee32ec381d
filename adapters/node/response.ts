import { knownBody } from '../../src/core/http/respond.ts'
import { discardUpload } from './body.ts'
import type { Client } from './client.ts'
import type { NodeRequest, NodeResponse } from './types.ts'

type Report = (error: unknown) => void

const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'])
const HTTP2_INTERNAL_ERROR = 2

/** Sends the response at the client's pace. Resolves when it is written or the client has disconnected. */
export async function sendResponse(
  response: Response,
  req: NodeRequest,
  res: NodeResponse,
  client: Client,
  report: Report,
): Promise<void> {
  const known = knownBody(response)
  if (client.gone || req.method === 'HEAD' || response.body === null || known !== undefined) {
    if (known === undefined) response.body?.cancel().catch(report)
    if (client.gone) return
    const body = req.method === 'HEAD' ? undefined : known
    writeHead(response, req, res, known)
    end(req, res, client, body)
    return
  }
  const reader = response.body.getReader()
  let wake: (() => void) | undefined
  res.on('drain', () => wake?.())
  client.onGone((reason) => {
    reader.cancel(reason).catch(report)
    wake?.()
  })
  try {
    const first = reader.read()
    const late = await Promise.race([first.then(() => false), nextTurn()])
    if (client.gone) return
    writeHead(response, req, res, undefined)
    if (late) res.flushHeaders?.()
    for (let read = await first; !read.done && !client.gone; read = await reader.read()) {
      const room = res.write(read.value)
      res.flush?.()
      if (!room && !client.gone) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    }
  } catch (error) {
    // If the source itself failed, `cancel` rejects with the same error again.
    reader.cancel(error).catch((again) => again !== error && report(again))
    throw error
  }
  if (!client.gone) end(req, res, client)
}

/**
 * Closes the connection of a response that failed after its head, so that it does not look complete. Waits
 * one turn first, so that earlier writes are sent.
 */
export async function abortResponse(req: NodeRequest, res: NodeResponse): Promise<void> {
  await nextTurn()
  const { stream } = res as { readonly stream?: { close(code: number): void } }
  if (req.httpVersionMajor >= 2 && stream) stream.close(HTTP2_INTERNAL_ERROR)
  else res.destroy()
}

function end(req: NodeRequest, res: NodeResponse, client: Client, body?: string | Uint8Array): void {
  client.finish()
  discardUpload(req)
  if (body === undefined) res.end()
  else res.end(body)
}

function writeHead(
  response: Response,
  req: NodeRequest,
  res: NodeResponse,
  known: string | Uint8Array | undefined,
): void {
  // This is `Response.error()`, which HTTP/2 would send as 200.
  if (response.status === 0)
    throw new TypeError('The handler returned an error response, which has no status.')
  const http2 = req.httpVersionMajor >= 2
  const headers: Record<string, string | string[]> = {}
  for (const [name, value] of response.headers) {
    if (name !== 'set-cookie' && !(http2 && HOP_BY_HOP.has(name))) headers[name] = value
  }
  const cookies = [res.getHeader('set-cookie') ?? [], response.headers.getSetCookie()].flat().map(String)
  if (cookies.length > 0) headers['set-cookie'] = cookies
  // An earlier middleware may vary on something else, as `cors` does on the origin.
  const vary = [res.getHeader('vary') ?? [], headers.vary ?? []].flat()
  if (vary.length > 0) headers.vary = vary.join(', ')
  if (known !== undefined) headers['content-length'] ??= String(Buffer.byteLength(known))
  try {
    if (!http2 && response.statusText !== '') res.statusMessage = response.statusText
    res.writeHead(response.status, headers)
  } catch (error) {
    if (!http2) res.statusMessage = ''
    for (const name of Object.keys(headers)) res.removeHeader(name)
    throw error
  }
}

function nextTurn(): Promise<true> {
  return new Promise((resolve) => {
    setImmediate(resolve, true)
  })
}
