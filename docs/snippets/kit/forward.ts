import { intercept } from './intercept.ts'
import { origin } from './served.ts'

/** Sends the requests for the port of a page to the server that was started last, which has a free one. */
export async function forward(host: string): Promise<void> {
  const to = await origin()
  intercept(host, (request) => {
    const { pathname, search } = new URL(request.url)
    return fetch(new Request(`${to}${pathname}${search}`, request))
  })
}
