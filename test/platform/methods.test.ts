import { describe, expect, test } from 'vitest'
import { createAgentServer, defineAgent } from '../../src/index.ts'

const server = createAgentServer({
  agents: { agent: defineAgent({ run: () => undefined }) },
  http: { cors: { origins: 'https://app.example.com' } },
})
const ask = (method: string, path: string, headers: Record<string, string> = {}) =>
  server.fetch(new Request(`http://127.0.0.1${path}`, { method, headers }))

const routes = await server.routes()

/** Each path, with a name for each parameter. */
const PATHS = [...new Set(routes.map(([, pattern]) => pattern))].map((pattern) => ({
  path: pattern.replaceAll(/:\w+/g, 'name'),
  methods: routes.filter(([, other]) => other === pattern).map(([method]) => method),
}))

describe.each(PATHS)('$path', ({ path, methods }) => {
  test('tells its methods, to pages of other origins as well', async () => {
    const plain = await ask('OPTIONS', path)
    expect(plain.status).toBe(204)
    expect(plain.headers.get('allow')?.split(', ')).toEqual(expect.arrayContaining(methods))
    for (const method of methods) {
      const preflight = await ask('OPTIONS', path, {
        origin: 'https://app.example.com',
        'access-control-request-method': method,
      })
      expect(preflight.headers.get('access-control-allow-methods')?.split(',')).toContain(method)
      expect(preflight.headers.get('access-control-allow-origin')).toBe('https://app.example.com')
    }
  })

  test('refuses another method with 405, and says which it takes', async () => {
    const answer = await ask('PURGE', path, { origin: 'https://app.example.com' })
    expect(answer.status).toBe(405)
    expect(answer.headers.get('allow')?.split(', ')).toEqual(expect.arrayContaining(methods))
    expect(await answer.json()).toMatchObject({ error: 'method_not_allowed' })
    expect(answer.headers.get('access-control-expose-headers')).toMatch(
      /content-location.*x-pagination-next,x-pagination-total/,
    )
  })
})

test('HEAD answers as GET does, without a body', async () => {
  for (const path of ['/ok', '/info', '/threads']) {
    const [head, get] = [await ask('HEAD', path), await ask('GET', path)]
    expect(head.status).toBe(get.status)
    expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'))
    expect(await head.text()).toBe('')
  }
})
