type Answer = (request: Request) => Response | Promise<Response>

/** Answers requests to a host from here on in this process. */
export function intercept(host: string, answer: Answer): void {
  const { fetch } = globalThis
  globalThis.fetch = async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input)
    return url.host === host ? answer(new Request(input, init)) : fetch(input, init)
  }
}
