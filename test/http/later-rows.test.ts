import { describe, expect, test } from 'vitest'
import { createHandler, json, type Route } from '../../src/core/http/index.ts'

const rows: readonly Route[] = [
  ['GET', '/v1/things/:id', ({ params }) => json(params)],
  ['POST', '/v1/things', () => json({})],
]

function later(load: () => Promise<readonly Route[]> = async () => rows) {
  let loads = 0
  const handler = createHandler({
    routes: [
      {
        below: ['/v1'],
        load() {
          loads++
          return load()
        },
      },
    ],
  })
  const ask = (method: string, path: string) =>
    handler.handle(new Request(`http://127.0.0.1${path}`, { method }))
  return { ...handler, ask, loads: () => loads }
}

describe('routes that are loaded later', () => {
  test('are loaded with the first requests to their path or below it', async () => {
    const { ask, loads } = later()
    for (const path of ['/', '/v2', '/v1x/things/1', '/x/v1/things/1'])
      expect(await ask('GET', path)).toBe(undefined)
    expect(loads()).toBe(0)
    const answers = await Promise.all(['1', '2'].map((id) => ask('GET', `/v1/things/${id}`)))
    expect(await Promise.all(answers.map((answer) => answer!.json()))).toEqual([{ id: '1' }, { id: '2' }])
    const first = loads()
    expect(await ask('GET', '/v1/')).toBe(undefined)
    expect(await ask('GET', '/v1')).toBe(undefined)
    expect([first > 0, loads()]).toEqual([true, first])
  })

  test('tell their methods with the first request', async () => {
    expect((await later().ask('DELETE', '/v1/things'))!.headers.get('allow')).toBe('POST, OPTIONS')
    const options = await later().ask('OPTIONS', '/v1/things/1')
    expect([options!.status, options!.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS'])
  })

  test('are listed, and the 404 of another path names where they begin', async () => {
    const { routes, mountPaths, fetch } = later()
    expect(await routes()).toEqual(rows)
    expect(mountPaths?.('/api')).toEqual(['/api/v1'])
    const missing = await fetch(new Request('http://127.0.0.1/other'))
    expect((await missing.json()).message).toBe('No route matches this path. agentwire serves /v1 here.')
  })

  test('are an error of the server if they cannot be loaded, and other paths are not', async () => {
    const { ask } = later(() => Promise.reject(new Error('no such file')))
    expect((await ask('GET', '/v1/things/1'))!.status).toBe(500)
    expect(await ask('GET', '/other')).toBe(undefined)
  })

  test('are refused by a handler that was closed while they were loaded', async () => {
    let loaded = (_: readonly Route[]): void => {}
    const { ask, close } = later(() => new Promise((resolve) => (loaded = resolve)))
    const answer = ask('GET', '/v1/things/1')
    await close()
    loaded(rows)
    expect((await answer)!.status).toBe(503)
  })
})
